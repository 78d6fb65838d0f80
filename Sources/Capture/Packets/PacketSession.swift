package import Wire

/// Turns captured packets into the events of a session.
///
/// What is HTTP or WebSocket is told by its bytes, on any port; the bytes of other connections
/// become `data`. The app is who sent the SYN; in a connection that the capture meets on its
/// way, who sends requests or masked frames. Times count from the first packet and never fall:
/// a packet that is earlier than an event before it has its own time as `packetTime`.
package final class PacketSession {
    /// What a session of packets may hold.
    package struct Limits: Sendable {
        package var connection = ConnectionLimits()
        package var stream = TCPReassembler.Limits()
        /// Connections that are followed at a time; the oldest is let go for another.
        package var maximumConnections = 16 << 10
        /// Bytes of a connection that are held until it is known who is the app.
        package var maximumEarly = 64 << 10

        package init() {}
    }

    /// Closed connections that are remembered: more than end in the minutes in which a packet
    /// may come again.
    private static let maximumClosed = 1024

    /// What stands before the IP packet in a frame; an interface that returns may be another.
    package var link: LinkType
    /// Only connections with one of these ports; all if empty.
    let ports: Set<UInt16>
    let limits: Limits
    private var defragmenter = IPDefragmenter()
    private var flows: [PacketFlow: PacketConnection] = [:]
    /// Those of which packets came last, by their ports: most packets need no look into `flows`.
    private var recent = [PacketConnection?](repeating: nil, count: PacketFlow.places)
    /// The values of `flows`, oldest first, with some that are gone.
    private var order: [PacketConnection] = []
    /// Those that are closed, oldest first, of which repetitions may still come.
    private var closed: [PacketConnection] = []
    /// What most packets need, and no more.
    private var shortcut: PacketShortcut
    /// Connections met so far.
    package internal(set) var connections = 0
    /// Those of them that have not ended.
    package internal(set) var openConnections = 0
    /// Bytes of the TCP streams that each side sent.
    package var bytesApp: UInt64 { shortcut.bytesApp }
    package var bytesBoard: UInt64 { shortcut.bytesBoard }
    /// Packets whose IP or TCP header is cut or wrong.
    package private(set) var malformed = 0

    /// Makes a session of packets of one link type.
    ///
    /// `startedAt` is when the session began, in nanoseconds since 1970; nil for the time of the
    /// first packet.
    package init(
        link: LinkType, ports: Set<UInt16> = [], limits: Limits = Limits(), startedAt: Int64? = nil
    ) {
        self.link = link
        self.ports = ports
        self.limits = limits
        shortcut = PacketShortcut(startedAt: startedAt)
    }

    /// The time of the last event.
    var now: Int64 {
        get { shortcut.now }
        set { shortcut.now = newValue }
    }

    /// Connections that wait for a packet.
    var waiting: [PacketConnection] {
        _read { yield shortcut.waiting }
        _modify { yield &shortcut.waiting }
    }

    /// Takes packets of a file in until the batch is full; false at the end of the file.
    func receive(
        _ file: inout PacketFile, into batch: inout EventBatch
    ) throws(PacketFile.Fault) -> Bool {
        let (link, ports) = (link, ports)
        var quick = PacketShortcut()
        swap(&quick, &shortcut)
        defer { swap(&quick, &shortcut) }
        return try file.forEach { (bytes, record) -> Bool in
            if !quick.receive(bytes, record, link: link, ports: ports, into: &batch) {
                swap(&quick, &shortcut)
                receive(bytes, cut: record.cut, at: record.time, into: &batch)
                swap(&quick, &shortcut)
            }
            return !batch.isFull
        }
    }

    /// Takes a packet in.
    ///
    /// - Parameters:
    ///   - cut: bytes of it that were not captured.
    ///   - time: nanoseconds since 1970.
    package func receive(
        _ frame: Span<UInt8>, cut: Int, at time: Int64, into batch: inout EventBatch
    ) {
        let start = shortcut.startedAt ?? time
        shortcut.startedAt = start
        let difference = time.subtractingReportingOverflow(start)
        let time = difference.overflow ? 0 : difference.partialValue
        shortcut.latest = max(shortcut.latest, time)
        guard let offset = link.networkOffset(frame) else { return }
        guard let packet = IPPacket(frame, at: offset, cut: cut) else {
            malformed += 1
            return
        }
        if packet.fragment != nil {
            if let (whole, bytes) = defragmenter.receive(packet, frame, at: time) {
                receive(whole, bytes.span, at: time, into: &batch)
            }
        } else {
            receive(packet, frame, at: time, into: &batch)
        }
        if !waiting.isEmpty, time &- shortcut.swept > PacketShortcut.sweepInterval {
            shortcut.swept = time
            sweep(at: time, into: &batch)
        }
    }

    /// Lets time pass in which no packet came, so that nothing missing is waited for too long.
    ///
    /// `time` is in nanoseconds since 1970.
    package func advance(to time: Int64, into batch: inout EventBatch) {
        guard let startedAt = shortcut.startedAt, !waiting.isEmpty else { return }
        let difference = time.subtractingReportingOverflow(startedAt)
        guard !difference.overflow else { return }
        shortcut.swept = difference.partialValue
        sweep(at: difference.partialValue, into: &batch)
    }

    /// Gives up what is still waited for, and writes what is unfinished; no packets follow.
    ///
    /// Then it is told what could not be read, and the session ends.
    package func finish(into batch: inout EventBatch) {
        now = max(now, shortcut.latest)
        for connection in order where !connection.isClosed {
            letGo(connection, into: &batch)
        }
        recent = Array(repeating: nil, count: recent.count)
        flows = [:]
        shortcut.forgetAll()
        order = []
        closed = []
        let lost = defragmenter.lost + defragmenter.unfinished
        if lost > 0 {
            note("fragments_missing", "\(lost) fragmented IP packets lack a part", into: &batch)
        }
        if malformed > 0 {
            note(
                "malformed_packets", "\(malformed) packets have no whole IP or TCP header",
                into: &batch)
        }
        batch.append(
            Event(
                time: now,
                kind: .end(
                    Event.End(
                        events: batch.nextSeq - 1, bytesApp: bytesApp, bytesBoard: bytesBoard,
                        dropped: 0))))
    }

    /// Counts bytes that an end of a connection sent.
    func count(_ bytes: Int, isApp: Bool) {
        if isApp {
            shortcut.bytesApp += UInt64(bytes)
        } else {
            shortcut.bytesBoard += UInt64(bytes)
        }
    }

    func note(_ code: String, _ text: String, into batch: inout EventBatch) {
        batch.append(Event(time: now, kind: .note(Event.Note(code: code, text: text))))
    }

    // MARK: Packets

    private func receive(
        _ packet: IPPacket, _ bytes: Span<UInt8>, at time: Int64, into batch: inout EventBatch
    ) {
        guard packet.proto == 6 else { return }
        guard let tcp = TCPHeader(bytes, in: packet.payload, missing: packet.missing) else {
            malformed += 1
            return
        }
        guard
            ports.isEmpty || ports.contains(tcp.sourcePort) || ports.contains(tcp.destinationPort)
        else { return }
        let (flow, end) = PacketFlow.of(packet, tcp)
        let place = flow.place
        var known = recent[place]
        if known?.flow != flow { known = flows[flow] }
        if let known {
            let data = bytes.extracting(tcp.payload)
            if known.receiveNext(tcp, data, from: end) {
                if !data.isEmpty { deliver(data, of: known, from: end, at: time, into: &batch) }
                remember(known)
                return
            }
        }
        guard let connection = connection(known, flow, from: end, tcp, at: time, into: &batch)
        else { return }
        receive(tcp, bytes, of: connection, from: end, at: time, into: &batch)
        remember(connection)
    }

    /// Takes note of the connection whose packet came last.
    private func remember(_ connection: PacketConnection) {
        let place = connection.flow.place
        if connection !== recent[place] { recent[place] = connection }
        shortcut.remember(connection)
    }

    /// The connection of a packet: the one known, or a new one; nil for a packet of none.
    private func connection(
        _ known: PacketConnection?, _ flow: PacketFlow, from end: Int, _ tcp: TCPHeader,
        at time: Int64, into batch: inout EventBatch
    ) -> PacketConnection? {
        if !tcp.isSYN {
            if let known {
                guard !tcp.payload.isEmpty, known.isOther(tcp, from: end) else { return known }
                if !known.isClosed { letGo(known, into: &batch) }
            }
            // A reset or an acknowledgment alone tells nothing of a connection.
            guard !tcp.isRST, tcp.isFIN || !tcp.payload.isEmpty || tcp.missing > 0 else {
                return nil
            }
            return begin(
                PacketConnection(flow, isWhole: false, at: time, limits: limits.stream),
                into: &batch)
        }
        let first = tcp.sequence &+ 1
        if let known, known.isKnown(synFrom: end, first: first) {
            if known.isWhole {
                if !known[end].isStarted { known[end].start(at: first) }
                _ = known[end].restart(at: first)
                if tcp.isACK { known.wasAnswered = true }
            } else if known.app == nil {
                // It comes late, behind data.
                known.app = tcp.isACK ? 1 - end : end
                open(known, into: &batch)
            }
            return known
        }
        if tcp.isACK, let known, known.isWhole, !known.isClosed, !known[end].isStarted {
            known[end].start(at: first)
            known.wasAnswered = true
            return known
        }
        if let known, !known.isClosed {
            // The port is used again.
            letGo(known, into: &batch)
        }
        let connection = begin(
            PacketConnection(flow, isWhole: true, at: time, limits: limits.stream), into: &batch)
        connection[end].start(at: first)
        connection.app = tcp.isACK ? 1 - end : end
        if tcp.isACK {
            connection[1 - end].start(at: tcp.acknowledgment)
            connection.wasAnswered = true
        }
        open(connection, into: &batch)
        return connection
    }

    private func begin(
        _ connection: PacketConnection, into batch: inout EventBatch
    ) -> PacketConnection {
        flows[connection.flow] = connection
        order.append(connection)
        if order.count > limits.maximumConnections { forgetOldest(into: &batch) }
        return connection
    }

    private func forgetOldest(into batch: inout EventBatch) {
        order.removeAll(where: \.isClosed)
        // A sixteenth at once, so that each costs little.
        let room = limits.maximumConnections - max(1, limits.maximumConnections / 16)
        guard order.count > room else { return }
        let count = order.count - room
        for oldest in order.prefix(count) {
            forget(oldest)
            note(
                "connection_forgotten",
                "more than \(limits.maximumConnections) connections; the oldest is not followed on",
                into: &batch)
            letGo(oldest, into: &batch)
        }
        order.removeFirst(count)
    }

    /// Packets with the same ends are of another connection from here on.
    private func forget(_ connection: PacketConnection) {
        if flows[connection.flow] === connection { flows[connection.flow] = nil }
        let place = connection.flow.place
        if recent[place] === connection { recent[place] = nil }
        shortcut.forget(connection)
    }

    /// Lets go of a connection that has ended, some time after, for repetitions of its packets.
    func close(_ connection: PacketConnection) {
        shortcut.forget(connection)
        if connection.conn > 0, !connection.isClosed { openConnections -= 1 }
        connection.close()
        closed.append(connection)
        guard closed.count > 2 * Self.maximumClosed else { return }
        for old in closed.prefix(Self.maximumClosed) { forget(old) }
        closed.removeFirst(Self.maximumClosed)
        order.removeAll(where: \.isClosed)
    }
}

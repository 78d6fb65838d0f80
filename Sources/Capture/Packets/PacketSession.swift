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

    private let link: LinkType
    /// Only connections with one of these ports; all if empty.
    private let ports: Set<UInt16>
    let limits: Limits
    private var defragmenter = IPDefragmenter()
    private var flows: [PacketFlow: PacketConnection] = [:]
    private var last: PacketConnection?
    /// The keys of `flows`, oldest first, with some that are gone.
    private var order: [PacketFlow] = []
    private var waiting: [PacketConnection] = []
    private var swept: Int64 = 0
    private var connections = 0
    private var startedAt: Int64?
    private var now: Int64 = 0
    private var bytesApp: UInt64 = 0
    private var bytesBoard: UInt64 = 0
    /// Packets whose IP or TCP header is cut or wrong.
    package private(set) var malformed = 0

    /// Makes a session of packets of one link type.
    package init(link: LinkType, ports: Set<UInt16> = [], limits: Limits = Limits()) {
        self.link = link
        self.ports = ports
        self.limits = limits
    }

    /// Takes a packet in.
    ///
    /// - Parameters:
    ///   - cut: bytes of it that were not captured.
    ///   - time: nanoseconds since 1970.
    package func receive(
        _ frame: Span<UInt8>, cut: Int, at time: Int64, into batch: inout EventBatch
    ) {
        let start = startedAt ?? time
        startedAt = start
        let difference = time.subtractingReportingOverflow(start)
        let time = difference.overflow ? 0 : difference.partialValue
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
        if !waiting.isEmpty, time &- swept > 250_000_000 { sweep(at: time, into: &batch) }
    }

    /// Gives up what is still waited for, and writes what is unfinished; no packets follow.
    ///
    /// Then it is told what could not be read, and the session ends.
    package func finish(into batch: inout EventBatch) {
        let open = order.compactMap { flow in flows.removeValue(forKey: flow) }
        for connection in open where !connection.isClosed {
            letGo(connection, into: &batch)
        }
        last = nil
        waiting = []
        order = []
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

    private func note(_ code: String, _ text: String, into batch: inout EventBatch) {
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
        let source = PacketEndpoint(address: packet.source, port: tcp.sourcePort)
        let target = PacketEndpoint(address: packet.destination, port: tcp.destinationPort)
        let end = isOrdered(source, target) ? 0 : 1
        let flow =
            end == 0
            ? PacketFlow(lower: source, upper: target) : PacketFlow(lower: target, upper: source)
        let known = last?.flow == flow ? last : flows[flow]
        guard let connection = connection(known, flow, from: end, tcp, at: time, into: &batch)
        else { return }
        last = connection
        receive(tcp, bytes, of: connection, from: end, at: time, into: &batch)
    }

    private func isOrdered(_ a: PacketEndpoint, _ b: PacketEndpoint) -> Bool {
        if a.port != b.port { return a.port < b.port }
        return (a.address.high, a.address.low) <= (b.address.high, b.address.low)
    }

    /// The connection of a packet: the one known, or a new one; nil for a packet of none.
    private func connection(
        _ known: PacketConnection?, _ flow: PacketFlow, from end: Int, _ tcp: TCPHeader,
        at time: Int64, into batch: inout EventBatch
    ) -> PacketConnection? {
        if !tcp.isSYN {
            if let known { return known }
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
        if flows.updateValue(connection, forKey: connection.flow) == nil {
            order.append(connection.flow)
        }
        if flows.count > limits.maximumConnections { forgetOldest(into: &batch) }
        return connection
    }

    private func forgetOldest(into batch: inout EventBatch) {
        // A sixteenth at once, so that each costs little.
        let count = max(1, limits.maximumConnections / 16)
        for flow in order.prefix(count) {
            guard let oldest = flows.removeValue(forKey: flow), !oldest.isClosed else { continue }
            note(
                "connection_forgotten",
                "more than \(limits.maximumConnections) connections; the oldest is not followed on",
                into: &batch)
            letGo(oldest, into: &batch)
        }
        order.removeFirst(min(count, order.count))
    }

    private func receive(
        _ tcp: TCPHeader, _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int,
        at time: Int64, into batch: inout EventBatch
    ) {
        guard !connection.isClosed else {
            noteLate(tcp, of: connection, from: end, into: &batch)
            return
        }
        if tcp.isACK { connection[1 - end].acknowledge(tcp.acknowledgment) }
        if tcp.isRST {
            receiveReset(tcp, of: connection, from: end, at: time, into: &batch)
            return
        }
        if tcp.isSYN || tcp.isFIN || !tcp.payload.isEmpty || tcp.missing > 0 {
            let data = bytes.extracting(tcp.payload)
            let ready = connection[end].receive(
                sequence: tcp.isSYN ? tcp.sequence &+ 1 : tcp.sequence, data,
                missing: tcp.missing, isFIN: tcp.isFIN, at: time)
            if !ready.isEmpty {
                deliver(data.extracting(ready), of: connection, from: end, at: time, into: &batch)
            }
            drain(connection, end, at: time, into: &batch)
        }
        wait(connection, at: time, into: &batch)
        if let reset = connection.reset {
            connection.reset?.packetsBehind += 1
            if reset.packetsBehind > 64 || isComplete(connection, reset) {
                close(connection, into: &batch)
            }
        }
    }

    private func noteLate(
        _ tcp: TCPHeader, of connection: PacketConnection, from end: Int,
        into batch: inout EventBatch
    ) {
        guard !tcp.payload.isEmpty, !connection.saidLate,
            !connection[end].hasReached(tcp.sequence &+ UInt32(clamping: tcp.payload.count))
        else { return }
        connection.saidLate = true
        batch.append(
            Event(
                time: now, conn: connection.conn, from: connection.side(of: end),
                kind: .note(
                    Event.Note(
                        code: "after_close",
                        text: "data behind the end of the connection is left out"))))
    }

    // MARK: Directions

    /// Takes what became ready in a direction.
    private func drain(
        _ connection: PacketConnection, _ end: Int, at time: Int64, into batch: inout EventBatch
    ) {
        while let step = connection[end].next() {
            switch step {
            case .bytes(let bytes, let time):
                deliver(bytes.span, of: connection, from: end, at: time, into: &batch)
            case .missing(let count, let absence):
                let why = absence == .snapLength ? "snaplen" : "missing_packets"
                guard let decoder = connection.decoder else {
                    connection.early.append(
                        .init(end: end, bytes: [], time: time, missing: count, why: why))
                    continue
                }
                let (time, own) = stamp(time)
                decoder.gap(
                    connection.side(of: end), length: count, why: why, at: time, packetTime: own,
                    into: &batch)
            case .differing(let count):
                remark(
                    connection, end, code: "overlap_differs",
                    "\(count) bytes were sent again with other content; the first ones stand",
                    into: &batch)
            case .early(let count):
                guard !connection.saidEarly else { continue }
                connection.saidEarly = true
                remark(
                    connection, end, code: "early_bytes",
                    "\(count) bytes from before the place where the connection was met are left out",
                    into: &batch)
            case .end:
                finishDirection(connection, end, at: time, into: &batch)
            }
        }
    }

    private func remark(
        _ connection: PacketConnection, _ end: Int, code: String, _ text: String,
        into batch: inout EventBatch
    ) {
        guard let decoder = connection.decoder else { return }
        batch.append(
            Event(
                time: now, conn: decoder.conn, from: connection.side(of: end),
                kind: .note(Event.Note(code: code, text: text))))
    }

    private func finishDirection(
        _ connection: PacketConnection, _ end: Int, at time: Int64, into batch: inout EventBatch
    ) {
        guard let decoder = connection.decoder else {
            connection.early.append(.init(end: end, bytes: [], time: time, isEnd: true))
            if connection[0].isEnded, connection[1].isEnded {
                guess(connection, into: &batch)
            }
            return
        }
        let (time, own) = stamp(time)
        decoder.end(
            connection.side(of: end), how: .fin, at: time, packetTime: own, into: &batch)
        if connection[0].isEnded, connection[1].isEnded { connection.close() }
    }

    private func deliver(
        _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        guard let decoder = connection.decoder else {
            holdEarly(bytes, of: connection, from: end, at: time, into: &batch)
            return
        }
        let (time, own) = stamp(time)
        if end == connection.app {
            bytesApp += UInt64(bytes.count)
        } else {
            bytesBoard += UInt64(bytes.count)
        }
        decoder.receive(
            bytes, from: connection.side(of: end), at: time, packetTime: own, into: &batch)
    }

    /// The time for an event, and the packet's own where that is earlier.
    private func stamp(_ time: Int64) -> (Int64, own: Int64?) {
        guard time < now else {
            now = time
            return (time, nil)
        }
        return (now, time)
    }

    // MARK: Who is the app

    private func holdEarly(
        _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        let recognized = BoundarySearch.recognize(bytes)
        connection.early.append(.init(end: end, bytes: Bytes(copying: bytes), time: time))
        connection.earlyBytes += bytes.count
        if let recognized {
            connection.app = recognized.side == .app ? end : 1 - end
            open(connection, isUpgraded: recognized.found == .frame, into: &batch)
        } else if connection.earlyBytes > limits.maximumEarly || connection.early.count > 4096 {
            guess(connection, into: &batch)
        }
    }

    /// Takes the end with the lower port for the board, where nothing told who is who.
    private func guess(_ connection: PacketConnection, into batch: inout EventBatch) {
        connection.app = 1
        open(connection, into: &batch)
    }

    private func open(
        _ connection: PacketConnection, isUpgraded: Bool = false, into batch: inout EventBatch
    ) {
        guard connection.decoder == nil, let app = connection.app else { return }
        connections += 1
        connection.conn = connections
        let (time, own) = stamp(connection.firstTime)
        batch.append(
            Event(
                time: time, packetTime: own, conn: connections,
                kind: .open(
                    Event.Open(
                        app: connection.flow.endpoint(app).text,
                        board: connection.flow.endpoint(1 - app).text,
                        continued: connection.isWhole
                            ? nil : Event.Continued(upgraded: isUpgraded)))))
        connection.decoder =
            connection.isWhole
            ? ConnectionDecoder(conn: connections, limits: limits.connection)
            : ConnectionDecoder(joining: connections, limits: limits.connection)
        let early = connection.early
        connection.early = []
        for part in early {
            if part.isEnd {
                finishDirection(connection, part.end, at: part.time, into: &batch)
            } else if let missing = part.missing {
                let (time, own) = stamp(part.time)
                connection.decoder?.gap(
                    connection.side(of: part.end), length: missing, why: part.why, at: time,
                    packetTime: own, into: &batch)
            } else {
                deliver(
                    part.bytes.span, of: connection, from: part.end, at: part.time, into: &batch)
            }
        }
    }

    // MARK: Holes and ends

    /// Keeps a connection with a hole among those that are looked at as time goes on.
    private func wait(
        _ connection: PacketConnection, at time: Int64, into batch: inout EventBatch
    ) {
        guard connection[0].isWaiting || connection[1].isWaiting || connection.reset != nil else {
            return
        }
        tick(connection, at: time, into: &batch)
        if !connection.isWaiting {
            connection.isWaiting = true
            waiting.append(connection)
        }
    }

    private func tick(
        _ connection: PacketConnection, at time: Int64, into batch: inout EventBatch
    ) {
        for end in 0...1 where connection[end].isWaiting {
            connection[end].tick(at: time)
            drain(connection, end, at: time, into: &batch)
        }
    }

    private func sweep(at time: Int64, into batch: inout EventBatch) {
        swept = time
        let all = waiting
        waiting = []
        for connection in all {
            connection.isWaiting = false
            guard !connection.isClosed else { continue }
            if let reset = connection.reset, time &- reset.time > 1_000_000_000 {
                close(connection, into: &batch)
            } else {
                wait(connection, at: time, into: &batch)
            }
        }
    }

    private func receiveReset(
        _ tcp: TCPHeader, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        guard connection.reset == nil else { return }
        if !tcp.payload.isEmpty {
            // It explains the reset, to people (RFC 9293 §3.5.3).
            remark(
                connection, end, code: "reset_data",
                "the reset carries \(tcp.payload.count) bytes, which are no data of the connection",
                into: &batch)
        }
        let isAnswer = connection.isWhole && !connection[end].isStarted
        let reset = PacketConnection.Reset(
            end: end, time: time, sequence: isAnswer ? nil : tcp.sequence)
        connection.reset = reset
        if isComplete(connection, reset) {
            close(connection, into: &batch)
        } else {
            wait(connection, at: time, into: &batch)
        }
    }

    /// Whether nothing is missing that somebody is known to have sent before the reset.
    private func isComplete(
        _ connection: PacketConnection, _ reset: PacketConnection.Reset
    ) -> Bool {
        guard !connection[0].isBehind, !connection[1].isBehind else { return false }
        return reset.sequence.map { connection[reset.end].hasReached($0) } ?? true
    }

    /// Ends a connection by its reset.
    private func close(_ connection: PacketConnection, into batch: inout EventBatch) {
        guard let reset = connection.reset, !connection.isClosed else { return }
        if connection.decoder == nil { guess(connection, into: &batch) }
        for end in 0...1 {
            connection[end].giveUp()
            drain(connection, end, at: reset.time, into: &batch)
        }
        let (time, own) = stamp(reset.time)
        let isRefusal =
            connection.isWhole && !connection.wasAnswered && reset.end != connection.app
        connection.decoder?.end(
            connection.side(of: reset.end), how: isRefusal ? .refused : .reset, at: time,
            packetTime: own, into: &batch)
        connection.close()
    }

    /// Writes what a connection has, whose further packets will not be seen or not be its own.
    private func letGo(_ connection: PacketConnection, into batch: inout EventBatch) {
        if connection.reset != nil {
            close(connection, into: &batch)
            return
        }
        if connection.decoder == nil { guess(connection, into: &batch) }
        for end in 0...1 {
            connection[end].giveUp()
            drain(connection, end, at: now, into: &batch)
        }
        connection.decoder?.flush(at: now, into: &batch)
        connection.close()
    }
}

import Wire

/// Turns the events of a session into packets of a pcap file, as if somebody had listened
/// between two hosts that lose nothing.
///
/// The file has nanosecond stamps and link type RAW, so that no link addresses have to be
/// invented. Connections that a file joins in the middle have no handshake; those that are open
/// at the end stay open. The first bytes of an event are stamped with its `t_first`, which may
/// stand behind later stamps of other connections.
package struct PcapWriter: Sendable {
    /// LINKTYPE_RAW of the registry of link types: an IPv4 or IPv6 packet, nothing before it.
    package static let linkType: UInt32 = 101

    private struct Connection {
        var segmenter: TCPSegmenter
        var encoder = ConnectionEncoder()
    }

    private var connections: [Int: Connection] = [:]
    private let epoch: Int64
    /// What the file cannot hold.
    package private(set) var losses = Losses()

    /// What a pcap file cannot hold of a session; each is one warning.
    package struct Losses: Sendable, Equatable {
        package var notes = 0
        /// Gaps of unknown length: what follows seems to join what was before.
        package var unknownGaps = 0
        /// Ends by time-out or error, which are shown as resets.
        package var otherEndings = 0
        /// Connections whose addresses are no IP addresses, shown with those for documentation.
        package var unknownAddresses = 0
        /// `data` events of more than a packet holds, which are read back as several.
        package var cutData = 0
        /// Events that contradict those before them and have no bytes.
        package var contradictions = 0

        /// A sentence for each loss, for people.
        package var warnings: [String] {
            var warnings: [String] = []
            if notes > 0 { warnings.append("\(notes) notes are left out") }
            if unknownGaps > 0 {
                warnings.append("\(unknownGaps) gaps of unknown length are left out")
            }
            if otherEndings > 0 {
                warnings.append("\(otherEndings) time-outs and errors are shown as resets")
            }
            if unknownAddresses > 0 {
                warnings.append(
                    "\(unknownAddresses) connections have no IP addresses; invented ones are shown")
            }
            if cutData > 0 {
                warnings.append("\(cutData) events of undecoded data are cut into several packets")
            }
            if contradictions > 0 {
                warnings.append(
                    "\(contradictions) events contradict those before them and are left out")
            }
            return warnings
        }
    }

    /// Makes a writer for a session that began at `startedAt`, in nanoseconds since 1970.
    package init(startedAt: Int64) {
        epoch = startedAt
    }

    /// The file's first 24 bytes: magic for nanoseconds, version 2.4, link type.
    package static var fileHeader: [UInt8] {
        var header: [UInt8] = []
        append(0xa1b2_3c4d, to: &header)
        header += [2, 0, 4, 0]
        append(0, to: &header)
        append(0, to: &header)
        append(262_144, to: &header)
        append(linkType, to: &header)
        return header
    }

    /// Appends the packets that an event stands for, each with its record header.
    ///
    /// `number` is the event's number in the session, to which pieces refer.
    package mutating func append(_ event: Event, number: Int, into file: inout [UInt8]) {
        let epoch = epoch
        func emit(_ packet: Bytes, _ time: Int64) {
            Self.append(packet, at: epoch.addingReportingOverflow(time), to: &file)
        }
        switch event.kind {
        case .session, .end, .message:
            trackMessage(event, number: number)
        case .note:
            losses.notes += 1
        case .open(let open):
            begin(open, event, emit)
        case .close(let close):
            end(close, event, emit)
        case .request, .response, .frame, .piece, .data, .gap:
            send(event, number: number, emit)
        }
    }

    /// Appends what is still owed: the answer to a SYN that nothing followed.
    package mutating func finish(into file: inout [UInt8]) {
        let epoch = epoch
        for conn in connections.keys.sorted() {
            connections[conn]?.segmenter.establish { packet, time in
                Self.append(packet, at: epoch.addingReportingOverflow(time), to: &file)
            }
        }
    }

    private mutating func begin(_ open: Event.Open, _ event: Event, _ emit: TCPSegmenter.Emit) {
        guard connections[event.conn] == nil else { return }
        var app = IPEndpoint(parsing: open.app)
        var board = IPEndpoint(parsing: open.board)
        if app == nil || board == nil {
            losses.unknownAddresses += 1
            // RFC 5737: addresses for documentation.
            let port = UInt16(truncatingIfNeeded: 1024 + event.conn % 60_000)
            app = app ?? IPEndpoint(address: [192, 0, 2, 1], port: port)
            board = board ?? IPEndpoint(address: [192, 0, 2, 2], port: 8080)
        }
        guard let app, let board else { return }
        // Spread over the whole space, and the same for the same session.
        let conn = UInt32(truncatingIfNeeded: event.conn)
        var segmenter = TCPSegmenter(
            opener: app, other: board, openerSequence: conn &* 0x9e37_79b1,
            otherSequence: conn &* 0x85eb_ca77, isUnderWay: open.continued != nil)
        segmenter.open(at: event.time, emit)
        connections[event.conn] = Connection(segmenter: segmenter)
    }

    private mutating func end(_ close: Event.Close, _ event: Event, _ emit: TCPSegmenter.Emit) {
        guard var connection = connections[event.conn] else { return }
        let fromOpener = event.from != .board
        switch close.how {
        case .fin:
            connection.segmenter.finish(fromOpener: fromOpener, at: event.time, emit)
        case .refused:
            connection.segmenter.refuse(at: event.time, emit)
        case .reset:
            connection.segmenter.reset(fromOpener: fromOpener, at: event.time, emit)
        case .timeout, .error:
            losses.otherEndings += 1
            connection.segmenter.reset(fromOpener: fromOpener, at: event.time, emit)
        }
        connections[event.conn] = connection.segmenter.isOver ? nil : connection
    }

    private mutating func trackMessage(_ event: Event, number: Int) {
        guard case .message(let message) = event.kind, message.content == .pieces else { return }
        var event = event
        event.seq = number
        var nothing: [UInt8] = []
        _ = connections[event.conn]?.encoder.encode(event, into: &nothing)
    }

    private mutating func send(_ event: Event, number: Int, _ emit: TCPSegmenter.Emit) {
        guard var connection = connections.removeValue(forKey: event.conn) else {
            losses.contradictions += 1
            return
        }
        defer { connections[event.conn] = connection }
        let fromOpener = event.from != .board
        var event = event
        event.seq = number
        var bytes: [UInt8] = []
        switch connection.encoder.encode(event, into: &bytes) {
        case .nothing:
            break
        case .bytes:
            let time = event.packetTime ?? event.time
            // Other content is found again by its own lengths; `data` has none.
            var isTogether = false
            if case .data = event.kind { isTogether = true }
            if isTogether, bytes.count > TCPSegmenter.maximumTogether { losses.cutData += 1 }
            connection.segmenter.send(
                bytes, fromOpener: fromOpener, firstTime: event.firstTime ?? time, time: time,
                isTogether: isTogether, emit)
        case .missing(let length):
            if let length {
                connection.segmenter.skip(length, fromOpener: fromOpener, emit)
            } else {
                losses.unknownGaps += 1
            }
        case .contradiction:
            losses.contradictions += 1
        }
    }

    // MARK: Records

    private static func append(
        _ packet: [UInt8], at time: (partialValue: Int64, overflow: Bool), to file: inout [UInt8]
    ) {
        let nanoseconds = time.overflow ? 0 : max(0, time.partialValue)
        append(UInt32(clamping: nanoseconds / 1_000_000_000), to: &file)
        append(UInt32(clamping: nanoseconds % 1_000_000_000), to: &file)
        append(UInt32(clamping: packet.count), to: &file)
        append(UInt32(clamping: packet.count), to: &file)
        file += packet
    }

    private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

import Wire

/// The short way of packets that come in good order, which most packets do: whole TCP segments of
/// connections that are known, whose data continues what was given out.
///
/// What of a session such packets touch is in this one value. It is taken out of the session for
/// many packets: so exclusive access is looked after once for all of them.
struct PacketShortcut {
    /// A connection that is decoded; all of it stays until its end.
    private struct Entry {
        let flow: PacketFlow
        let connection: PacketConnection
        let decoder: ConnectionDecoder
        let app: Int
    }

    /// Nanoseconds since 1970, once that is known.
    var startedAt: Int64?
    /// The time of the last event, and of the last packet, since then.
    var now: Int64 = 0
    var latest: Int64 = 0
    /// Bytes of the TCP streams that each side sent.
    var bytesApp: UInt64 = 0
    var bytesBoard: UInt64 = 0
    /// Connections that wait for a packet, and when they were looked at last.
    var waiting: [PacketConnection] = []
    var swept: Int64 = 0
    private var entries: [Entry?] = []

    /// What a session without packets has.
    init(startedAt: Int64? = nil) {
        self.startedAt = startedAt
    }

    /// The nanoseconds of the capture after which those that wait are looked at again.
    static let sweepInterval: Int64 = 250_000_000

    /// Takes in a packet that needs nothing else; false, and nothing was done, for any other.
    @inline(__always)
    mutating func receive(
        _ frame: Span<UInt8>, _ record: PacketFile.Record, link: LinkType, ports: Set<UInt16>,
        into batch: inout EventBatch
    ) -> Bool {
        guard let startedAt, record.cut == 0, !entries.isEmpty else { return false }
        let (time, isOverflow) = record.time.subtractingReportingOverflow(startedAt)
        guard !isOverflow, waiting.isEmpty || time &- swept <= Self.sweepInterval,
            let offset = link.networkOffset(frame),
            let packet = IPPacket(frame, at: offset, cut: 0), packet.fragment == nil,
            packet.proto == 6,
            let tcp = TCPHeader(frame, in: packet.payload, missing: packet.missing), tcp.isPlain,
            ports.isEmpty || ports.contains(tcp.sourcePort) || ports.contains(tcp.destinationPort)
        else { return false }
        let (flow, end) = PacketFlow.of(packet, tcp)
        guard let entry = entries[flow.place], entry.flow == flow else { return false }
        let data = frame.extracting(tcp.payload)
        guard entry.connection.receiveNext(tcp, data, from: end) else { return false }
        latest = max(latest, time)
        guard !data.isEmpty else { return true }
        let eventTime = max(time, now)
        now = eventTime
        let isApp = end == entry.app
        if isApp { bytesApp += UInt64(data.count) } else { bytesBoard += UInt64(data.count) }
        entry.decoder.receive(
            data, from: isApp ? .app : .board, at: eventTime,
            packetTime: time < eventTime ? time : nil, into: &batch)
        return true
    }

    /// Takes note of the connection whose packet came last.
    mutating func remember(_ connection: PacketConnection) {
        guard let decoder = connection.decoder, let app = connection.app else { return }
        if entries.isEmpty { entries = Array(repeating: nil, count: PacketFlow.places) }
        let place = connection.flow.place
        guard entries[place]?.connection !== connection else { return }
        entries[place] = Entry(
            flow: connection.flow, connection: connection, decoder: decoder, app: app)
    }

    /// Forgets a connection.
    mutating func forget(_ connection: PacketConnection) {
        let place = connection.flow.place
        guard place < entries.count, entries[place]?.connection === connection else { return }
        entries[place] = nil
    }

    /// Forgets all connections.
    mutating func forgetAll() {
        entries = []
        waiting = []
    }
}

import Wire

/// Which connection a packet belongs to: its ends, in an order that is the same both ways.
struct PacketFlow: Hashable {
    let lower: PacketEndpoint
    let upper: PacketEndpoint

    func endpoint(_ end: Int) -> PacketEndpoint { end == 0 ? lower : upper }

    /// How many values `place` has.
    static let places = 256

    /// A number below `places` for tables in which the last one of a place stands.
    var place: Int {
        let ports = UInt64(lower.port ^ upper.port)
        return Int((lower.address.low ^ upper.address.low ^ ports) & UInt64(Self.places - 1))
    }

    /// The flow of a packet, and which of its ends sent it.
    @inline(__always)
    static func of(_ packet: IPPacket, _ tcp: TCPHeader) -> (PacketFlow, end: Int) {
        let source = PacketEndpoint(address: packet.source, port: tcp.sourcePort)
        let target = PacketEndpoint(address: packet.destination, port: tcp.destinationPort)
        return isOrdered(source, target)
            ? (PacketFlow(lower: source, upper: target), 0)
            : (PacketFlow(lower: target, upper: source), 1)
    }

    private static func isOrdered(_ a: PacketEndpoint, _ b: PacketEndpoint) -> Bool {
        if a.port != b.port { return a.port < b.port }
        return (a.address.high, a.address.low) <= (b.address.high, b.address.low)
    }

    /// Field by field: every packet asks for it.
    static func == (left: PacketFlow, right: PacketFlow) -> Bool {
        isSame(left.lower, right.lower) && isSame(left.upper, right.upper)
    }

    private static func isSame(_ left: PacketEndpoint, _ right: PacketEndpoint) -> Bool {
        left.port == right.port && left.address.low == right.address.low
            && left.address.high == right.address.high
            && left.address.isIPv6 == right.address.isIPv6
    }
}

/// One TCP connection of a capture: both directions put in order, and their decoder.
///
///     unknown ──SYN, or bytes that tell the app──> open ──both FIN, or RST──> closed
///
/// Ends are numbered as `PacketFlow` has them. What a direction sent is given out behind what
/// its segment acknowledges of the other, so that an answer never stands before its question
/// because their packets were swapped on the way into the file.
final class PacketConnection {
    /// A packet's data that came before it was known who is the app.
    struct Early {
        var end: Int
        var bytes: Bytes
        var time: Int64
        var missing: UInt64?
        var why = ""
        var isEnd = false
    }

    /// What is in order in its direction, and acknowledges bytes of the peer that are not.
    struct Ready {
        var step: TCPReassembler.Step
        /// The sequence number of its first byte.
        var start: UInt32
        var acknowledgment: UInt32?
        var time: Int64
    }

    /// A reset for which data before it is waited for.
    struct Reset {
        var end: Int
        var time: Int64
        /// What the end had sent when it reset; nil for a refusal, which does not say.
        var sequence: UInt32?
        var packetsBehind = 0
    }

    let flow: PacketFlow
    let firstTime: Int64
    /// The one that opened it, once that is known.
    var app: Int?
    var decoder: ConnectionDecoder?
    /// Its number in the session, once it is open.
    var conn = 0
    /// Whether its SYN or the answer to it was seen.
    let isWhole: Bool
    var wasAnswered = false
    var early: [Early] = []
    var earlyBytes = 0
    var reset: Reset? { didSet { order.isReset = reset != nil } }
    var saidEarly = false
    var saidLate = false
    /// Whether the session has it among those that wait for a packet.
    var isWaiting = false

    /// What every packet asks, in one value: exclusive access to it is looked after once a packet.
    private struct Order: ~Copyable {
        var first: TCPReassembler
        var second: TCPReassembler
        var isClosed = false
        var isReset = false
        var hasReady = false
        var isAnyOutOfStep = false

        /// See `PacketConnection.receiveNext`.
        @inline(__always)
        mutating func receiveNext(_ tcp: TCPHeader, _ data: Span<UInt8>, from end: Int) -> Bool {
            guard tcp.isPlain, tcp.missing == 0, !isClosed, !hasReady, !isAnyOutOfStep, !isReset
            else { return false }
            let sequence = tcp.sequence
            if end == 0 {
                return second.isSettled(before: tcp.acknowledgment)
                    && (data.isEmpty || first.receiveNext(sequence: sequence, data))
            }
            return first.isSettled(before: tcp.acknowledgment)
                && (data.isEmpty || second.receiveNext(sequence: sequence, data))
        }
    }

    private var order: Order
    private(set) var isClosed: Bool {
        get { order.isClosed }
        set { order.isClosed = newValue }
    }
    private var ready: [[Ready]] = [[], []]
    private var readyBytes = 0
    /// Whether something in order waits for the peer.
    private(set) var hasReady: Bool {
        get { order.hasReady }
        set { order.hasReady = newValue }
    }
    /// Ends whose acknowledgments are not waited for, since that was in vain.
    private var isOutOfStep = [false, false]
    private var isAnyOutOfStep: Bool {
        get { order.isAnyOutOfStep }
        set { order.isAnyOutOfStep = newValue }
    }
    private var hasEnded = [false, false]
    /// Segments that speak for either end as the app.
    private var frameSigns = [0, 0]
    private var packetsBehindReady = 0

    init(_ flow: PacketFlow, isWhole: Bool, at time: Int64, limits: TCPReassembler.Limits) {
        self.flow = flow
        self.isWhole = isWhole
        firstTime = time
        order = Order(
            first: TCPReassembler(limits: limits), second: TCPReassembler(limits: limits))
    }

    /// The reassembler of what an end sends.
    subscript(end: Int) -> TCPReassembler {
        _read { if end == 0 { yield order.first } else { yield order.second } }
        _modify { if end == 0 { yield &order.first } else { yield &order.second } }
    }

    /// Lets go of what only an open connection needs; repetitions of its packets may still come.
    func close() {
        isClosed = true
        decoder = nil
        early = []
        ready = [[], []]
        readyBytes = 0
        hasReady = false
        order.first.release()
        order.second.release()
    }

    /// Takes note of a segment that may be frames, by which `end` would be the app; whether there
    /// were as many as make chance unlikely.
    func hasFramesEnough(from end: Int) -> Bool {
        frameSigns[end] += 1
        return frameSigns[end] >= 3
    }

    func side(of end: Int) -> Side { end == app ? .app : .board }

    /// Takes note that the FIN of an end was given out; whether that was the last one.
    func finish(_ end: Int) -> Bool {
        hasEnded[end] = true
        return hasEnded[1 - end]
    }

    /// Whether a SYN with this first sequence number repeats, or comes late for, what is known.
    func isKnown(synFrom end: Int, first sequence: UInt32) -> Bool {
        guard self[end].isStarted else { return !isWhole && !isClosed }
        let ahead = Int32(bitPattern: self[end].firstSequence &- sequence)
        if ahead == 0 { return true }
        // The first one may have been taken from data, or from an acknowledgment of the peer's.
        return !isClosed && (1...(1 << 20)).contains(ahead)
    }

    /// Whether a packet with data is of a later connection with the same ports, whose SYN the
    /// capture lacks.
    func isOther(_ tcp: TCPHeader, from end: Int) -> Bool {
        if isClosed, let reset, reset.end == end, let sequence = reset.sequence,
            (0..<(1 << 24)).contains(Int32(bitPattern: tcp.sequence &- sequence))
        {
            // Who has reset sends no more: the reset was none of the connection's.
            return true
        }
        guard !self[end].isNear(tcp.sequence) else { return false }
        let peer = 1 - end
        return isClosed || !tcp.isACK || !self[peer].isStarted
            || !self[peer].isNear(tcp.acknowledgment)
    }

    /// Takes a segment of a connection in good order: its data continues what its end sent, and
    /// it acknowledges only what was given out; false, and nothing was done, for any other.
    ///
    /// Most segments are such, and for them nothing else has to be asked.
    func receiveNext(_ tcp: TCPHeader, _ data: Span<UInt8>, from end: Int) -> Bool {
        order.receiveNext(tcp, data, from: end)
    }

    // MARK: One side behind the other

    /// Whether what an end sent can be given out at once: what it acknowledges was.
    func isInStep(_ end: Int, _ acknowledgment: UInt32?) -> Bool {
        if hasReady, !ready[end].isEmpty { return false }
        let isReached = hasGivenOut(acknowledgment, of: 1 - end)
        guard isAnyOutOfStep, isOutOfStep[end] else { return isReached }
        if isReached {
            isOutOfStep[end] = false
            isAnyOutOfStep = isOutOfStep[1 - end]
        }
        return true
    }

    private func hasGivenOut(_ acknowledgment: UInt32?, of end: Int) -> Bool {
        guard let acknowledgment,
            let place = (hasReady ? ready[end].first?.start : nil) ?? self[end].nextSequence
        else { return true }
        let ahead = Int32(bitPattern: acknowledgment &- place)
        // A FIN counts as one. More than the largest window is not believed.
        return ahead <= 0 || ahead > 1 << 30 || (ahead == 1 && hasEnded[end])
    }

    func append(_ item: Ready, from end: Int) {
        if !hasReady { packetsBehindReady = 0 }
        if case .bytes(let bytes, _, _) = item.step { readyBytes += bytes.count }
        ready[end].append(item)
        hasReady = true
    }

    /// What can be given out now; nil for nothing.
    func takeReady() -> (Ready, end: Int)? {
        for end in 0...1 {
            if let item = ready[end].first, hasGivenOut(item.acknowledgment, of: 1 - end) {
                return (take(end), end)
            }
        }
        return nil
    }

    /// What came first of what waits, though what it acknowledges is not there.
    func forceReady() -> (Ready, end: Int)? {
        guard
            let end = [0, 1].filter({ !ready[$0].isEmpty }).min(by: {
                ready[$0][0].time < ready[$1][0].time
            })
        else { return nil }
        isOutOfStep[end] = true
        isAnyOutOfStep = true
        return (take(end), end)
    }

    private func take(_ end: Int) -> Ready {
        let item = ready[end].removeFirst()
        hasReady = !ready[0].isEmpty || !ready[1].isEmpty
        if case .bytes(let bytes, _, _) = item.step { readyBytes -= bytes.count }
        return item
    }

    /// Takes note of a packet while something waits for the peer.
    func countPacketBehindReady() {
        packetsBehindReady += 1
    }

    /// Whether what waits for the peer has done so for long enough: twice as long as a hole,
    /// which may be what it waits for.
    func isReadyOverdue(at time: Int64, _ limits: TCPReassembler.Limits) -> Bool {
        guard let since = ready.compactMap(\.first?.time).min() else { return false }
        return packetsBehindReady > 2 * limits.packetsBehindAcknowledged
            || time.subtractingReportingOverflow(since).partialValue
                > 2 * limits.timeBehindAcknowledged
            || readyBytes > limits.maximumBytes
            || ready[0].count + ready[1].count > limits.maximumSegments
    }
}

import Wire

/// Which connection a packet belongs to: its ends, in an order that is the same both ways.
struct PacketFlow: Hashable {
    let lower: PacketEndpoint
    let upper: PacketEndpoint

    func endpoint(_ end: Int) -> PacketEndpoint { end == 0 ? lower : upper }
}

/// One TCP connection of a capture: both directions put in order, and their decoder.
///
///     unknown ──SYN, or bytes that tell the app──> open ──both FIN, or RST──> closed
///
/// Ends are numbered as `PacketFlow` has them.
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
    private(set) var isClosed = false
    /// Whether its SYN or the answer to it was seen.
    let isWhole: Bool
    var wasAnswered = false
    var early: [Early] = []
    var earlyBytes = 0
    var reset: Reset?
    var saidEarly = false
    var saidLate = false
    /// Whether the session has it among those that wait for a packet.
    var isWaiting = false

    private var first: TCPReassembler
    private var second: TCPReassembler

    init(_ flow: PacketFlow, isWhole: Bool, at time: Int64, limits: TCPReassembler.Limits) {
        self.flow = flow
        self.isWhole = isWhole
        firstTime = time
        first = TCPReassembler(limits: limits)
        second = TCPReassembler(limits: limits)
    }

    /// The reassembler of what an end sends.
    subscript(end: Int) -> TCPReassembler {
        _read { if end == 0 { yield first } else { yield second } }
        _modify { if end == 0 { yield &first } else { yield &second } }
    }

    /// Lets go of what only an open connection needs; repetitions of its packets may still come.
    func close() {
        isClosed = true
        decoder = nil
        early = []
        first.release()
        second.release()
    }

    func side(of end: Int) -> Side { end == app ? .app : .board }

    /// Whether a SYN with this first sequence number repeats, or comes late for, what is known.
    func isKnown(synFrom end: Int, first sequence: UInt32) -> Bool {
        guard self[end].isStarted else { return !isWhole && !isClosed }
        let ahead = Int32(bitPattern: self[end].firstSequence &- sequence)
        if ahead == 0 { return true }
        return !isWhole && !isClosed && (1...(1 << 20)).contains(ahead)
    }
}

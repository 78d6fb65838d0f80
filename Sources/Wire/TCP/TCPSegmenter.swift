/// Makes the packets of one whole TCP connection from what its ends sent.
///
/// Either end is `opener`, who sends the SYN, or the other. The packets are what two hosts
/// without loss would have exchanged: everything is acknowledged, a segment carries at most
/// what fits an Ethernet frame, and sequence numbers wrap.
///
///     idle ──open──> opening ──(anything else)──> open ──(both FIN, or RST)──> over
///                       └──refuse──> over
package struct TCPSegmenter: Sendable {
    /// Takes a packet and its time.
    package typealias Emit = (_ packet: Bytes, _ time: Int64) -> Void

    private enum State {
        case idle
        /// The SYN is out; what answers it depends on what comes next.
        case opening(Int64)
        case open
        case over
    }

    private struct End {
        let endpoint: IPEndpoint
        /// The sequence number of its next byte.
        var next: UInt32
        var hasEnded = false
    }

    /// Scaled by 128 it is over 8 MiB, more than one event has bytes, so that no reader takes
    /// the window for full.
    private static let window: UInt16 = 65535
    private static let windowShift: UInt8 = 7

    private var opener: End
    private var other: End
    private var state: State
    private var identification: UInt16 = 0
    private let maximumSegment: Int

    /// Makes a connection.
    ///
    /// - Parameters:
    ///   - isUnderWay: its opening is not to be shown.
    ///   - openerSequence, otherSequence: each end's first sequence number.
    package init(
        opener: IPEndpoint, other: IPEndpoint, openerSequence: UInt32, otherSequence: UInt32,
        isUnderWay: Bool = false
    ) {
        let isIPv6 = opener.isIPv6 || other.isIPv6
        self.opener = End(
            endpoint: isIPv6 ? opener.mapped : opener, next: openerSequence)
        self.other = End(endpoint: isIPv6 ? other.mapped : other, next: otherSequence)
        state = isUnderWay ? .open : .idle
        // An Ethernet frame's 1500 bytes without the two headers.
        maximumSegment = isIPv6 ? 1440 : 1460
    }

    package var isOver: Bool {
        if case .over = state { return true }
        return false
    }

    /// Sends the SYN.
    package mutating func open(at time: Int64, _ emit: Emit) {
        guard case .idle = state else { return }
        send([.syn], fromOpener: true, options: synOptions, at: time, emit)
        opener.next &+= 1
        state = .opening(time)
    }

    /// Answers the SYN with a reset.
    package mutating func refuse(at time: Int64, _ emit: Emit) {
        guard case .opening = state else { return reset(fromOpener: false, at: time, emit) }
        send([.rst, .ack], fromOpener: false, at: time, emit)
        state = .over
    }

    /// Ends the handshake, if that is still to be done.
    package mutating func establish(_ emit: Emit) {
        guard case .opening(let time) = state else { return }
        send([.syn, .ack], fromOpener: false, options: synOptions, at: time, emit)
        other.next &+= 1
        send([.ack], fromOpener: true, at: time, emit)
        state = .open
    }

    /// The most that one segment carries: an IP packet of 64 KiB, as captures of a host that lets
    /// its network card cut have them.
    package static let maximumTogether = 65_495

    /// Sends bytes and has them acknowledged; the first of them at `firstTime`.
    ///
    /// - Parameter isTogether: in as few segments as can be, up to `maximumTogether` bytes each,
    ///   where what a reader makes of them depends on how they are cut.
    package mutating func send(
        _ bytes: Bytes, fromOpener: Bool, firstTime: Int64, time: Int64, isTogether: Bool = false,
        _ emit: Emit
    ) {
        establish(emit)
        guard case .open = state, !bytes.isEmpty else { return }
        var rest = bytes[...]
        if firstTime != time {
            // Two times need two segments. One byte is all that surely came first.
            sendSegment(
                rest.prefix(1), fromOpener: fromOpener, isLast: rest.count == 1, at: firstTime,
                emit)
            rest = rest.dropFirst()
        }
        while !rest.isEmpty {
            let part = rest.prefix(isTogether ? Self.maximumTogether : maximumSegment)
            rest = rest[part.endIndex...]
            sendSegment(part, fromOpener: fromOpener, isLast: rest.isEmpty, at: time, emit)
        }
        send([.ack], fromOpener: !fromOpener, at: time, emit)
    }

    /// Leaves out bytes that nobody has.
    package mutating func skip(_ length: UInt64, fromOpener: Bool, _ emit: Emit) {
        establish(emit)
        let length = UInt32(truncatingIfNeeded: length)
        if fromOpener { opener.next &+= length } else { other.next &+= length }
    }

    /// Sends a FIN, which the other end acknowledges.
    package mutating func finish(fromOpener: Bool, at time: Int64, _ emit: Emit) {
        establish(emit)
        guard case .open = state, !(fromOpener ? opener : other).hasEnded else { return }
        send([.fin, .ack], fromOpener: fromOpener, at: time, emit)
        if fromOpener {
            opener.next &+= 1
            opener.hasEnded = true
        } else {
            other.next &+= 1
            other.hasEnded = true
        }
        send([.ack], fromOpener: !fromOpener, at: time, emit)
        if opener.hasEnded, other.hasEnded { state = .over }
    }

    /// Sends a reset, which ends both directions.
    package mutating func reset(fromOpener: Bool, at time: Int64, _ emit: Emit) {
        establish(emit)
        guard case .open = state else { return }
        send([.rst, .ack], fromOpener: fromOpener, at: time, emit)
        state = .over
    }

    // MARK: Segments

    /// Maximum segment size, no operation, window scale (RFC 9293 §3.2, RFC 7323 §2.2).
    private var synOptions: Bytes {
        [
            2, 4, UInt8(maximumSegment >> 8), UInt8(maximumSegment & 0xff),
            1, 3, 3, Self.windowShift,
        ]
    }

    private mutating func sendSegment(
        _ payload: ArraySlice<UInt8>, fromOpener: Bool, isLast: Bool, at time: Int64, _ emit: Emit
    ) {
        send(
            isLast ? [.psh, .ack] : [.ack], fromOpener: fromOpener, payload: payload, at: time,
            emit)
        let count = UInt32(truncatingIfNeeded: payload.count)
        if fromOpener { opener.next &+= count } else { other.next &+= count }
    }

    private mutating func send(
        _ flags: TCPSegment.Flags, fromOpener: Bool, options: Bytes = [],
        payload: ArraySlice<UInt8> = [], at time: Int64, _ emit: Emit
    ) {
        let source = fromOpener ? opener : other
        let target = fromOpener ? other : opener
        let segment = TCPSegment(
            flags: flags, sequence: source.next,
            acknowledgment: flags.contains(.ack) ? target.next : 0, window: Self.window,
            options: options, payload: payload)
        var packet = Bytes()
        packet.reserveCapacity(60 + options.count + payload.count)
        identification &+= 1
        segment.encode(
            from: source.endpoint, to: target.endpoint, identification: identification,
            into: &packet)
        emit(packet, time)
    }
}

/// Puts one direction of a TCP connection back in order from captured segments (RFC 9293 §3.4).
///
/// A capture is not a receiver: segments may be missing that the peer got, and the capture may
/// begin or break off anywhere. What came first stands; a hole is waited for, within bounds,
/// and then told as missing. Sequence numbers wrap any number of times.
///
///     receive ──> the part that is in order, lent back
///        └──> next ──> what became ready behind it, until nil
///
/// Not copyable: a capture has thousands, of which each packet asks several things.
package struct TCPReassembler: ~Copyable, Sendable {
    /// What one direction may hold, and how long it waits for a hole to be filled.
    package struct Limits: Sendable {
        /// Bytes behind a hole.
        package var maximumBytes = 4 << 20
        /// Segments behind a hole.
        package var maximumSegments = 4096
        /// Packets of the connection that a hole waits for once the peer acknowledged it.
        package var packetsBehindAcknowledged = 64
        /// The same in nanoseconds of the capture: a second.
        package var timeBehindAcknowledged: Int64 = 1_000_000_000
        /// The wait for what nobody acknowledged: half a minute, as a sender would repeat it.
        package var timeBehindHole: Int64 = 30_000_000_000

        package init() {}
    }

    /// Why bytes are missing.
    package enum Absence: Sendable, Equatable {
        /// No packet of the capture has them.
        case lost
        /// The packet was cut to the snap length.
        case snapLength
    }

    /// What comes next in the direction.
    package enum Step: Sendable, Equatable {
        /// Bytes that had been held, when they came, and what their segment acknowledged.
        case bytes(Bytes, time: Int64, acknowledgment: UInt32?)
        case missing(UInt64, Absence)
        /// A repetition had other bytes than what came first, which stands; so many bytes.
        case differing(Int)
        /// So many bytes from before the place where the capture met the connection are left
        /// out.
        case early(Int)
        /// So many bytes behind the FIN are left out.
        case behindEnd(Int)
        /// The FIN, and what its segment acknowledged.
        case end(acknowledgment: UInt32?)
    }

    @usableFromInline struct Held: Sendable {
        var offset: UInt64
        var bytes: Bytes
        /// Bytes behind them that the snap length cut.
        var cut: UInt64
        var time: Int64
        var acknowledgment: UInt32?

        var end: UInt64 { offset + UInt64(bytes.count) + cut }
    }

    private enum Patience {
        case waiting
        /// The hole at hand is given up.
        case oneHole
        /// No more packets come.
        case over
    }

    private let limits: Limits
    /// The place of the next byte: the low half is its sequence number.
    @usableFromInline var place: UInt64?
    /// Where the direction began, or was met.
    @usableFromInline var base: UInt64 = 0
    private var isBaseCertain = false
    @usableFromInline var held: [Held] = []
    private var heldBytes = 0
    private var cutBehind: UInt64 = 0
    private var remarks: [Step] = []
    @usableFromInline var finPlace: UInt64?
    private var finAcknowledgment: UInt32?
    private var hasToldBehindEnd = false
    private var acknowledged: UInt64 = 0
    @usableFromInline var hasEnded = false
    private var patience = Patience.waiting
    private var holeSince: Int64 = 0
    private var packetsBehindHole = 0
    /// The last bytes in order, to compare repetitions with; a ring once it is full.
    private var history = Bytes()
    /// Where the oldest byte of a full history is.
    private var historyStart = 0

    /// The most that repetitions are compared with: what a sender repeats is what it sent last,
    /// and a capture may have thousands of connections.
    private static let maximumHistory = 16 << 10
    /// Acknowledgments of more than this ahead are not believed: the largest window.
    private static let maximumAhead = 1 << 30
    /// Further away than a window of usual size is another connection.
    @usableFromInline static let maximumNear = 16 << 20

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether the first sequence number is known.
    @inlinable package var isStarted: Bool { place != nil }
    /// Whether nothing was given out yet.
    @inlinable package var hasGivenNothing: Bool { place == nil || place == base }
    /// Whether segments wait behind a hole.
    @inlinable package var isWaiting: Bool { !held.isEmpty || (finPlace != nil && !hasEnded) }
    /// Whether bytes are known to have crossed that were not given out.
    package var isBehind: Bool {
        guard let place, !hasEnded else { return false }
        return !held.isEmpty || acknowledged > place + 1 || (finPlace ?? 0) > place
    }
    /// When what waits behind the first hole came; nil without one.
    package var waitingSince: Int64? { isWaiting ? held.first?.time ?? holeSince : nil }
    /// The sequence number of the next byte; nil if nothing is known.
    @inlinable package var nextSequence: UInt32? { place.map { UInt32(truncatingIfNeeded: $0) } }
    /// Whether the FIN was reached.
    @inlinable package var isEnded: Bool { hasEnded }
    /// The sequence number that the direction began with, or was met at.
    package var firstSequence: UInt32 { UInt32(truncatingIfNeeded: base) }

    /// Sets the sequence number of the first byte.
    ///
    /// - Parameter isCertain: a SYN said so. Otherwise data that comes before any was given out
    ///   may begin earlier.
    package mutating func start(at sequence: UInt32, isCertain: Bool = true) {
        isBaseCertain = isCertain
        // Room below, so that no place is negative.
        base = 1 << 40 | UInt64(sequence)
        place = base
    }

    /// Sets the sequence number of the first byte from what the peer acknowledges: the lowest of
    /// what it does before any byte was given out, if no SYN said better.
    package mutating func guessStart(at sequence: UInt32) {
        if place == nil {
            start(at: sequence, isCertain: false)
        } else if !isBaseCertain {
            _ = restart(at: sequence)
        }
    }

    /// Begins earlier than `start` said, where nothing was given out yet; false if it was.
    package mutating func restart(at sequence: UInt32) -> Bool {
        // No place may become negative, however often somebody begins anew.
        guard let place, place == base, base > 1 << 33 else { return false }
        let ahead = Self.distance(from: base, to: sequence)
        guard ahead < 0, -ahead <= Self.maximumNear else { return ahead == 0 }
        base -= UInt64(-ahead)
        self.place = base
        return true
    }

    /// Whether all bytes before `sequence` were given out; true if nothing is known.
    package func hasReached(_ sequence: UInt32) -> Bool {
        guard let place else { return true }
        return Self.distance(from: place, to: sequence) <= 0
    }

    /// Whether a sequence number is a place that a packet could have: one of a connection's
    /// window, and not of another that has the same ports.
    @inlinable package func isNear(_ sequence: UInt32) -> Bool {
        guard let place else { return true }
        return abs(Self.distance(from: place, to: sequence)) <= Self.maximumNear
    }

    /// Takes a segment; gives back the part of its payload that is in order now.
    ///
    /// - Parameters:
    ///   - missing: bytes behind the payload that the snap length cut.
    ///   - acknowledgment: what the segment acknowledges of the peer's; handed back with it.
    ///   - time: nanoseconds.
    package mutating func receive(
        sequence: UInt32, _ payload: Span<UInt8>, missing: Int, isFIN: Bool,
        acknowledgment: UInt32? = nil, at time: Int64
    ) -> Range<Int> {
        if place == nil {
            start(at: sequence, isCertain: false)
        } else if !isBaseCertain, place == base, payload.count > 1 || missing > 0 {
            // The first packets of a direction may be swapped.
            _ = restart(at: sequence)
        }
        let none = 0..<0
        guard let next = place else { return none }
        let length = UInt64(payload.count) + UInt64(max(0, missing))
        let start = next &+ UInt64(bitPattern: Int64(Self.distance(from: next, to: sequence)))
        let end = start + length
        if let finPlace, end > finPlace, length > 1, !hasToldBehindEnd {
            // Nothing but a probe follows a FIN (RFC 9293 §3.10.7.4), unless that was none.
            hasToldBehindEnd = true
            remarks.append(.behindEnd(Int(clamping: end - max(start, finPlace))))
        }
        guard !hasEnded else { return none }
        if isFIN, finPlace == nil, end >= next {
            finPlace = end
            finAcknowledgment = acknowledgment
            if held.isEmpty { holeSince = time }
        }
        if !held.isEmpty { packetsBehindHole += 1 }
        guard length > 0, start < finPlace ?? .max else { return none }
        if start < next {
            // A keep-alive probe is the byte before, or none.
            let isProbe = start + 1 == next && length == 1
            if !isProbe { compareWithHistory(payload, at: start, before: next) }
        }
        guard end > next else { return none }
        if held.isEmpty, start <= next {
            let from = min(Int(next - start), payload.count)
            cutBehind = end - max(next, start + UInt64(payload.count))
            advance(by: payload.extracting(from..<payload.count))
            return from..<payload.count
        }
        let new = Held(
            offset: start, bytes: [], cut: UInt64(max(0, missing)), time: time,
            acknowledgment: acknowledgment)
        hold(payload, new, from: next)
        return none
    }

    /// Takes a segment without flags and without missing bytes whose payload continues what was
    /// given out, where nothing else waits; false, and nothing was done, for any other.
    ///
    /// Most segments are such. What `receive` and `next` would do with it: all of its payload is
    /// in order, and nothing more becomes ready.
    package mutating func receiveNext(sequence: UInt32, _ payload: Span<UInt8>) -> Bool {
        guard let place, UInt32(truncatingIfNeeded: place) == sequence, !hasEnded, held.isEmpty,
            finPlace == nil, cutBehind == 0, remarks.isEmpty, patience == .waiting
        else { return false }
        advance(by: payload)
        return true
    }

    /// Whether some bytes were given out, nothing waits, and all before `sequence` is among them:
    /// to acknowledge so much tells nothing new.
    package func isSettled(before sequence: UInt32) -> Bool {
        guard let place, place != base, !isWaiting else { return false }
        return Self.distance(from: place, to: sequence) <= 0
    }

    /// Gives what became ready; nil when it has to wait for more packets.
    package mutating func next() -> Step? {
        if let remark = remarks.first {
            remarks.removeFirst()
            return remark
        }
        guard !hasEnded, let next = place else { return nil }
        if cutBehind > 0 {
            let cut = cutBehind
            cutBehind = 0
            skip(to: next + cut)
            return .missing(cut, .snapLength)
        }
        if let first = held.first {
            if first.offset <= next {
                held.removeFirst()
                heldBytes -= first.bytes.count
                packetsBehindHole = 0
                holeSince = first.time
                advance(by: first.bytes.span)
                cutBehind = first.cut
                return .bytes(
                    first.bytes, time: first.time, acknowledgment: first.acknowledgment)
            }
            if patience != .waiting {
                if case .oneHole = patience { patience = .waiting }
                skip(to: first.offset)
                return .missing(first.offset - next, .lost)
            }
            return nil
        }
        if let finPlace {
            if finPlace <= next {
                hasEnded = true
                return .end(acknowledgment: finAcknowledgment)
            }
            guard patience != .waiting else { return nil }
            if case .oneHole = patience { patience = .waiting }
            skip(to: finPlace)
            return .missing(finPlace - next, .lost)
        }
        // One byte more may be a FIN that was lost.
        if patience == .over, acknowledged > next + 1 {
            let missing = acknowledged - next
            skip(to: acknowledged)
            return .missing(missing, .lost)
        }
        return nil
    }

    /// Takes note that the peer acknowledged all before `sequence`.
    package mutating func acknowledge(_ sequence: UInt32) {
        guard let place else { return }
        let ahead = Self.distance(from: place, to: sequence)
        guard ahead > 0, ahead <= Self.maximumAhead else { return }
        acknowledged = max(acknowledged, place + UInt64(ahead))
    }

    /// Gives up a hole that was waited for long enough; `next` then goes on behind it.
    package mutating func tick(at time: Int64) {
        guard let place, let end = held.first?.offset ?? finPlace, end > place else { return }
        let waited = time.subtractingReportingOverflow(holeSince).partialValue
        let isAcknowledged = acknowledged > place
        if heldBytes > limits.maximumBytes || held.count > limits.maximumSegments
            || waited > limits.timeBehindHole
            || (isAcknowledged
                && (waited > limits.timeBehindAcknowledged
                    || packetsBehindHole > limits.packetsBehindAcknowledged))
        {
            patience = .oneHole
            packetsBehindHole = 0
            holeSince = time
        }
    }

    /// Gives up the hole at hand, since nothing will fill it.
    package mutating func giveUpHole() {
        patience = .oneHole
    }

    /// Gives up all holes, since no more packets come.
    package mutating func giveUp() {
        patience = .over
    }

    /// Lets go of all bytes, where nothing more is wanted but `hasReached`.
    package mutating func release() {
        held = []
        history = []
        historyStart = 0
        remarks = []
    }

    // MARK: Places

    /// How far a sequence number is ahead of a place, at most 2 GiB either way.
    @inlinable static func distance(from place: UInt64, to sequence: UInt32) -> Int {
        Int(Int32(bitPattern: sequence &- UInt32(truncatingIfNeeded: place)))
    }

    private mutating func advance(by bytes: Span<UInt8>) {
        guard let place else { return }
        self.place = place + UInt64(bytes.count)
        remember(
            bytes.count > Self.maximumHistory
                ? bytes.extracting(bytes.count - Self.maximumHistory..<bytes.count) : bytes)
    }

    /// Adds bytes to the history, of which they are the last; at most as many as it holds.
    private mutating func remember(_ bytes: Span<UInt8>) {
        var rest = bytes
        let room = Self.maximumHistory - history.count
        if room > 0 {
            history.append(copying: rest.extracting(first: room))
            guard rest.count > room else { return }
            rest = rest.extracting(room..<rest.count)
        }
        while !rest.isEmpty {
            let part = rest.extracting(first: Self.maximumHistory - historyStart)
            history.overwrite(from: historyStart, with: part)
            historyStart = (historyStart + part.count) % Self.maximumHistory
            rest = rest.extracting(part.count..<rest.count)
        }
    }

    private mutating func skip(to target: UInt64) {
        place = target
        history.removeAll(keepingCapacity: true)
        historyStart = 0
    }

    // MARK: Overlaps

    private mutating func compareWithHistory(
        _ payload: Span<UInt8>, at start: UInt64, before next: UInt64
    ) {
        if start < base {
            let end = min(base, start + UInt64(payload.count))
            if end > start { remarks.append(.early(Int(end - start))) }
        }
        let from = max(start, next - UInt64(history.count))
        let to = min(next, start + UInt64(payload.count))
        guard from < to else { return }
        var differing = 0
        var index = Int(from - start)
        var old = history.count - Int(next - from)
        for _ in 0..<Int(to - from) {
            if payload[index] != history[(historyStart + old) % Self.maximumHistory] {
                differing += 1
            }
            index += 1
            old += 1
        }
        if differing > 0 { remarks.append(.differing(differing)) }
    }

    /// Holds what of the segment no held one has; `new` is the segment without its bytes.
    private mutating func hold(_ payload: Span<UInt8>, _ new: Held, from next: UInt64) {
        let start = new.offset
        let captured = start + UInt64(payload.count)
        let end = captured + new.cut
        if held.isEmpty {
            holeSince = new.time
            packetsBehindHole = 0
        }
        var position = max(start, next)
        // Most segments follow the last one held.
        var index = held.count
        while index > 0, held[index - 1].end > position { index -= 1 }
        var differing = 0
        while position < end {
            let stop = index < held.count ? min(held[index].offset, end) : end
            if position < stop {
                let part = min(max(position, start), captured)..<min(stop, captured)
                let bytes = payload.extracting(
                    Int(
                        part.lowerBound - start)..<Int(
                            max(part.lowerBound, part.upperBound) - start)
                )
                var piece = new
                piece.offset = position
                piece.bytes = Bytes(copying: bytes)
                piece.cut = stop - position - UInt64(bytes.count)
                held.insert(piece, at: index)
                heldBytes += bytes.count
                index += 1
            }
            guard index < held.count, held[index].offset < end else { break }
            differing += difference(payload, at: start, with: held[index])
            position = held[index].end
            index += 1
        }
        if differing > 0 { remarks.append(.differing(differing)) }
    }

    private func difference(_ payload: Span<UInt8>, at start: UInt64, with held: Held) -> Int {
        let from = max(start, held.offset)
        let to = min(start + UInt64(payload.count), held.offset + UInt64(held.bytes.count))
        guard from < to else { return 0 }
        var count = 0
        for offset in 0..<Int(to - from)
        where payload[Int(from - start) + offset] != held.bytes[Int(from - held.offset) + offset] {
            count += 1
        }
        return count
    }
}

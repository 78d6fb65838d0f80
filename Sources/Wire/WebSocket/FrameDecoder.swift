/// Turns the bytes of one direction of an upgraded connection into frames (RFC 6455 §5.2).
///
/// Every byte sequence is frames: any opcode, reserved bit, length form and length is taken as
/// it stands. `FrameJudge` says what is wrong with it. Encoding the steps again gives the same
/// bytes.
///
///     header ──whole──► idle
///       │ payload not all there
///       ├─ up to the limit ──► payload ──complete──► idle
///       └─ longer ───────────► long ─────complete──► idle
package struct FrameDecoder: Sendable {
    /// What the next bytes were.
    package enum Step: Equatable, Sendable {
        /// A whole frame, with a payload of at most the limit.
        case frame(Frame)
        /// A frame begins whose payload is longer than the limit; it follows in parts.
        case header(FrameHeader)
        /// An unmasked part of a longer payload, as large as what was fed allows.
        ///
        /// `offset` counts the payload bytes before it.
        case payload(Bytes, offset: UInt64, isLast: Bool)
    }

    /// What was there of a frame when the bytes ended.
    package enum Unfinished: Equatable, Sendable {
        /// The first bytes of a header.
        case header(Bytes)
        /// A header and the unmasked beginning of a payload of at most the limit.
        case payload(FrameHeader, Bytes)
        /// So many payload bytes had come of a longer frame; its parts have been handed out.
        case longPayload(received: UInt64)
    }

    private enum State: Sendable {
        /// Between frames, or within a header; the tail holds its bytes.
        case header
        /// Within a payload of at most the limit: what came of it, unmasked.
        case payload(FrameHeader, Bytes)
        /// Within a longer payload, of which so much was handed out.
        case long(FrameHeader, received: UInt64)
    }

    private let maximumPayload: UInt64
    private var state = State.header
    /// The bytes of a header that is not complete; at most 13.
    private var tail = Bytes()

    /// Makes a decoder that stands before a frame.
    ///
    /// Payloads of more than `maximumPayload` bytes come in parts; no more than that is held.
    /// The default is the size above which a capture records in pieces.
    package init(maximumPayload: Int = 1 << 20) {
        precondition(maximumPayload >= 0, "a limit below zero")
        self.maximumPayload = UInt64(maximumPayload)
    }

    /// Whether the decoder stands between two frames.
    package var isIdle: Bool {
        if case .header = state { tail.isEmpty } else { false }
    }

    /// Takes the next frame, if it begins and ends within `bytes` and is no longer than the
    /// limit; nil otherwise, and then nothing was used.
    ///
    /// What `next` would give as a step, for the many frames of which that is true. `payload` is
    /// where its payload stands, masked as it came. It changes nothing in the decoder; it is
    /// `mutating` so that one which lies in an object is not copied for the look.
    package mutating func nextWhole(
        _ bytes: Span<UInt8>, at position: inout Int
    ) -> (header: FrameHeader, payload: Range<Int>)? {
        guard case .header = state, tail.isEmpty else { return nil }
        return Self.whole(bytes, at: &position, maximumPayload: maximumPayload)
    }

    /// The frame that begins at `position` and ends within `bytes`, with a payload of at most the
    /// limit; nil if there is none, and then `position` stays.
    ///
    /// What `nextWhole` gives, for who knows that a decoder would stand before a frame. `payload`
    /// is where its payload stands, masked as it came.
    package static func whole(
        _ bytes: Span<UInt8>, at position: inout Int, maximumPayload: UInt64
    ) -> (header: FrameHeader, payload: Range<Int>)? {
        guard let (header, size) = Self.header(bytes, at: position),
            header.payloadLength <= maximumPayload
        else { return nil }
        let start = position + size
        let length = Int(header.payloadLength)
        guard bytes.count - start >= length else { return nil }
        position = start + length
        return (header, start..<position)
    }

    /// Takes the next step from `bytes`, beginning at `position`.
    ///
    /// Moves `position` behind the last byte used. Nil means that all bytes were taken in and
    /// more are needed; a step uses exactly its own bytes.
    package mutating func next(_ bytes: Span<UInt8>, at position: inout Int) -> Step? {
        switch state {
        case .header:
            if let (header, place) = nextWhole(bytes, at: &position) {
                let payload = Self.copy(
                    bytes.extracting(place), key: header.maskingKey, offset: 0)
                return .frame(Frame(header: header, payload: payload))
            }
            guard let header = takeHeader(bytes, at: &position) else { return nil }
            guard header.payloadLength <= maximumPayload else {
                state = .long(header, received: 0)
                return .header(header)
            }
            return collect(header, Bytes(), bytes, at: &position)
        case .payload(let header, let received):
            state = .header  // gives up the second reference to `received`
            return collect(header, received, bytes, at: &position)
        case .long(let header, let received):
            let rest = header.payloadLength - received
            let available = bytes.count - position
            guard available > 0 else { return nil }
            let count = rest < UInt64(available) ? Int(rest) : available
            let part = Self.copy(
                bytes.extracting(position..<position + count), key: header.maskingKey,
                offset: received)
            position += count
            let now = received + UInt64(count)
            let isLast = now == header.payloadLength
            state = isLast ? .header : .long(header, received: now)
            return .payload(part, offset: received, isLast: isLast)
        }
    }

    /// Ends the bytes: gives what an unfinished frame had, and stands before a frame again.
    package mutating func finish() -> Unfinished? {
        defer {
            state = .header
            tail = []
        }
        switch state {
        case .header: return tail.isEmpty ? nil : .header(tail)
        case .payload(let header, let received): return .payload(header, received)
        case .long(_, let received): return .longPayload(received: received)
        }
    }

    /// The header of the frame whose payload is under way.
    package var openHeader: FrameHeader? {
        switch state {
        case .header: nil
        case .payload(let header, _), .long(let header, _): header
        }
    }

    /// Where a decoder stands behind bytes that it will never see.
    package enum Resumption: Equatable, Sendable {
        /// In the payload that was under way, or right behind it.
        case known
        /// Somewhere; the decoder stands before a frame, for whoever finds one.
        case unknown
    }

    /// Skips `count` bytes that are missing; gives what an unfinished frame had before them.
    ///
    /// Where the missing bytes end within the payload under way, the rest of it comes out as
    /// `payload` steps, with `isLast` at its end.
    package mutating func skip(_ count: UInt64) -> (unfinished: Unfinished?, Resumption) {
        let header: FrameHeader
        let received: UInt64
        switch state {
        case .header: return (finish(), .unknown)
        case .payload(let open, let bytes): (header, received) = (open, UInt64(bytes.count))
        case .long(let open, let count): (header, received) = (open, count)
        }
        let unfinished = finish()
        let rest = header.payloadLength - received
        guard count <= rest else { return (unfinished, .unknown) }
        if count < rest { state = .long(header, received: received + count) }
        return (unfinished, .known)
    }

    // MARK: Headers

    /// Takes a header from the tail and the bytes, or adds the bytes to the tail.
    private mutating func takeHeader(
        _ bytes: Span<UInt8>, at position: inout Int
    ) -> FrameHeader? {
        if tail.isEmpty {
            if let (header, size) = Self.header(bytes, at: position) {
                position += size
                return header
            }
            tail.append(copying: bytes.extracting(position..<bytes.count))
            position = bytes.count
            return nil
        }
        while position < bytes.count {
            tail.append(bytes[position])
            position += 1
            if let (header, _) = Self.header(tail.span, at: 0) {
                tail.removeAll(keepingCapacity: true)
                return header
            }
        }
        return nil
    }

    /// The header at `start` and its size; nil where it is not complete.
    @inline(__always)
    private static func header(_ bytes: Span<UInt8>, at start: Int) -> (FrameHeader, Int)? {
        let available = bytes.count - start
        guard available >= 2 else { return nil }
        let first = bytes[start]
        let second = bytes[start + 1]
        var length = UInt64(second & 0x7f)
        var form = LengthForm.short
        var size = 2
        if length >= 126 {
            form = length == 126 ? .medium : .long
            size = length == 126 ? 4 : 10
            guard available >= size else { return nil }
            length =
                form == .medium
                ? UInt64(bytes[start + 2]) << 8 | UInt64(bytes[start + 3])
                : bytes.word(at: start + 2).byteSwapped
        }
        var key: MaskingKey?
        if second & 0x80 != 0 {
            let place = start + size
            size += 4
            guard available >= size else { return nil }
            key = MaskingKey(
                rawValue: UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16
                    | UInt32(bytes[place + 2]) << 8 | UInt32(bytes[place + 3]))
        }
        let header = FrameHeader(
            fin: first & 0x80 != 0, rsv: first >> 4 & 7, opcode: Opcode(rawValue: first),
            maskingKey: key, payloadLength: length, lengthForm: form)
        return (header, size)
    }

    // MARK: Payloads

    /// Adds what is there to a payload of at most the limit; a frame once it is complete.
    private mutating func collect(
        _ header: FrameHeader, _ held: consuming Bytes, _ bytes: Span<UInt8>,
        at position: inout Int
    ) -> Step? {
        let length = Int(header.payloadLength)
        var received = held
        let before = received.count
        let count = min(length - before, bytes.count - position)
        let needed = before + count
        if needed > received.capacity {
            // Room for as much again as came, and never for what was only announced.
            received.reserveCapacity(min(length, max(needed * 2, 256)))
        }
        received.append(copying: bytes.extracting(position..<position + count))
        header.maskingKey?.apply(to: &received, from: before, offset: UInt64(before))
        position += count
        if needed == length {
            state = .header
            return .frame(Frame(header: header, payload: received))
        }
        state = .payload(header, received)
        return nil
    }

    /// An unmasked copy of a part of a payload.
    private static func copy(
        _ bytes: Span<UInt8>, key: MaskingKey?, offset: UInt64
    ) -> Bytes {
        guard let key else { return Bytes(copying: bytes) }
        return key.applied(to: bytes, offset: offset)
    }
}

import Wire

/// Finds where HTTP messages or WebSocket frames go on, in bytes of which the start is not known.
///
/// HTTP is told by a whole start line. A frame is told by a header that the side could send and
/// by content that is what the header says, text or what inflates to text; random bytes pass for
/// that about once in a million places. A large binary frame, or a compressed one that refers to
/// what was not seen, is therefore stepped over unless it is known that frames cross.
struct BoundarySearch {
    /// Which decoder takes the bytes from the place on.
    enum Found: Equatable {
        case message
        case frame
    }

    static let why = "no message or frame could be told to begin here"

    /// Bytes that are looked at together; more than the board reads in one message.
    private static let maximumHeld = 64 << 10
    /// Places that are looked at within segments before only their starts are.
    private static let maximumPlaces = 16 << 20
    /// A longer frame is taken for chance.
    private static let maximumFrame: UInt64 = 16 << 20

    let side: Side
    /// It is known that frames cross here; weaker signs are enough.
    var expectsFrames = false
    private var held = Bytes()
    private var places = 0

    init(side: Side) {
        self.side = side
    }

    /// Takes the bytes held.
    mutating func takeAll() -> Bytes {
        defer { held = [] }
        return held
    }

    /// Takes a segment's bytes; gives back what is skipped for good, and what begins behind it.
    ///
    /// Where something was found `takeAll` gives the bytes from there on.
    mutating func receive(_ bytes: Bytes) -> (skipped: Bytes, found: Found?) {
        let segmentStart = held.count
        held += bytes
        if let found = find(at: segmentStart, isSegmentStart: true) {
            return (skip(segmentStart), found)
        }
        if places < Self.maximumPlaces {
            places += held.count
            for offset in held.indices where offset != segmentStart {
                if let found = find(at: offset, isSegmentStart: offset == 0) {
                    return (skip(offset), found)
                }
            }
            guard held.count > Self.maximumHeld else { return ([], nil) }
        }
        return (skip(held.count - (places < Self.maximumPlaces ? Self.maximumHeld / 4 : 0)), nil)
    }

    private mutating func skip(_ count: Int) -> Bytes {
        let skipped = Bytes(held.prefix(count))
        held.removeFirst(min(count, held.count))
        return skipped
    }

    private func find(at offset: Int, isSegmentStart: Bool) -> Found? {
        let first = held[offset]
        // Most places are neither.
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
        if isUpper, Self.beginsMessage(held.span, at: offset, from: side, atStart: isSegmentStart) {
            return .message
        }
        guard Self.mayBeginFrame(first) else { return nil }
        let sign = FrameSign(held.span, at: offset, isMasked: side == .app, Self.maximumFrame)
        let isFrame =
            isSegmentStart
            ? expectsFrames ? sign.isPlausible : sign.isCertain
            : sign.isCertain && sign.firstText >= 8
        return isFrame ? .frame : nil
    }

    /// Who sends bytes that begin so, at the start of a segment, and what they are.
    static func recognize(_ bytes: Span<UInt8>) -> (side: Side, found: Found)? {
        guard bytes.count >= 2 else { return nil }
        for side in Side.allCases {
            if beginsMessage(bytes, at: 0, from: side, atStart: true) { return (side, .message) }
        }
        guard mayBeginFrame(bytes[0]) else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        guard FrameSign(bytes, at: 0, isMasked: isMasked, maximumFrame).isCertain else {
            return nil
        }
        return (isMasked ? .app : .board, .frame)
    }

    /// Who would send bytes that are whole frames from their first to their last, content aside.
    ///
    /// One segment of another protocol in ten thousand looks so.
    static func mayBeFrames(_ bytes: Span<UInt8>) -> Side? {
        guard bytes.count >= 2, mayBeginFrame(bytes[0]) else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        guard FrameSign(bytes, at: 0, isMasked: isMasked, maximumFrame).isPlausible else {
            return nil
        }
        return isMasked ? .app : .board
    }

    /// Known opcodes only, and of the reserved bits that of compression.
    private static func mayBeginFrame(_ first: UInt8) -> Bool {
        first & 0x30 == 0 && (first & 0x0f <= 2 || (8...10).contains(first & 0x0f))
    }

    /// Whether a start line stands there, whole (RFC 9112 §3, §4).
    private static func beginsMessage(
        _ bytes: Span<UInt8>, at offset: Int, from side: Side, atStart: Bool
    ) -> Bool {
        var index = offset
        func take(_ text: StaticString) -> Bool {
            guard bytes.count - index >= text.utf8CodeUnitCount else { return false }
            for place in 0..<text.utf8CodeUnitCount {
                guard unsafe bytes[index + place] == text.utf8Start[place] else { return false }
            }
            index += text.utf8CodeUnitCount
            return true
        }
        if side == .board {
            guard take("HTTP/1."), bytes.count - index >= 6 else { return false }
            // Behind a target it would be the end of a request line.
            guard atStart || offset == 0 || bytes[offset - 1] != UInt8(ascii: " ") else {
                return false
            }
            return bytes[index + 1] == UInt8(ascii: " ")
                && (2...4).allSatisfy { (0x30...0x39).contains(bytes[index + $0]) }
        }
        while index < bytes.count, (0x41...0x5a).contains(bytes[index]) { index += 1 }
        guard (3...16).contains(index - offset), take(" ") else { return false }
        // The letters before it would belong to the method.
        guard atStart || offset == 0 || !(0x41...0x5a).contains(bytes[offset - 1]) else {
            return false
        }
        let target = index
        let limit = min(bytes.count, target + (8 << 10))
        while index < limit, bytes[index] > 0x20 { index += 1 }
        guard index > target, take(" HTTP/1."), bytes.count - index >= 2 else { return false }
        return bytes[index + 1] == 0x0d || bytes[index + 1] == 0x0a
    }
}

/// What speaks for frames that begin at a place: the headers of some in a row, and their content.
private struct FrameSign {
    /// Frames that are whole and have content that can be checked, as far as looked.
    private var confirmed = 0
    /// Whole frames, as far as looked.
    private var whole = 0
    /// They end where the bytes end.
    private var endsThere = false
    /// The last frame is not whole, and what there is of it is text.
    private var textBegun = false
    private var isContradicted = false
    /// The content of the first frame, where that is a whole compressed message.
    private var compressed: Bytes?
    /// Bytes of text in the first frame.
    private(set) var firstText = 0

    /// Enough for a place of which nothing else is known.
    var isCertain: Bool { !isContradicted && (confirmed > 0 || textBegun) }
    /// Enough for the start of a segment where frames are known to cross.
    var isPlausible: Bool { isCertain || (!isContradicted && endsThere && whole > 0) }

    init(_ bytes: Span<UInt8>, at start: Int, isMasked: Bool, _ maximumFrame: UInt64) {
        var decoder = FrameDecoder(maximumPayload: 64 << 10)
        var position = start
        for _ in 0..<8 {
            guard position < bytes.count else { break }
            guard let step = decoder.next(bytes, at: &position) else {
                receive(decoder.finish(), isMasked, maximumFrame)
                return
            }
            switch step {
            case .frame(let frame):
                guard Self.isLegal(frame.header, isMasked, maximumFrame) else {
                    isContradicted = true
                    return
                }
                receive(frame)
            case .header(let header):
                guard Self.isLegal(header, isMasked, maximumFrame) else {
                    isContradicted = true
                    return
                }
                var part: Bytes = []
                if case .payload(let bytes, _, _)? = decoder.next(bytes, at: &position) {
                    part = bytes
                }
                receive(begun: header, part)
                return
            case .payload:
                return
            }
            if isContradicted { return }
        }
        endsThere = position == bytes.count
        if endsThere, confirmed == 0, let compressed { inflate(compressed) }
    }

    /// Tries a message by itself, which the first of a connection and those of peers without
    /// context takeover can be read by (RFC 7692 §7.1.1).
    private mutating func inflate(_ payload: Bytes) {
        guard let inflater = Inflater() else { return }
        var position = 0
        var text = Bytes()
        guard
            inflater.inflate(payload.span, at: &position, into: &text, limit: 1 << 20)
                == .inputUsed,
            inflater.endMessage(into: &text, limit: 1 << 10) == .inputUsed,
            !text.isEmpty, Self.isText(text.span)
        else { return }
        confirmed += 1
        firstText = text.count
    }

    private mutating func contradict() {
        isContradicted = true
    }

    private mutating func receive(_ frame: Frame) {
        whole += 1
        switch frame.header.opcode {
        case .text where frame.header.rsv == 4 && frame.header.fin:
            if whole == 1 { compressed = frame.payload }
        case .text where frame.header.rsv == 0 && frame.header.fin:
            guard Self.isText(frame.payload.span) else { return contradict() }
            if whole == 1 { firstText = frame.payload.count }
            if !frame.payload.isEmpty { confirmed += 1 }
        case .close:
            guard frame.payload.count != 1,
                Self.isText(frame.payload.span.extracting(last: max(0, frame.payload.count - 2)))
            else { return contradict() }
            guard frame.payload.count >= 2 else { return }
            let code = Int(frame.payload[0]) << 8 | Int(frame.payload[1])
            guard (1000...1015).contains(code) || (3000...4999).contains(code) else {
                return contradict()
            }
            confirmed += 1
        default:
            break
        }
    }

    private mutating func receive(
        _ unfinished: FrameDecoder.Unfinished?, _ isMasked: Bool, _ maximumFrame: UInt64
    ) {
        switch unfinished {
        case .payload(let header, let part)?:
            guard Self.isLegal(header, isMasked, maximumFrame) else { return contradict() }
            receive(begun: header, part)
        case .header(let bytes)?:
            // What is there of the header must be one.
            let isLegal = bytes.count < 2 || (bytes[1] & 0x80 != 0) == isMasked
            if !isLegal { contradict() }
        case .longPayload?, nil:
            break
        }
    }

    private mutating func receive(begun header: FrameHeader, _ part: Bytes) {
        guard header.opcode == .text, header.rsv == 0, part.count >= 8 else { return }
        var validator = UTF8Validator()
        guard validator.feed(part.span), Self.hasNoControls(part.span) else { return contradict() }
        if whole == 0 { firstText = part.count }
        textBegun = true
    }

    private static func isLegal(
        _ header: FrameHeader, _ isMasked: Bool, _ maximumFrame: UInt64
    ) -> Bool {
        guard header.rsv & 3 == 0, (header.maskingKey != nil) == isMasked, header.isMinimal,
            header.payloadLength <= maximumFrame
        else { return false }
        switch header.opcode.rawValue {
        case 0...2: return true
        case 8...10: return header.fin && header.rsv == 0 && header.payloadLength <= 125
        default: return false
        }
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        isValidUTF8(bytes) && hasNoControls(bytes)
    }

    private static func hasNoControls(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20, byte != 0x09, byte != 0x0a, byte != 0x0d { return false }
        }
        return true
    }
}

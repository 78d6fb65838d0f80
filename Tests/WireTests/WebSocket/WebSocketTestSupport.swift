import Testing

@testable import Wire

/// A small seeded generator, so that a failing case can be had again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func bytes(_ count: Int) -> Bytes {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Bytes from hex digits, with or without spaces.
func hex(_ text: String) -> Bytes {
    let digits = text.filter { $0 != " " }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}

extension Frame {
    /// A text frame or, with an opcode, another one.
    init(_ text: String, opcode: Opcode = .text, fin: Bool = true, key: UInt32? = nil) {
        self.init(
            fin: fin, opcode: opcode, maskingKey: key.map(MaskingKey.init(rawValue:)),
            payload: Bytes(text.utf8))
    }
}

/// All steps of a decoder that is fed these pieces.
func steps(
    _ pieces: [ArraySlice<UInt8>], maximumPayload: Int = 1 << 20
) -> ([FrameDecoder.Step], FrameDecoder.Unfinished?) {
    var decoder = FrameDecoder(maximumPayload: maximumPayload)
    var steps: [FrameDecoder.Step] = []
    for piece in pieces {
        let bytes = Bytes(piece)
        var position = 0
        while let step = decoder.next(bytes.span, at: &position) { steps.append(step) }
    }
    return (steps, decoder.finish())
}

/// The bytes that the steps came from.
func encode(_ steps: [FrameDecoder.Step], _ unfinished: FrameDecoder.Unfinished?) -> Bytes {
    var bytes = Bytes()
    var long: FrameHeader?
    for step in steps {
        switch step {
        case .frame(let frame):
            frame.encode(into: &bytes)
        case .header(let header):
            header.encode(into: &bytes)
            long = header
        case .payload(let part, let offset, _):
            let start = bytes.count
            bytes += part
            long?.maskingKey?.apply(to: &bytes, from: start, offset: offset)
        }
    }
    switch unfinished {
    case .header(let tail):
        bytes += tail
    case .payload(let header, let part):
        header.encode(into: &bytes)
        let start = bytes.count
        bytes += part
        header.maskingKey?.apply(to: &bytes, from: start)
    case .longPayload, nil:
        break
    }
    return bytes
}

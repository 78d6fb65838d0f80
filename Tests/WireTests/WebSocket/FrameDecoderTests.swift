import Testing

@testable import Wire

struct FrameDecoderTests {
    /// The examples of RFC 6455 §5.7.
    static let examples: [(name: String, frame: Frame, bytes: Bytes)] = [
        ("unmasked text", Frame("Hello"), hex("81 05 48 65 6c 6c 6f")),
        (
            "masked text", Frame("Hello", key: 0x37fa_213d),
            hex("81 85 37 fa 21 3d 7f 9f 4d 51 58")
        ),
        ("first fragment", Frame("Hel", fin: false), hex("01 03 48 65 6c")),
        ("last fragment", Frame("lo", opcode: .continuation), hex("80 02 6c 6f")),
        ("unmasked ping", Frame("Hello", opcode: .ping), hex("89 05 48 65 6c 6c 6f")),
        (
            "masked pong", Frame("Hello", opcode: .pong, key: 0x37fa_213d),
            hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58")
        ),
        (
            "256 bytes", Frame(opcode: .binary, payload: Bytes(repeating: 7, count: 256)),
            hex("82 7e 01 00") + Bytes(repeating: 7, count: 256)
        ),
        (
            "64 KiB", Frame(opcode: .binary, payload: Bytes(repeating: 7, count: 65536)),
            hex("82 7f 00 00 00 00 00 01 00 00") + Bytes(repeating: 7, count: 65536)
        ),
    ]

    @Test(arguments: examples.indices)
    func `the RFC's examples decode and encode`(row: Int) {
        let (name, frame, bytes) = Self.examples[row]
        let (found, unfinished) = steps([bytes[...]])
        #expect(found == [.frame(frame)], "\(name)")
        #expect(unfinished == nil, "\(name)")
        #expect(frame.encoded() == bytes, "\(name)")
        #expect(frame.header.encodedSize == bytes.count - frame.payload.count, "\(name)")
    }

    @Test(arguments: examples.indices)
    func `a whole frame is taken in one go where it is all there, and nothing is otherwise`(
        row: Int
    ) {
        let (name, frame, bytes) = Self.examples[row]
        let behind = bytes + [0x81]
        for end in [0, 1, 2, 3, 5, 7, 9, bytes.count - 1, bytes.count, behind.count]
        where end <= behind.count {
            var decoder = FrameDecoder()
            var position = 0
            let found = decoder.nextWhole(behind.span.extracting(0..<end), at: &position)
            #expect(found?.header == (end < bytes.count ? nil : frame.header), "\(name), \(end)")
            let size = bytes.count - frame.payload.count
            #expect(
                found?.payload == (end < bytes.count ? nil : size..<bytes.count), "\(name), \(end)")
            #expect(position == (end < bytes.count ? 0 : bytes.count), "\(name), \(end)")
        }
        var short = FrameDecoder(maximumPayload: 1)
        var position = 0
        #expect(short.nextWhole(bytes.span, at: &position) == nil)
        // Within a frame there is no whole one.
        var within = FrameDecoder()
        _ = within.next(bytes.span.extracting(0..<1), at: &position)
        position = 0
        #expect(within.nextWhole(bytes.span, at: &position) == nil)
    }

    /// Frames that the RFC forbids and that cross all the same.
    static let odd: [(name: String, header: FrameHeader, bytes: Bytes)] = [
        (
            "reserved bits and opcode",
            FrameHeader(fin: false, rsv: 7, opcode: Opcode(rawValue: 0xf), payloadLength: 0),
            hex("7f 00")
        ),
        (
            "RSV1 is the 4", FrameHeader(rsv: 4, opcode: .text, payloadLength: 0), hex("c1 00")
        ),
        (
            "medium length that is not minimal",
            FrameHeader(opcode: .text, payloadLength: 0, lengthForm: .medium),
            hex("81 7e 00 00")
        ),
        (
            "long length that is not minimal, masked",
            FrameHeader(
                opcode: .ping, maskingKey: MaskingKey(rawValue: 0x0102_0304), payloadLength: 0,
                lengthForm: .long),
            hex("89 ff 00 00 00 00 00 00 00 00 01 02 03 04")
        ),
    ]

    @Test(arguments: odd.indices)
    func `what the RFC forbids is kept as it came`(row: Int) {
        let (name, header, bytes) = Self.odd[row]
        let (found, _) = steps([bytes[...]])
        #expect(found == [.frame(Frame(header: header, payload: []))], "\(name)")
        var encoded = Bytes()
        header.encode(into: &encoded)
        #expect(encoded == bytes, "\(name)")
    }

    @Test func `a length with the top bit set is kept and takes no memory`() {
        let bytes = hex("82 ff ff ff ff ff ff ff ff ff 00 00 00 01 10 20")
        let (found, unfinished) = steps([bytes[...]])
        let header = FrameHeader(
            opcode: .binary, maskingKey: MaskingKey(rawValue: 1), payloadLength: .max)
        #expect(found == [.header(header), .payload([0x10, 0x20], offset: 0, isLast: false)])
        #expect(unfinished == .longPayload(received: 2))
    }

    @Test func `a frame within the limit that has not come takes no memory to speak of`() {
        var decoder = FrameDecoder(maximumPayload: 1 << 40)
        var position = 0
        let bytes = hex("82 7f 00 00 00 7f ff ff ff ff 01 02")
        #expect(decoder.next(bytes.span, at: &position) == nil)
        #expect(position == bytes.count)
        guard case .payload(let header, let received) = decoder.finish() else {
            Issue.record("a payload was under way")
            return
        }
        #expect(header.payloadLength == 0x7f_ffff_ffff)
        #expect(received == [1, 2])
        #expect(received.capacity < 1024)
    }

    @Test func `a step uses exactly its own bytes`() {
        var decoder = FrameDecoder()
        let bytes = Frame("one").encoded() + Frame("two", key: 9).encoded() + [0x81]
        var position = 0
        #expect(decoder.next(bytes.span, at: &position) == .frame(Frame("one")))
        #expect(position == 5)
        #expect(decoder.isIdle)
        #expect(decoder.next(bytes.span, at: &position) == .frame(Frame("two", key: 9)))
        #expect(position == 14)
        #expect(decoder.next(bytes.span, at: &position) == nil)
        #expect(!decoder.isIdle)
        #expect(decoder.finish() == .header([0x81]))
        #expect(decoder.isIdle)
    }

    @Test func `every split gives the same frames`() {
        let frames =
            Self.examples.prefix(7).map(\.frame) + [
                Frame("", opcode: .close, key: 0xffff_ffff),
                Frame(String(repeating: "é", count: 70)),
            ]
        let bytes = frames.flatMap { $0.encoded() }
        for cut in 0...bytes.count {
            let (found, unfinished) = steps([bytes[..<cut], bytes[cut...]])
            #expect(found == frames.map(FrameDecoder.Step.frame))
            #expect(unfinished == nil)
        }
        let (found, _) = steps(bytes.indices.map { bytes[$0...$0] })
        #expect(found == frames.map(FrameDecoder.Step.frame))
    }

    @Test func `every end of the bytes can be encoded again`() {
        let bytes = Self.examples.prefix(7).flatMap(\.bytes)
        for end in 0...bytes.count {
            let (found, unfinished) = steps([bytes[..<end]])
            #expect(encode(found, unfinished) == Bytes(bytes[..<end]))
        }
    }

    @Test(arguments: [0, 1, 5, 64])
    func `frames over the limit come in parts however they are cut`(limit: Int) {
        let payload = Bytes(0..<200)
        let key = MaskingKey(rawValue: 0xa1b2_c3d4)
        let bytes = Frame(opcode: .binary, maskingKey: key, payload: payload).encoded()
        for cut in 0...bytes.count {
            let (found, unfinished) = steps([bytes[..<cut], bytes[cut...]], maximumPayload: limit)
            #expect(unfinished == nil)
            var whole = Bytes()
            for (index, step) in found.enumerated() {
                switch step {
                case .header(let header):
                    #expect(index == 0 && header.payloadLength == 200)
                case .payload(let part, let offset, let isLast):
                    #expect(offset == UInt64(whole.count))
                    whole += part
                    #expect(isLast == (whole.count == 200))
                case .frame:
                    Issue.record("not over the limit")
                }
            }
            #expect(whole == payload)
        }
    }

    @Test func `any bytes in any pieces decode, and encode to the same bytes`() {
        for seed in 0..<2000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = random.bytes(Int.random(in: 0...300, using: &random))
            // Most lengths small, so that there are many frames.
            for index in bytes.indices where Bool.random(using: &random) { bytes[index] &= 0x8f }
            var pieces: [ArraySlice<UInt8>] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
                pieces.append(bytes[start..<end])
                start = end
            }
            let limit = Int.random(in: 0...130, using: &random)
            let (found, unfinished) = steps(pieces, maximumPayload: limit)
            #expect(encode(found, unfinished) == bytes, "seed \(seed)")
        }
    }
}

struct MaskingKeyTests {
    @Test func `masking matches the definition at every offset, start and length`() {
        var random = SeededGenerator(seed: 1)
        let key = MaskingKey(rawValue: 0x01a2_3bc4)
        let keyBytes: Bytes = [0x01, 0xa2, 0x3b, 0xc4]
        let source = random.bytes(100)
        for start in 0..<9 {
            for offset in 0..<5 {
                for count in 0..<70 {
                    let end = start + count
                    var expected = Bytes(source[..<end])
                    for index in start..<end {
                        expected[index] ^= keyBytes[(index - start + offset) % 4]
                    }
                    var masked = Bytes(source[..<end])
                    key.apply(to: &masked, from: start, offset: UInt64(offset))
                    #expect(masked == expected)
                    let copy = key.applied(
                        to: source.span.extracting(start..<end), offset: UInt64(offset))
                    #expect(copy == Bytes(expected[start...]))
                }
            }
        }
    }

    @Test func `a start behind the end changes nothing`() {
        var bytes: Bytes = [1, 2]
        MaskingKey(rawValue: 5).apply(to: &bytes, from: 3)
        #expect(bytes == [1, 2])
    }
}

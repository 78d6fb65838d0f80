import Testing

@testable import Wire

struct CloseCodeTests {
    // RFC 6455 §7.4; the sets of the Autobahn cases 7.7 and 7.9.
    @Test func `only registered and free codes are allowed on the wire`() {
        for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 4999] {
            #expect(CloseCode(rawValue: UInt16(code)).isAllowedOnWire, "\(code)")
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
            #expect(!CloseCode(rawValue: UInt16(code)).isAllowedOnWire, "\(code)")
        }
    }

    @Test func `every payload reads and gives its bytes back`() {
        let rows: [(Bytes, ClosePayload, FrameViolation?)] = [
            ([], .empty, nil),
            ([3], .oneByte(3), .closeOfOneByte),
            (hex("03 e8"), .status(.normal, reason: []), nil),
            (hex("03 e8 62 79 65"), ClosePayload(.normal, "bye"), nil),
            (hex("03 ed"), .status(.noStatus, reason: []), .closeCode(.noStatus)),
            (hex("03 e8 ff"), .status(.normal, reason: [0xff]), .closeReasonNotUTF8),
        ]
        for (bytes, payload, violation) in rows {
            #expect(ClosePayload(bytes) == payload)
            #expect(payload.bytes == bytes)
            #expect(payload.violation == violation)
        }
    }

    @Test func `a long reason is cut between characters`() {
        let payload = ClosePayload(.normal, String(repeating: "é", count: 100))
        #expect(payload.bytes.count == 124)
        #expect(payload.violation == nil)
        #expect(payload.reason == String(repeating: "é", count: 61))
    }
}

struct FrameJudgeTests {
    private func judge(
        _ frames: [Frame], sender: WebSocketRole = .server, deflate: Bool = false
    ) -> [[FrameViolation]] {
        var judge = FrameJudge(sender: sender, deflate: deflate)
        return frames.map { judge.judge(.frame($0)) }
    }

    @Test func `what is legal is not remarked on`() {
        let frames = [
            Frame("é", fin: false), Frame("", opcode: .ping), Frame("x", opcode: .continuation),
            Frame("", opcode: .close),
        ]
        #expect(judge(frames) == [[], [], [], []])
        let masked = frames.map { frame in
            var frame = frame
            frame.header.maskingKey = MaskingKey(rawValue: 0)
            return frame
        }
        #expect(judge(masked, sender: .client) == [[], [], [], []])
    }

    @Test func `a character may stand astride the place where a message becomes a long one`() {
        var judge = FrameJudge(sender: .server, deflate: false)
        var assembler = MessageAssembler(deflate: nil, sender: .server, maximumMessage: 2)
        var found: [FrameViolation] = []
        for frame in [
            Frame(fin: false, opcode: .text, payload: [0x61, 0x62, 0xc3]),
            Frame(opcode: .continuation, payload: [0xa9]),
        ] {
            found += judge.judge(.frame(frame))
            assembler.receive(.frame(frame))
            while let output = assembler.next() { found += judge.judge(output) }
        }
        #expect(found.isEmpty)
    }

    @Test func `each rule on frames has its violation`() {
        let long = Bytes(repeating: 0, count: 126)
        let rows: [(Frame, FrameViolation)] = [
            (Frame(rsv: 2, opcode: .text, payload: []), .reservedBits(2, .text)),
            (Frame(rsv: 4, opcode: .text, payload: []), .reservedBits(4, .text)),
            (
                Frame(opcode: Opcode(rawValue: 3), payload: []),
                .reservedOpcode(Opcode(rawValue: 3))
            ),
            (
                Frame(opcode: Opcode(rawValue: 11), payload: []),
                .reservedOpcode(Opcode(rawValue: 11))
            ),
            (Frame("", key: 1), .masked),
            (Frame(opcode: .ping, payload: long), .controlTooLong(.ping, 126)),
            (Frame("", opcode: .pong, fin: false), .controlFragmented(.pong)),
            (Frame("", opcode: .continuation), .strayContinuation),
            (Frame(opcode: .text, payload: [0xc0]), .textNotUTF8),
            (Frame(opcode: .text, payload: [0xe2, 0x82]), .textNotUTF8),
            (Frame(opcode: .close, payload: [1]), .closeOfOneByte),
            (
                Frame(opcode: .close, payload: [0, 0]), .closeCode(CloseCode(rawValue: 0))
            ),
            (Frame(opcode: .close, payload: [3, 0xe8, 0x80]), .closeReasonNotUTF8),
            (
                Frame(
                    header: FrameHeader(opcode: .text, payloadLength: 0, lengthForm: .long),
                    payload: []),
                .lengthNotMinimal(.long, 0)
            ),
        ]
        for (frame, violation) in rows {
            #expect(judge([frame]) == [[violation]])
            #expect(violation.section.hasPrefix("RFC"))
            #expect(violation.text.utf8.count <= ClosePayload.maximumReason)
        }
        #expect(judge([Frame("x")], sender: .client) == [[.unmasked]])
        var judge = FrameJudge(sender: .server, deflate: false)
        let top = FrameHeader(opcode: .binary, payloadLength: 1 << 63)
        #expect(judge.judge(.header(top)) == [.lengthTopBit(1 << 63)])
    }

    @Test func `order within messages is judged`() {
        #expect(
            judge([Frame("a", fin: false), Frame("b"), Frame("c", opcode: .continuation)])
                == [[], [.interruptedMessage(.text)], [.strayContinuation]])
        #expect(
            judge([Frame("", opcode: .close), Frame("late")]) == [[], [.afterClose(.text)]])
    }

    @Test func `UTF-8 is judged across fragments, and told once`() {
        let euro = Bytes("€".utf8)
        let cut = [
            Frame(fin: false, opcode: .text, payload: Bytes(euro[..<1])),
            Frame(opcode: .continuation, payload: Bytes(euro[1...])),
        ]
        #expect(judge(cut) == [[], []])
        let bad = [
            Frame(fin: false, opcode: .text, payload: [0xff]),
            Frame(fin: false, opcode: .continuation, payload: [0xff]),
            Frame(opcode: .continuation, payload: []), Frame("next"),
        ]
        #expect(judge(bad) == [[.textNotUTF8], [], [], []])
    }

    @Test func `RSV1 is legal on the first frame of a compressed message only`() {
        let frames = [
            Frame(fin: false, rsv: 4, opcode: .text, payload: hex("f2 48 cd c9 c9 07 00")),
            Frame(rsv: 4, opcode: .continuation, payload: []),
            Frame(rsv: 4, opcode: .ping, payload: []),
        ]
        #expect(
            judge(frames, deflate: true)
                == [[], [.reservedBits(4, .continuation)], [.reservedBits(4, .ping)]])
    }

    @Test func `compressed text is judged when it is decompressed`() throws {
        let deflater = try #require(Deflater())
        for (content, expected) in [
            (Bytes("€".utf8), []), (Bytes([0xff]), [FrameViolation.textNotUTF8]),
            (Bytes([0xe2]), [.textNotUTF8]),
        ] {
            let frame = Frame(rsv: 4, opcode: .text, payload: deflater.compress(content.span))
            var judge = FrameJudge(sender: .server, deflate: true)
            #expect(judge.judge(.frame(frame)).isEmpty)
            let message = MessageAssembler.Message(
                opcode: .text, content: content, compressed: true)
            #expect(judge.judge(.message(message)) == expected)
        }
    }

    @Test func `compressed text in parts is judged at its end, if it has one`() {
        let rows: [([Bytes], Bool, [FrameViolation])] = [
            ([[0xe2], [0x82, 0xac]], false, []),
            ([[0xe2], [0x82]], false, [.textNotUTF8]),
            ([[0xe2], [0x82]], true, []),
            ([[0xff], [0xff]], true, [.textNotUTF8]),
        ]
        for (parts, incomplete, expected) in rows {
            var judge = FrameJudge(sender: .server, deflate: true)
            var found = judge.judge(.begin(opcode: .text, compressed: true, isOneFrame: false))
            for (index, part) in parts.enumerated() {
                // A frame that interrupts the message comes before its last part.
                if index == 1, incomplete { _ = judge.judge(.frame(Frame("x"))) }
                found += judge.judge(
                    .part(part, offset: UInt64(index), isLast: index + 1 == parts.count))
            }
            found += judge.judge(.end(frames: 1, incomplete: incomplete))
            #expect(found == expected)
        }
    }
}

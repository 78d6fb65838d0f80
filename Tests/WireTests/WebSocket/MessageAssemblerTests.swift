import Testing

@testable import Wire

/// What an assembler makes of frames.
private func outputs(
    _ frames: [Frame], deflate: PerMessageDeflate? = nil, limit: Int = 1 << 20,
    finish: Bool = true
) -> [MessageAssembler.Output] {
    var assembler = MessageAssembler(deflate: deflate, sender: .server, maximumMessage: limit)
    var found: [MessageAssembler.Output] = []
    for frame in frames {
        assembler.receive(.frame(frame))
        while let output = assembler.next() { found.append(output) }
    }
    if finish {
        assembler.finish()
        while let output = assembler.next() { found.append(output) }
        #expect(assembler.isIdle)
    }
    return found
}

private func compressed(
    _ bytes: String, opcode: Opcode = .text, fin: Bool = true, rsv: UInt8 = 4
) -> Frame {
    Frame(fin: fin, rsv: rsv, opcode: opcode, payload: hex(bytes))
}

private func message(
    _ text: String, frames: Int = 1, compressed: Bool = false, incomplete: Bool = false
) -> MessageAssembler.Output {
    .message(
        .init(
            opcode: .text, content: Bytes(text.utf8), frames: frames, compressed: compressed,
            incomplete: incomplete))
}

struct MessageAssemblerTests {
    private static let takeover = PerMessageDeflate()
    private static let noTakeover = PerMessageDeflate(
        serverNoContextTakeover: true, clientNoContextTakeover: true)

    @Test func `a message of one frame is its frame`() {
        let found = outputs([Frame("Hello")])
        #expect(found == [message("Hello")])
        guard case .message(let message) = found.first else { return }
        #expect(message.isItsFrame)
    }

    @Test func `fragments make one message, with control frames between`() {
        let found = outputs([
            Frame("Hel", fin: false), Frame("x", opcode: .ping), Frame("lo", opcode: .continuation),
            Frame("bye", opcode: .close),
        ])
        #expect(found == [message("Hello", frames: 2)])
    }

    @Test func `an empty last fragment counts as a frame`() {
        let found = outputs([Frame("Hello", fin: false), Frame("", opcode: .continuation)])
        #expect(found == [message("Hello", frames: 2)])
    }

    @Test func `a stray continuation and an interrupted message are told`() {
        let found = outputs([
            Frame("lost", opcode: .continuation), Frame("cut", fin: false), Frame("whole"),
            Frame("end", fin: false),
        ])
        #expect(
            found == [
                .strayContinuation, message("cut", incomplete: true), message("whole"),
                message("end", incomplete: true),
            ])
    }

    @Test func `an unfinished frame ends its message`() {
        var assembler = MessageAssembler(deflate: nil, sender: .client)
        assembler.receive(.frame(Frame("Hel", fin: false)))
        #expect(assembler.next() == nil)
        let header = FrameHeader(opcode: .continuation, payloadLength: 5)
        assembler.finish(.payload(header, Bytes("lo".utf8)))
        #expect(assembler.next() == message("Hello", frames: 2, incomplete: true))
        #expect(assembler.next() == nil)
    }

    // RFC 7692 §7.2.3.
    @Test(arguments: [
        ("f2 48 cd c9 c9 07 00", "§7.2.3.1"),
        ("00 05 00 fa ff 48 65 6c 6c 6f 00", "§7.2.3.3, no compression"),
        ("f3 48 cd c9 c9 07 00 00", "§7.2.3.4, a final block"),
        ("f2 48 05 00 00 00 ff ff ca c9 c9 07 00", "§7.2.3.5, two blocks"),
        ("f3 48 cd c9 c9 07 00", "a final block and nothing behind it"),
    ])
    func `the RFC's compressed messages are read`(bytes: String, section: String) {
        for parameters in [Self.takeover, Self.noTakeover] {
            let found = outputs(
                [compressed(bytes), compressed(bytes)], deflate: parameters)
            let expected = message("Hello", compressed: true)
            #expect(found == [expected, expected], "\(section)")
        }
    }

    @Test func `a compressed message may be cut into frames anywhere`() {
        let bytes = hex("f2 48 cd c9 c9 07 00")
        for cut in 0...bytes.count {
            let found = outputs(
                [
                    Frame(fin: false, rsv: 4, opcode: .text, payload: Bytes(bytes[..<cut])),
                    Frame("", opcode: .ping),
                    Frame(opcode: .continuation, payload: Bytes(bytes[cut...])),
                ], deflate: Self.takeover)
            #expect(found == [message("Hello", frames: 2, compressed: true)])
        }
    }

    // RFC 7692 §7.2.3.2: the second message refers to the first.
    @Test func `context takeover reads a message that refers to an earlier one`() {
        let frames = [compressed("f2 48 cd c9 c9 07 00"), compressed("f2 00 11 00 00")]
        let expected = message("Hello", compressed: true)
        #expect(outputs(frames, deflate: Self.takeover) == [expected, expected])
        let apart = outputs(frames, deflate: Self.noTakeover)
        #expect(apart.first == expected)
        guard case .notInflatable = apart.last else {
            Issue.record("there is nothing to refer to: \(apart)")
            return
        }
    }

    @Test func `a final block does not make later messages lose their context`() {
        let frames = [
            compressed("f3 48 cd c9 c9 07 00 00"), compressed("f2 00 11 00 00"),
        ]
        let expected = message("Hello", compressed: true)
        #expect(outputs(frames, deflate: Self.takeover) == [expected, expected])
    }

    @Test func `an empty compressed message is one byte`() {
        #expect(
            outputs([compressed("00")], deflate: Self.takeover) == [message("", compressed: true)])
    }

    @Test func `compression that was not agreed on is not read`() {
        #expect(
            outputs([compressed("f2 48 cd c9 c9 07 00"), Frame("plain")]) == [
                .notInflatable(opcode: .text, why: "compression was not agreed on"),
                message("plain"),
            ])
    }

    @Test func `bad data spoils its message only, without context takeover`() {
        let frames = [
            compressed("ff ff ff", fin: false), Frame("more", opcode: .continuation, fin: false),
            Frame("", opcode: .continuation), compressed("f2 48 cd c9 c9 07 00"),
        ]
        let apart = outputs(frames, deflate: Self.noTakeover)
        #expect(apart.count == 2)
        #expect(apart.last == message("Hello", compressed: true))
        let together = outputs(frames + [Frame("plain")], deflate: Self.takeover)
        #expect(together.count == 3)
        guard case .notInflatable = together[1] else {
            Issue.record("its context is lost")
            return
        }
        #expect(together.last == message("plain"))
    }

    @Test func `data that ends within a block is not taken for a whole message`() {
        let found = outputs([compressed("f2 48 cd")], deflate: Self.noTakeover)
        guard case .notInflatable = found.first else {
            Issue.record("\(found)")
            return
        }
    }

    @Test func `lost bytes spoil the context but not what is plain`() {
        var assembler = MessageAssembler(deflate: Self.takeover, sender: .server)
        assembler.receive(.frame(compressed("f2 48 cd", fin: false)))
        #expect(assembler.next() == nil)
        assembler.lose()
        #expect(assembler.next() == message("He", compressed: true, incomplete: true))
        #expect(assembler.next() == nil)
        assembler.receive(.frame(compressed("f2 48 cd c9 c9 07 00")))
        guard case .notInflatable = assembler.next() else {
            Issue.record("it may refer to what was lost")
            return
        }
        assembler.receive(.frame(Frame("plain")))
        #expect(assembler.next() == message("plain"))
    }

    @Test func `parts of a long message have the same size however it was cut`() {
        let content = Bytes((0..<1000).map { UInt8($0 & 0xff) })
        var random = SeededGenerator(seed: 3)
        for size in [1, 99, 100, 101, 333, 1000] {
            var frames: [Frame] = []
            var start = 0
            while start < content.count {
                let end = min(content.count, start + size)
                frames.append(
                    Frame(
                        fin: end == content.count, opcode: start == 0 ? .binary : .continuation,
                        payload: Bytes(content[start..<end])))
                start = end
            }
            let plain = outputs(frames, limit: 100)
            #expect(
                plain.first
                    == .begin(opcode: .binary, compressed: false, isOneFrame: frames.count == 1))
            check(plain, content, frames: frames.count)
        }
        for _ in 0..<20 {
            guard let deflater = Deflater() else { return }
            let payload = deflater.compress(content.span)
            let cut = Int.random(in: 0...payload.count, using: &random)
            let frames = [
                Frame(fin: false, rsv: 4, opcode: .binary, payload: Bytes(payload[..<cut])),
                Frame(opcode: .continuation, payload: Bytes(payload[cut...])),
            ]
            let found = outputs(frames, deflate: Self.takeover, limit: 100)
            #expect(
                found.first == .begin(opcode: .binary, compressed: true, isOneFrame: false))
            check(found, content, frames: 2)
        }
    }

    private func check(_ found: [MessageAssembler.Output], _ content: Bytes, frames: Int) {
        var whole = Bytes()
        for output in found.dropFirst().dropLast() {
            guard case .part(let part, let offset, let isLast) = output else {
                Issue.record("only parts stand between begin and end: \(output)")
                return
            }
            #expect(offset == UInt64(whole.count))
            #expect(part.count == 100)
            whole += part
            #expect(isLast == (whole.count == content.count))
        }
        #expect(whole == content)
        #expect(found.last == .end(frames: frames, incomplete: false))
    }

    @Test func `a message of exactly the limit comes whole`() {
        let content = Bytes(repeating: 1, count: 100)
        let frame = Frame(opcode: .binary, payload: content)
        #expect(
            outputs([frame], limit: 100) == [.message(.init(opcode: .binary, content: content))])
    }

    @Test func `a small frame that inflates to 64 MiB never holds more than a part`() throws {
        let deflater = try #require(Deflater())
        var payload = Bytes()
        let zeros = Bytes(repeating: 0, count: 1 << 20)
        for round in 1...64 {
            deflater.compress(zeros.span, isLast: round == 64, into: &payload)
        }
        #expect(payload.count < 1 << 17)
        var assembler = MessageAssembler(
            deflate: Self.takeover, sender: .server, maximumMessage: 1 << 16)
        assembler.receive(.frame(Frame(rsv: 4, opcode: .binary, payload: payload)))
        var total = 0
        while let output = assembler.next() {
            guard case .part(let part, _, _) = output else { continue }
            #expect(part.count <= 1 << 16)
            total += part.count
        }
        #expect(total == 64 << 20)
    }
}

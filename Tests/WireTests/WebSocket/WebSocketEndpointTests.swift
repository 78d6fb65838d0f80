import Testing

@testable import Wire

private typealias Action = WebSocketEndpoint.Action
private typealias Closing = WebSocketEndpoint.Closing

private func endpoint(
    _ role: WebSocketRole = .server, deflate: PerMessageDeflate? = nil,
    _ change: (inout WebSocketEndpoint.Options) -> Void = { _ in }
) -> WebSocketEndpoint {
    var options = WebSocketEndpoint.Options(role: role, deflate: deflate)
    change(&options)
    var keys = SeededGenerator(seed: 4)
    return WebSocketEndpoint(options) {
        MaskingKey(rawValue: UInt32.random(in: 0 ... .max, using: &keys))
    }
}

/// The frames in what is sent.
private func frames(_ actions: [Action]) -> [Frame] {
    var bytes = Bytes()
    for case .send(let part) in actions { bytes += part }
    return steps([bytes[...]]).0.compactMap { step in
        if case .frame(let frame) = step { frame } else { nil }
    }
}

/// Bytes of a client's frames.
private func client(_ frames: Frame...) -> Bytes {
    frames.flatMap { frame in
        var frame = frame
        frame.header.maskingKey = MaskingKey(rawValue: 0x0102_0304)
        return frame.encoded()
    }
}

private func receive(_ endpoint: inout WebSocketEndpoint, _ bytes: Bytes) -> [Action] {
    endpoint.receive(bytes.span, now: 1000)
}

struct WebSocketEndpointTests {
    private static let board = PerMessageDeflate(
        serverNoContextTakeover: true, clientNoContextTakeover: true)

    @Test func `messages and pings are taken, pings answered between fragments`() {
        var server = endpoint()
        let actions = receive(
            &server,
            client(
                Frame("Hel", fin: false), Frame("?", opcode: .ping), Frame("!", opcode: .pong),
                Frame("lo", opcode: .continuation), Frame("", opcode: .binary)))
        #expect(
            actions == [
                .send(Frame("?", opcode: .pong).encoded()), .ping(Bytes("?".utf8)),
                .pong(Bytes("!".utf8)), .message(.text, Bytes("Hello".utf8)), .message(.binary, []),
            ])
        #expect(server.isOpen && server.deadline == nil)
    }

    @Test func `bytes in any pieces do the same`() {
        let bytes = client(
            Frame("é€", fin: false), Frame("ping", opcode: .ping),
            Frame("end", opcode: .continuation),
            Frame(opcode: .close, payload: ClosePayload(.normal, "bye").bytes))
        var whole = endpoint()
        let expected = receive(&whole, bytes)
        #expect(expected.count == 6)
        for cut in 0...bytes.count {
            var server = endpoint()
            let actions =
                receive(&server, Bytes(bytes[..<cut])) + receive(&server, Bytes(bytes[cut...]))
            #expect(actions == expected)
        }
    }

    @Test func `one by one, a step is taken at a time`() {
        var server = endpoint()
        let bytes = client(Frame("a"), Frame("b"))
        var position = 0
        #expect(
            server.receive(bytes.span, at: &position, now: 0) == [.message(.text, Bytes("a".utf8))])
        #expect(position == bytes.count / 2)
        #expect(
            server.receive(bytes.span, at: &position, now: 0) == [.message(.text, Bytes("b".utf8))])
        #expect(server.receive(bytes.span, at: &position, now: 0) == [])
    }

    // Autobahn 3.2: the first message is echoed, though what is wrong came in the same read.
    @Test func `a message can be answered before the failure that stands behind it`() {
        var server = endpoint()
        let bytes = client(Frame("good"), Frame(rsv: 2, opcode: .text, payload: []))
        var position = 0
        #expect(
            server.receive(bytes.span, at: &position, now: 0)
                == [.message(.text, Bytes("good".utf8))])
        #expect(frames(server.send(.text, Bytes("good".utf8))) == [Frame("good")])
        #expect(
            frames(server.receive(bytes.span, at: &position, now: 0)).map(\.header.opcode)
                == [.close])
    }

    @Test func `the peer's close is echoed, and the server ends TCP`() {
        for payload in [
            .empty, ClosePayload(.normal), ClosePayload(.goingAway, "app closing"),
            ClosePayload(CloseCode(rawValue: 4999), "再见"),
        ] {
            let close = Frame(opcode: .close, payload: payload.bytes)
            var server = endpoint()
            #expect(
                receive(&server, client(close, Frame("late"))) == [
                    .send(close.encoded()), .closed(Closing(.peer, payload)), .shutdown,
                ])
            #expect(!server.isOpen)
            #expect(server.send(.text, []) == [])
            #expect(receive(&server, client(Frame("late"))) == [])
            #expect(server.peerClosed() == [.drop])
            #expect(server.peerClosed() == [])
        }
    }

    @Test func `a client waits for the server to end TCP, but not for ever`() {
        var app = endpoint(.client)
        let close = Frame(opcode: .close, payload: ClosePayload(.goingAway, "new connection").bytes)
        let actions = receive(&app, close.encoded())
        #expect(actions.count == 2)
        #expect(frames(actions).first?.payload == close.payload)
        #expect(frames(actions).first?.header.maskingKey != nil)
        #expect(app.deadline == 5_000_001_000)
        #expect(app.deadlineReached(now: 5_000_000_999) == [])
        #expect(app.deadlineReached(now: 5_000_001_000) == [.drop])
        #expect(app.deadline == nil)
    }

    @Test func `an own close waits for the peer's, and messages still come`() {
        var server = endpoint()
        let sent = server.close(.goingAway, "heartbeat timeout", now: 7)
        #expect(
            frames(sent).map(\.payload) == [ClosePayload(.goingAway, "heartbeat timeout").bytes])
        #expect(server.close(.normal, now: 8) == [])
        #expect(server.ping() == [])
        let answer = ClosePayload(.goingAway)
        #expect(
            receive(
                &server,
                client(
                    Frame("late"), Frame("", opcode: .ping),
                    Frame(opcode: .close, payload: answer.bytes)))
                == [
                    .message(.text, Bytes("late".utf8)), .ping([]), .closed(Closing(.own, answer)),
                    .shutdown,
                ])
    }

    @Test func `a close that nobody answers ends in time`() {
        var server = endpoint { $0.closeTimeout = 10 }
        _ = server.close(nil, now: 5)
        #expect(server.deadline == 15)
        #expect(server.deadlineReached(now: 15) == [.closed(Closing(.timeout, .empty)), .drop])
    }

    @Test func `TCP that ends without a close frame is a lost connection`() {
        var server = endpoint()
        #expect(server.peerClosed() == [.closed(Closing(.lost, .empty)), .drop])
        #expect(server.send(.text, []) == [])
    }

    @Test func `each broken rule fails the connection with its code`() {
        let long = Bytes(repeating: 0, count: 126)
        let rows: [(Bytes, FrameViolation)] = [
            (client(Frame(rsv: 1, opcode: .text, payload: [])), .reservedBits(1, .text)),
            (client(Frame(rsv: 4, opcode: .text, payload: [])), .reservedBits(4, .text)),
            (
                client(Frame("", opcode: Opcode(rawValue: 5))),
                .reservedOpcode(Opcode(rawValue: 5))
            ),
            (Frame("x").encoded(), .unmasked),
            (client(Frame(opcode: .ping, payload: long)), .controlTooLong(.ping, 126)),
            (client(Frame("", opcode: .ping, fin: false)), .controlFragmented(.ping)),
            (client(Frame("", opcode: .continuation)), .strayContinuation),
            (client(Frame("", fin: false), Frame("")), .interruptedMessage(.text)),
            (client(Frame(opcode: .text, payload: [0xc3])), .textNotUTF8),
            (client(Frame(opcode: .close, payload: [1])), .closeOfOneByte),
            (
                client(Frame(opcode: .close, payload: hex("03 ec"))),
                .closeCode(CloseCode(rawValue: 1004))
            ),
            (client(Frame(opcode: .close, payload: hex("03 e8 ce"))), .closeReasonNotUTF8),
            (hex("81 fe 00 01 00 00 00 00 78"), .lengthNotMinimal(.medium, 1)),
        ]
        for (bytes, violation) in rows {
            var server = endpoint()
            let payload = ClosePayload(violation.closeCode, violation.text)
            #expect(
                receive(&server, bytes + client(Frame("late"))) == [
                    .send(Frame(opcode: .close, payload: payload.bytes).encoded()),
                    .closed(Closing(.failure(.violation(violation)), payload)), .shutdown,
                ])
        }
        var app = endpoint(.client)
        #expect(
            receive(&app, Frame("x", key: 1).encoded()).contains(
                .closed(
                    Closing(
                        .failure(.violation(.masked)),
                        ClosePayload(.protocolError, FrameViolation.masked.text)))))
    }

    // Autobahn 6.4: the connection fails at the byte, not at the end of the frame.
    @Test func `invalid UTF-8 fails the connection before its frame is complete`() {
        let good = Bytes("κόσμε".utf8)
        let text = good + [0xf4, 0x90, 0x80, 0x80] + Bytes("edited".utf8)
        let bytes = client(Frame(opcode: .text, payload: text))
        let bad = 6 + good.count + 2  // header, text, and the second byte of the bad sequence
        var server = endpoint()
        #expect(receive(&server, Bytes(bytes[..<(bad - 1)])) == [])
        #expect(receive(&server, Bytes(bytes[(bad - 1)..<bad])).count == 3)
    }

    @Test func `the read limit is the board's, plain and compressed`() throws {
        let deflater = try #require(Deflater(contextTakeover: false))
        for size in [32768, 32769, 10_000_000] {
            let content = Bytes(repeating: 0x20, count: size)
            let plain = Frame(opcode: .text, payload: content)
            let packed = Frame(rsv: 4, opcode: .text, payload: deflater.compress(content.span))
            for frame in [plain, packed] {
                var server = endpoint(deflate: Self.board)
                let actions = receive(&server, client(frame))
                if size == 32768 {
                    #expect(actions == [.message(.text, content)])
                } else {
                    let payload = ClosePayload(.messageTooBig, "read limited at 32769 bytes")
                    #expect(
                        actions.contains(
                            .closed(Closing(.failure(.messageTooBig(limit: 32768)), payload))))
                    #expect(frames(actions).map(\.payload) == [payload.bytes])
                }
            }
        }
    }

    @Test func `bad compressed data fails the connection with 1007`() {
        var server = endpoint(deflate: Self.board)
        let actions = receive(&server, client(Frame(rsv: 4, opcode: .text, payload: [0xff])))
        #expect(frames(actions).first.map { ClosePayload($0.payload).code } == .invalidData)
    }

    @Test func `frames are cut like the board's`() throws {
        let small = Bytes(repeating: 0x61, count: 511)
        let large = Bytes(repeating: 0x61, count: 512)
        var plain = endpoint { $0.framing = .board }
        #expect(
            plain.send(.text, large) == [.send(Frame(opcode: .text, payload: large).encoded())])
        var server = endpoint(deflate: Self.board) { $0.framing = .board }
        #expect(
            frames(server.send(.text, small)) == [
                Frame(fin: false, opcode: .text, payload: small),
                Frame("", opcode: .continuation),
            ])
        let cut = frames(server.send(.text, large))
        let deflater = try #require(Deflater(contextTakeover: false))
        let packed = deflater.compress(large.span)
        #expect(cut.count == 3)
        #expect(cut.map(\.header.fin) == [false, false, true])
        #expect(cut.map(\.header.rsv) == [4, 0, 0])
        #expect(cut.map(\.header.opcode) == [.text, .continuation, .continuation])
        #expect(cut.map(\.payload.count) == [packed.count - 4, 4, 0])
        #expect(cut.flatMap(\.payload) == packed)
    }

    @Test func `two endpoints understand each other in every mode`() {
        let agreements: [PerMessageDeflate?] = [
            nil, PerMessageDeflate(), Self.board,
            PerMessageDeflate(serverMaxWindowBits: 9, clientMaxWindowBits: 8),
        ]
        let framings: [MessageWriter.Framing] = [
            .whole, .board, .fragments(of: 1), .fragments(of: 100),
        ]
        var random = SeededGenerator(seed: 11)
        for agreement in agreements {
            for framing in framings {
                for sender in WebSocketRole.allCases {
                    var from = endpoint(sender, deflate: agreement) {
                        $0.framing = framing
                        $0.compressionThreshold = 20
                    }
                    var to = endpoint(sender.peer, deflate: agreement)
                    var decoder = FrameDecoder()
                    var assembler = MessageAssembler(deflate: agreement, sender: sender)
                    var judge = FrameJudge(sender: sender, deflate: agreement != nil)
                    for _ in 0..<8 {
                        let count = Int.random(in: 0...300, using: &random)
                        let text = String(repeating: "aé", count: count)
                        let message = Bytes(text.utf8)
                        var found: [Action] = []
                        for case .send(let bytes) in from.send(.text, message) {
                            found += receive(&to, bytes)
                            // Somebody who reads along gets the same, and nothing to remark.
                            var position = 0
                            while let step = decoder.next(bytes.span, at: &position) {
                                #expect(judge.judge(step).isEmpty)
                                assembler.receive(step)
                                while let output = assembler.next() {
                                    #expect(judge.judge(output).isEmpty)
                                    if case .message(let whole) = output {
                                        found.append(.message(whole.opcode, whole.content))
                                    }
                                }
                            }
                        }
                        #expect(
                            found == [.message(.text, message), .message(.text, message)])
                    }
                    for case .send(let bytes) in from.close(.normal, now: 0) {
                        for case .send(let answer) in receive(&to, bytes) {
                            #expect(
                                receive(&from, answer).first
                                    == .closed(Closing(.own, ClosePayload(.normal))))
                        }
                    }
                    #expect(!from.isOpen && !to.isOpen)
                }
            }
        }
    }

    @Test func `no bytes make an endpoint fall over`() {
        for seed in 0..<3000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var server = endpoint(deflate: seed % 2 == 0 ? Self.board : nil)
            var bytes = random.bytes(200)
            for index in bytes.indices where Int.random(in: 0..<3, using: &random) == 0 {
                bytes[index] =
                    [0x81, 0x80, 0xc1, 0x89, 0x88, 0x01].randomElement(using: &random) ?? 0
            }
            let actions = receive(&server, bytes)
            let closings = actions.filter { if case .closed = $0 { true } else { false } }
            #expect(closings.count == (server.isOpen ? 0 : 1), "seed \(seed)")
        }
    }
}

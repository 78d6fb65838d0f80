import Capture
import ExampleSessions
import PhoneBridge
import Replay
import Testing
import Wire

@Suite struct ReplayScriptTests {
    private static func waits(_ script: ReplayScript) -> [String] {
        script.steps.compactMap(\.wait?.why)
    }

    @Test func `a late answer keeps its latency, from its command on`() throws {
        let script = ReplayScript.app(try Captures.session("errors"), canStimulate: true)
        let late = try #require(
            script.steps.first {
                if case .answer(let command, _, _) = $0.kind {
                    script.commands[command].id == "e7"
                } else {
                    false
                }
            })
        let wait = try #require(late.wait)
        guard case .arrival(let command) = script.steps[wait.after].kind else {
            Issue.record("it does not count from the command")
            return
        }
        #expect(script.commands[command].id == "e7")
        #expect((3990...4010).contains(wait.duration / 1_000_000))
        #expect(late.needs != .everythingBefore)
    }

    @Test func `a phone that was silent stays silent, and the rest shrinks`() throws {
        let script = ReplayScript.app(try Captures.session("silence"), canStimulate: true)
        #expect(
            Set(Self.waits(script)) == ["a connection that was silent stays silent"],
            "\(Self.waits(script))")
        #expect(
            Self.waits(ReplayScript.app(try Captures.session("all-commands"), canStimulate: true))
                .isEmpty)
    }

    @Test func `a command that the queue hands out again comes after its time`() throws {
        let script = ReplayScript.app(try Captures.session("redelivery"), canStimulate: true)
        let waits = Self.waits(script)
        #expect(waits.contains("the queue hands a command out again once its time is over"))
    }

    @Test func `two steps that may overtake each other keep a part of their time`() throws {
        let script = ReplayScript.app(try Captures.session("silence"), canStimulate: true)
        // Questions for the status behind an event, and one behind a new connection.
        let questions = script.steps.filter {
            if case .request(let exchange) = $0.kind {
                script.exchanges[exchange].request.target.hasSuffix("/status")
            } else {
                false
            }
        }
        #expect(
            questions.map { $0.spacing?.duration } == [100_000_000, 100_000_000, nil, 100_000_000])
    }

    @Test func `a result waits for the response to the one before it on its connection`() throws {
        let script = ReplayScript.app(try Captures.session("queue-limit"), canStimulate: true)
        let posts = script.steps.indices.filter {
            if case .post(_, let command) = script.steps[$0].kind {
                script.commands[command].id == "m1"
            } else {
                false
            }
        }
        #expect(posts.count == 2)
        guard let last = posts.last, case .cause(_, let behind?) = script.steps[last].needs,
            case .response = script.steps[behind].kind
        else {
            Issue.record("the second result may overtake the first")
            return
        }
        #expect(behind > posts[0])
    }

    @Test func `an app that spoke on behind a close does so again, and ends it itself`() throws {
        let script = ReplayScript.app(try Captures.session("late-words"), canStimulate: true)
        #expect(script.links.map(\.isReadLate) == [true, false, false])
        let onFirst = script.steps.compactMap { step -> String? in
            switch step.kind {
            case .send(0, _, _): "send"
            case .end(0, _): "end"
            case .ended(0): "ended"
            default: nil
            }
        }
        // Its two events as it connects, and the late words.
        #expect(onFirst == ["send", "send", "send", "end", "ended"])
        // A connection whose close is answered at once is read as ever.
        let replaced = ReplayScript.app(try Captures.session("replaced"), canStimulate: true)
        #expect(replaced.links.allSatisfy { !$0.isReadLate })
    }

    @Test func `without a stimulus nothing waits for what the board sent on its own`() throws {
        let session = try Captures.session("all-commands")
        for canStimulate in [true, false] {
            let script = ReplayScript.app(session, canStimulate: canStimulate)
            let arrivals = script.steps.filter {
                if case .arrival = $0.kind { true } else { false }
            }
            #expect(!arrivals.isEmpty)
            #expect(arrivals.allSatisfy { $0.holdsOthers == canStimulate })
        }
    }

    @Test func `the board's script brings the app into the states that it was in`() throws {
        let states = { (name: String) -> [String] in
            ReplayScript.board(try Captures.session(name)).steps.compactMap {
                if case .state(let word) = $0.kind { word } else { nil }
            }
        }
        #expect(try states("all-commands").isEmpty)
        let pip = try states("pip-queue")
        #expect(pip == ["background pip", "active"])
        #expect(try states("fgs-queue") == ["background fgs", "active"])
        #expect(
            try states("errors") == [
                "contacts=denied", "notifications=pending", "notifications=granted",
            ])
    }

    @Test func `what a session needs of the phone is told by name`() throws {
        let script = ReplayScript.board(try Captures.session("errors"))
        let needs = script.preconditions.map { "\(script.commands[$0.command].id) \($0.text)" }
        #expect(
            needs == [
                "e4 the recorded phone had denied contacts",
                "e6 the recorded phone had denied contacts",
                "e7 on the recorded phone a prompt for notifications was open",
            ])
    }

    @Test func `values that flow are found where the contract says so`() throws {
        let script = ReplayScript.board(try Captures.session("all-commands"))
        let links = ValueLinks.find(in: script)
        #expect(
            links == [
                ValueLink(
                    name: "event_id", bornText: "ios_event_1", born: "calendar_create c5",
                    uses: ["calendar_delete c7"]),
                ValueLink(
                    name: "contact_id", bornText: "ios_contact_2", born: "contacts_create c9",
                    uses: ["contacts_update c10"]),
            ])
    }

    @Test func `the end of the recording is not taken for the app's end of the connection`() throws
    {
        let script = ReplayScript.board(try Captures.session("all-commands"))
        #expect(script.links.map(\.hasEnd) == [false])
        let app = ReplayScript.app(try Captures.session("all-commands"), canStimulate: true)
        #expect(app.links.map(\.hasEnd) == [true])
    }

    // MARK: What is not as it should be

    /// A session of one WebSocket connection, which is number 1, and of what a test adds.
    private static func session(
        _ events: [Event], isDeflated: Bool = false
    ) throws -> RecordedSession {
        var session = RecordedSession()
        let extensions = isDeflated ? ["permessage-deflate"] : []
        let opening: [Event] = [
            Event(
                time: 0, conn: 1, from: .app,
                kind: .request(
                    Event.Request(
                        exchange: 1, method: "GET", target: "/api/phone-bridge?platform=ios",
                        headers: [FieldLine("Upgrade", "websocket")]))),
            Event(
                time: 1, conn: 1, from: .board,
                kind: .response(
                    Event.Response(
                        exchange: 1, status: 101, reason: "",
                        headers: extensions.map { FieldLine("Sec-WebSocket-Extensions", $0) }))),
        ]
        for (index, event) in (opening + events).enumerated() {
            var event = event
            event.seq = index + 1
            try session.receive(event)
        }
        return session
    }

    private static func frame(_ header: FrameHeader, _ payload: Bytes, from side: Side = .app)
        -> Event
    {
        Event(
            time: 2, conn: 1, from: side,
            kind: .frame(Event.FrameRecord(header: header, content: .whole(payload))))
    }

    private static let broken: [(header: FrameHeader, wire: Bytes)] = [
        // A reserved bit.
        (
            FrameHeader(
                rsv: 2, opcode: .text, maskingKey: MaskingKey(rawValue: 0), payloadLength: 2),
            [0xa1, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]
        ),
        // A longer length than needed, and no mask.
        (
            FrameHeader(opcode: .text, payloadLength: 2, lengthForm: .medium),
            [0x81, 126, 0, 2, 0x7b, 0x7d]
        ),
        // A reserved opcode.
        (
            FrameHeader(
                opcode: Opcode(rawValue: 3), maskingKey: MaskingKey(rawValue: 0x0102_0304),
                payloadLength: 2), [0x83, 0x82, 1, 2, 3, 4, 0x7a, 0x7f]
        ),
    ]

    @Test(arguments: broken)
    func `a broken frame of the app is played to the byte`(header: FrameHeader, wire: Bytes) throws
    {
        let session = try Self.session([Self.frame(header, Bytes("{}".utf8))])
        let script = ReplayScript.app(session, canStimulate: true)
        guard case .frame(0, let bytes)? = script.steps.last?.kind else {
            Issue.record("\(script.steps.map(\.kind))")
            return
        }
        #expect(bytes == wire)
        #expect(script.unplayable.isEmpty)
    }

    /// The bytes of all broken frames that a script sends.
    private static func raw(_ script: ReplayScript) -> [Bytes] {
        script.steps.compactMap { if case .frame(_, let bytes) = $0.kind { bytes } else { nil } }
    }

    @Test func `all parts of a message are played to the byte where one of them is broken`() throws
    {
        let key = MaskingKey(rawValue: 0)
        for brokenPart in 0..<3 {
            let parts = (0..<3).map { number in
                FrameHeader(
                    fin: number == 2, rsv: number == brokenPart ? 2 : 0,
                    opcode: number == 0 ? .text : .continuation, maskingKey: key,
                    payloadLength: 1)
            }
            var events = parts.map { Self.frame($0, [0x20]) }
            events.insert(
                Self.frame(FrameHeader(opcode: .ping, maskingKey: key, payloadLength: 0), []),
                at: 1)
            events.append(
                Event(
                    time: 2, conn: 1, from: .app,
                    kind: .message(
                        Event.Message(
                            opcode: .text, content: .whole(Bytes(repeating: 0x20, count: 3)),
                            frames: 3, compressed: false))))
            let script = ReplayScript.app(try Self.session(events), canStimulate: true)
            #expect(script.unplayable.isEmpty)
            #expect(
                Self.raw(script)
                    == parts.map { Frame(header: $0, payload: [0x20]).encoded() })
            // The ping between them stays there.
            #expect(script.steps.map(\.seq).suffix(4) == [3, 4, 5, 6])
        }
    }

    @Test func `a message in good parts is played whole, and its parts take no room`() throws {
        let key = MaskingKey(rawValue: 0)
        let events = [
            Self.frame(
                FrameHeader(fin: false, opcode: .text, maskingKey: key, payloadLength: 1), [0x7b]),
            Self.frame(
                FrameHeader(opcode: .continuation, maskingKey: key, payloadLength: 1), [0x7d]),
            Event(
                time: 2, conn: 1, from: .app,
                kind: .message(
                    Event.Message(
                        opcode: .text, content: .whole(Bytes("{}".utf8)), frames: 2,
                        compressed: false))),
        ]
        let session = try Self.session(events)
        #expect(session.size == 2)
        let script = ReplayScript.app(session, canStimulate: true)
        #expect(Self.raw(script).isEmpty)
        guard case .send(0, .text, let content)? = script.steps.last?.kind else {
            Issue.record("\(script.steps.map(\.kind))")
            return
        }
        #expect(content == Bytes("{}".utf8))
    }

    @Test func `a message whose end may be among missing bytes is named, and not begun`() throws {
        let key = MaskingKey(rawValue: 0)
        let begun = [
            Self.frame(
                FrameHeader(fin: false, opcode: .text, maskingKey: key, payloadLength: 1), [0x7b]),
            Event(
                time: 2, conn: 1, from: .app,
                kind: .message(
                    Event.Message(
                        opcode: .text, content: .whole([0x7b]), frames: 1, compressed: false,
                        incomplete: true))),
        ]
        let endless = ReplayScript.app(try Self.session(begun), canStimulate: true)
        #expect(Self.raw(endless) == [[0x01, 0x81, 0, 0, 0, 0, 0x7b]])
        let gap = Event(
            time: 3, conn: 1, from: .app,
            kind: .gap(Event.Gap(length: 10, why: "missing_packets")))
        // What goes on behind the gap is not known to be broken.
        let rest = Self.frame(
            FrameHeader(opcode: .continuation, maskingKey: key, payloadLength: 1), [0x7d])
        let torn = ReplayScript.app(try Self.session(begun + [gap, rest]), canStimulate: true)
        #expect(Self.raw(torn).isEmpty)
        #expect(
            torn.unplayable.map(\.why) == [
                "a message that is cut", "bytes that are not in the file: missing_packets",
            ])
    }

    @Test func `a compressed message that cannot be read goes out as it came`() throws {
        let events = [
            Self.frame(
                FrameHeader(rsv: 4, opcode: .text, payloadLength: 2), [0xff, 0xff], from: .board),
            Event(
                time: 2, conn: 1, from: .board,
                kind: .note(Event.Note(code: "not_inflated", text: "it stays as it is"))),
        ]
        let script = ReplayScript.board(try Self.session(events, isDeflated: true))
        #expect(Self.raw(script) == [[0xc1, 2, 0xff, 0xff]])
    }

    @Test func `a command in a broken frame is sent by it, and its answer is waited for`() throws {
        let content = Bytes(#"{"id":"c1","type":"clipboard_read","payload":{}}"#.utf8)
        let masked = FrameHeader(
            opcode: .text, maskingKey: MaskingKey(rawValue: 0),
            payloadLength: UInt64(content.count))
        let answer = Bytes(#"{"id":"c1","data":{"text":""}}"#.utf8)
        let script = ReplayScript.board(
            try Self.session([
                Self.frame(masked, content, from: .board),
                Self.frame(
                    FrameHeader(
                        opcode: .text, maskingKey: MaskingKey(rawValue: 0),
                        payloadLength: UInt64(answer.count)), answer),
            ]))
        #expect(script.commands.map(\.id) == ["c1"])
        #expect(script.commands.first?.arrivals == [1])
        guard case .frame? = script.steps.dropFirst().first?.kind,
            case .answered(0, 1)? = script.steps.last?.kind
        else {
            Issue.record("\(script.steps.map(\.kind))")
            return
        }
        // The live app may answer it under the id that was recorded, whatever others get.
        var options = PlayerOptions()
        options.suffix = "-live"
        var player = BoardPlayer(script, options: options)
        _ = player.start(at: 0)
        let upgrade = WebSocketHandshake.request(
            target: "/api/phone-bridge?platform=ios", host: "b", key: "AAAAAAAAAAAAAAAAAAAAAA==")
        _ = player.request(HTTPMessage(head: upgrade), 7, wall: 0, at: 1)
        #expect(player.liveIDs == [0: "c1"])
    }

    /// A message in pieces, which the board refuses before it has all of it; the last piece is left
    /// out where it is not whole.
    private static func large(isWhole: Bool) -> [Event] {
        let header = FrameHeader(
            opcode: .text, maskingKey: MaskingKey(rawValue: 0), payloadLength: 6)
        let head = Event(
            time: 2, conn: 1, from: .app,
            kind: .frame(Event.FrameRecord(header: header, content: .pieces)))
        let pieces = ["[1,", "22]"].enumerated().map { index, text in
            Event(
                time: 3 + Int64(index), conn: 1, from: .app,
                kind: .piece(
                    Event.Piece(
                        of: 3, offset: UInt64(3 * index), content: Bytes(text.utf8),
                        last: index == 1)))
        }
        let refusal = frame(
            FrameHeader(opcode: .close, payloadLength: 2), [3, 0xf1], from: .board)
        return [head, refusal] + pieces.prefix(isWhole ? 2 : 1)
    }

    @Test func `a message that came in pieces is played whole`() throws {
        let whole = ReplayScript.app(
            try Self.session(Self.large(isWhole: true)), canStimulate: true)
        guard case .send(0, .text, let content)? = whole.steps.dropLast().last?.kind,
            case .ended(0)? = whole.steps.last?.kind
        else {
            Issue.record("\(whole.steps.map(\.kind))")
            return
        }
        #expect(content == Bytes("[1,22]".utf8))
        #expect(whole.unplayable.isEmpty)
        let torn = ReplayScript.app(
            try Self.session(Self.large(isWhole: false)), canStimulate: true)
        #expect(
            torn.unplayable.map(\.why) == ["a message over 1 MiB that is not all in the file"])
    }

    /// A poll on connection 2 that got no answer until its connection was ended.
    private static func hangingPoll(endedBy side: Side, at time: Int64) -> [Event] {
        [
            Event(
                time: 10, conn: 2, from: .app,
                kind: .request(
                    Event.Request(
                        exchange: 1, method: "GET",
                        target: "/api/phone-bridge/commands?platform=ios&app_state=active"))),
            Event(
                time: time, conn: 2, from: side,
                kind: .close(Event.Close(how: .fin))),
            frame(
                FrameHeader(
                    opcode: .text, maskingKey: MaskingKey(rawValue: 0), payloadLength: 0),
                Bytes(#"{"id":"phone_app_state","method":"phone_app_state","data":{}}"#.utf8)),
        ]
    }

    private static let hanging: [(side: Side, time: Int64, isTreated: Bool)] = [
        (.app, 10_000_000_010, true), (.app, 100_000_000, false), (.board, 100_000_000, true),
    ]

    @Test(arguments: hanging)
    func `a poll that the board left hanging hangs again, and the app has its time to give it up`(
        side: Side, time: Int64, isTreated: Bool
    ) throws {
        let script = ReplayScript.board(
            try Self.session(Self.hangingPoll(endedBy: side, at: time)))
        let treated = script.steps.contains {
            if case .treatPoll = $0.kind { true } else { false }
        }
        #expect(treated == isTreated)
        guard isTreated else { return }
        #expect(script.exchanges.last?.isCutOff == (side == .board))
        let event = try #require(script.steps.last)
        guard case .appEvent = event.kind else {
            Issue.record("\(event.kind)")
            return
        }
        #expect(event.allowance == time - 10)
    }

    @Test func `a session that is too large is refused with its limit`() throws {
        var session = RecordedSession(maximumSize: 10)
        #expect(throws: RecordedSession.Failure.tooLarge(limit: 10)) {
            try session.receive(
                Event(
                    time: 0, conn: 1, from: .app,
                    kind: .request(
                        Event.Request(
                            exchange: 1, method: "POST", target: "/api/phone-bridge/results",
                            body: Event.Body(content: .whole(Bytes(repeating: 0, count: 11)))))))
        }
    }
}

import Capture
import Testing
import Wire

@Suite struct FilterTests {
    static let result = Event(
        seq: 7, time: 5_000_000, conn: 2, from: .app,
        kind: .frame(
            .init(
                header: FrameHeader(
                    opcode: .text, maskingKey: MaskingKey(rawValue: 0x00ab_cdef), payloadLength: 24),
                content: .whole(Bytes(#"{"id":"a1","text":"你好 x"}"#.utf8)))),
        bridge: [
            [
                "kind": "result", "id": "a1", "type": "clipboard_read", "ok": true,
                "latency_ms": .number("12.500"), "late": false, "route": "websocket",
            ]
        ])

    static let poll = Event(
        seq: 8, time: 6_000_000, conn: 3, from: .board,
        kind: .response(
            .init(
                exchange: 4, status: 200, reason: "OK",
                headers: [.init("Content-Type", "application/json")],
                body: .init(content: .whole(Bytes("{}".utf8)), framing: .chunked))),
        bridge: [
            ["kind": "poll", "commands": 2],
            ["kind": "command", "id": "c1", "type": "clipboard_read", "timeout_ms": 5000],
            ["kind": "command", "id": "c2", "type": "calendar_query", "timeout_ms": 8000],
        ])

    static let close = Event(
        seq: 9, time: 7_000_000, conn: 2, from: .board,
        kind: .frame(
            .init(
                header: FrameHeader(opcode: .close, payloadLength: 20),
                content: .whole([0x03, 0xe9] + Bytes("heartbeat timeout".utf8)))))

    static let note = Event(time: 8, kind: .note(.init(code: "mark", text: "here", to: 7)))

    @Test(arguments: [
        // Bare words and kinds of events.
        ("result", "result"), ("kind=result", "result"), ("command", "poll"),
        ("poll or result", "result poll"), ("event=frame", "result close"),
        ("event=note", "note"), ("heartbeat", ""),
        // Fields and operators.
        ("type=clipboard_read", "result poll"), ("id=a1", "result"), ("id=A1", ""),
        ("from=board", "poll close"), ("conn=2", "result close"), ("seq>=8", "poll close"),
        ("seq<8", "result"), ("seq <= 8", "result poll"), ("t>5000000", "poll close"),
        ("latency_ms>12", "result"), ("latency_ms=12.5", "result"), ("latency_ms<12.5", ""),
        ("timeout_ms>5000", "poll"), ("ok=true", "result"), ("late=true", ""),
        ("status=200", "poll"), ("status~^2", "poll"), ("framing=chunked", "poll"),
        ("headers~'(?i)content-type: .*json'", "poll"), ("body={}", "poll"),
        ("opcode=8 code=1001", "close"), ("reason~timeout", "close"),
        ("reason=\"heartbeat timeout\"", "close"), ("mask=00abcdef", "result"),
        ("text~你好", "result"), ("text~\"你好 x\"", "result"), ("text~(a1|b2)", "result"),
        ("code=mark", "note"), ("to=7", "note"), ("length>20", "result"),
        ("fin=true", "result close"),
        // Joining.
        ("conn=2 from=app", "result"), ("conn=2 and from=app", "result"),
        ("conn=2 or from=board and seq=8", "result poll close"),
        ("(conn=2 or from=board) and seq=8", "poll"),
        ("not conn=2", "poll note"), ("not (poll or result)", "close note"),
        ("not not result", "result"), ("event=frame not result", "close"),
        // One object must be all that is asked for.
        ("command type=calendar_query", "poll"),
        ("command type=calendar_query timeout_ms=8000", "poll"),
        ("command type=calendar_query timeout_ms=5000", ""),
        ("poll id=c1", ""),
        // Not: of none of them.
        ("not command", "result close note"), ("poll not type=calendar_query", ""),
    ])
    func `a filter chooses what it says`(source: String, expected: String) throws {
        let filter = try Filter(parsing: source)
        let events = [
            ("result", Self.result), ("poll", Self.poll), ("close", Self.close),
            ("note", Self.note),
        ]
        let chosen = events.filter { filter.matches($0.1) }.map(\.0).joined(separator: " ")
        #expect(chosen == expected)
    }

    @Test(arguments: [
        ("", FilterError.missingTerm(at: 0)),
        ("  ", .missingTerm(at: 2)),
        ("result and", .missingTerm(at: 10)),
        ("and result", .missingTerm(at: 0)),
        ("result or or poll", .missingTerm(at: 10)),
        ("not", .missingTerm(at: 3)),
        ("(result", .unclosedBracket(at: 0)),
        ("(", .missingTerm(at: 1)),
        ("()", .missingTerm(at: 1)),
        ("result)", .unexpected(")", at: 6)),
        ("=x", .unexpected("=", at: 0)),
        ("\"result\"", .unexpected("\"", at: 0)),
        ("id=\"abc", .unclosedQuote(at: 3)),
        ("id=", .missingValue(field: "id", at: 3)),
        ("id= ", .missingValue(field: "id", at: 4)),
        ("(id=)", .missingValue(field: "id", at: 4)),
        ("comand", .unknownKind("comand", at: 0, try: "command")),
        ("zzz", .unknownKind("zzz", at: 0, try: nil)),
        ("frame", .unknownKind("frame", at: 0, try: "event=frame")),
        ("latency_ms", .unknownKind("latency_ms", at: 0, try: "latency_ms=…")),
        ("result AND poll", .unknownKind("AND", at: 7, try: "and")),
        ("kind=reslut", .unknownValue("reslut", field: "kind", at: 5, try: "result")),
        ("event=frames", .unknownValue("frames", field: "event", at: 6, try: "frame")),
        ("ok=yes", .unknownValue("yes", field: "ok", at: 3, try: nil)),
        ("result latencyms>5", .unknownField("latencyms", at: 7, try: "latency_ms")),
        ("latency_ms>fast", .notANumber("fast", at: 11)),
        ("seq>inf", .notANumber("inf", at: 4)),
        ("ok!=true", .foreignOperator("!=", at: 2, try: "not ok=…")),
        ("id==a", .foreignOperator("==", at: 2, try: "id=…")),
    ])
    func `a wrong filter is refused where it goes wrong`(source: String, error: FilterError) {
        #expect(throws: error) { try Filter(parsing: source) }
    }

    @Test func `a wrong pattern says what is wrong with it`() {
        let error = #expect(throws: FilterError.self) { try Filter(parsing: "text~[a") }
        guard case .badPattern("[a", at: 5, let why)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!why.isEmpty)
    }

    @Test func `nesting is bounded`() throws {
        let open = String(repeating: "(", count: 100_000)
        #expect(throws: FilterError.tooDeep(limit: 64, at: 64)) { try Filter(parsing: open) }
        let nots = String(repeating: "not ", count: 100_000)
        #expect(throws: FilterError.tooDeep(limit: 64, at: 256)) { try Filter(parsing: nots) }
        let fine = String(repeating: "(", count: 60) + "result" + String(repeating: ")", count: 60)
        #expect(try Filter(parsing: fine).matches(Self.result))
    }

    @Test func `every beginning of a filter is parsed or refused`() {
        let source = "not (kind=result and latency_ms>=12.5 or text~\"a\\\"b\") id='x' status<300"
        for length in 0...source.count {
            let part = String(source.prefix(length))
            do {
                _ = try Filter(parsing: part)
            } catch {
                #expect(error.position <= length)
            }
        }
    }

    @Test func `only the quote is escaped in quotes`() throws {
        var event = Self.note
        event.kind = .note(.init(code: "mark", text: #"a"b\c"#))
        #expect(try Filter(parsing: #"text="a\"b\c""#).matches(event))
        #expect(try Filter(parsing: #"text~'a"b\\c'"#).matches(event))
        #expect(try Filter(parsing: #"text~"\\c$""#).matches(event))
    }

    @Test func `bytes that are not text are not matched as such`() throws {
        var event = Self.close
        event.kind = .piece(.init(of: 1, offset: 0, content: [0xff, 0x61], last: true))
        #expect(try !Filter(parsing: "text~a").matches(event))
        #expect(try Filter(parsing: "last=true offset=0").matches(event))
    }

    @Test func `messages for people name the place from one and what may be meant`() {
        let rows = [
            ("comand", "character 1: unknown kind \"comand\"; did you mean \"command\"?"),
            ("id=", "character 4: id needs a value; an empty one is written \"\""),
            ("x)", "character 1: unknown kind \"x\""),
            ("ok!=1", "character 3: there is no !=; write not ok=…"),
            ("seq>x", "character 5: \"x\" is not a number"),
        ]
        for (source, message) in rows {
            let error = #expect(throws: FilterError.self) { try Filter(parsing: source) }
            #expect(error?.description == message)
        }
    }

    @Test func `the help shows filters that parse`() throws {
        let examples = Filter.help.split(separator: "\n")
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .map { line in
                line.dropFirst(2).prefix(24).trimmingSuffix { $0 == " " }
            }
        #expect(examples.count == 10)
        for example in examples { _ = try Filter(parsing: String(example)) }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}

import PhoneBridge
import Testing
import Wire

@Suite struct EffectGateTests {
    private static let create =
        #"{"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"s","end_at":"e"}}"#
    private static let marked =
        #"{"id":"c","type":"calendar_create","payload":{"title":"t (bridgetap)","start_at":"s","end_at":"e"}}"#

    private func why(_ verdict: EffectGate.Verdict) -> String? {
        if case .refused(let why) = verdict { why } else { nil }
    }

    private func text(_ verdict: EffectGate.Verdict) -> String? {
        if case .allowed(let bytes) = verdict {
            String(decoding: bytes, as: UTF8.self)
        } else {
            nil
        }
    }

    private func pass(_ level: EffectGate.Level, _ message: String) -> EffectGate.Verdict {
        var gate = EffectGate(level: level)
        return gate.pass(Bytes(message.utf8))
    }

    @Test(arguments: EffectGate.Level.allCases)
    func `a broken frame may be anything, and goes out only where everything may`(
        level: EffectGate.Level
    ) {
        let frame = Bytes([0xa1, 2, 0x7b, 0x7d])
        let verdict = EffectGate(level: level).pass(brokenFrame: frame)
        #expect((verdict == .allowed(frame)) == (level == .all))
        #expect(
            (why(verdict) == "a phone may read a broken frame in more than one way")
                == (level != .all))
    }

    // MARK: - Levels

    @Test(arguments: Contract.current.commands.map(\.name))
    func `with none, a type passes where it reads`(name: String) throws {
        let type = try #require(Contract.current.command(named: name))
        let message = #"{"id":"c","type":"\#(name)"}"#
        #expect((text(pass(.none, message)) == message) == (type.effect == .reads))
    }

    @Test(arguments: [
        #"{"id":"heartbeat"}"#, #"{"id":"ping","method":"x","data":{"a":1}}"#, "",
        #"{"id":"r","type":"clipboard_read","timeout_ms":5000,"future":{"a":[1]}}"#,
        #"{"id":"r","type":"clipboard_\u0072ead"}"#, #"{"id":7,"type":"clipboard_read"}"#,
        #" {"type":"contacts_query","payload":{"query":"title","limit":1}} "#,
        #"{"id":"r","type":"contacts_query","payload":null,"类型":1,"标题":2}"#,
    ])
    func `what does nothing passes as it is`(message: String) {
        for level in EffectGate.Level.allCases {
            #expect(text(pass(level, message)) == message, "\(level)")
        }
    }

    @Test func `with own, what creates is marked and nothing else of it is touched`() {
        #expect(text(pass(.own, Self.create)) == Self.marked)
        #expect(text(pass(.own, Self.marked)) == Self.marked)
        #expect(
            text(
                pass(
                    .own,
                    #"{ "payload" : {"name":"Zo\u00eb \"\\"}, "type":"contacts_create", "id":"1" }"#
                ))
                == #"{ "payload" : {"name":"Zo\u00eb \"\\ (bridgetap)"}, "type":"contacts_create", "id":"1" }"#
        )
        #expect(
            text(pass(.own, #"{"id":"n","type":"notification_send","payload":{"title":"x"}}"#))
                == #"{"id":"n","type":"notification_send","payload":{"title":"x (bridgetap)"}}"#)
    }

    @Test(arguments: [
        #"{"id":"c","type":"open_app","app":"weixin"}"#,
        #"{"id":"c","type":"open_app","url":"tel:1"}"#,
        #"{"id":"c","type":"clipboard_write","payload":{"text":"x"}}"#,
        #"{"id":"c","type":"calendar_delete","payload":{"event_id":"e1"}}"#,
        #"{"id":"c","type":"calendar_delete","payload":{}}"#,
        #"{"id":"c","type":"calendar_delete"}"#,
        #"{"id":"c","type":"calendar_delete","payload":{"event_id":["e1"]}}"#,
        #"{"id":"c","type":"contacts_update","payload":{"contact_id":"1","name":"x"}}"#,
        #"{"id":"c","type":"notification_send","payload":{"title":"x","schedule_at":"y"}}"#,
        #"{"id":"c","type":"notification_send","payload":{"title":"x","schedule_at":null}}"#,
        #"{"id":"c","type":"calendar_create","payload":{"title":""}}"#,
        #"{"id":"c","type":"calendar_create","payload":{"title":5}}"#,
        #"{"id":"c","type":"calendar_create","payload":"{\"title\":\"t\"}"}"#,
        #"{"id":"c","type":"calendar_create"}"#,
        #"{"id":"","type":"calendar_create","payload":{"title":"t"}}"#,
        #"{"type":"calendar_create","payload":{"title":"t"}}"#,
        #"{"id":1,"type":"calendar_create","payload":{"title":"t"}}"#,
    ])
    func `with own, what leaves another trace is refused`(message: String) {
        #expect(why(pass(.own, message)) != nil)
        #expect(text(pass(.all, message)) == message)
    }

    // MARK: - Attempts to get past it

    @Test(arguments: [
        // Not JSON, or not only.
        #"{"id":"r","type":"clipboard_read""#, "\u{feff}" + #"{"id":"r","type":"clipboard_read"}"#,
        #"{"id":"r","type":"clipboard_read"} x"#,
        #"{"id":"r","type":"clipboard_read"}{"id":"o","type":"open_app","app":"a"}"#,
        #"{"id":"r","type":"clipboard_read",}"#, #"{'id':'r','type':'clipboard_read'}"#,
        "heartbeat", "[", "\u{0}",
        // No object.
        #"[{"id":"r","type":"clipboard_read"}]"#, #""heartbeat""#, "1", "null", "[]",
        // Names that stand twice, or nearly.
        #"{"id":"r","type":"clipboard_read","type":"open_app"}"#,
        #"{"id":"r","type":"open_app","type":"clipboard_read"}"#,
        #"{"id":"r","type":"clipboard_read","ty\u0070e":"open_app"}"#,
        #"{"id":"r","type":"clipboard_read","Type":"open_app"}"#,
        #"{"id":"r","type":"clipboard_read","ＴＹＰＥ":1,"ＴＹＰＥ":2}"#,
        #"{"id":"r","Type":"clipboard_read"}"#, #"{"id":"r","TYPE":"open_app"}"#,
        #"{"id":"r","type ":"clipboard_read"}"#, #"{"id":"r","ty\u0000pe":"open_app"}"#,
        #"{"id":"r","ty\u200bpe":"open_app"}"#, #"{"id":"r","t\u0079\u0301pe":"open_app"}"#,
        #"{"ID":"r","id":"s","type":"clipboard_read"}"#,
        #"{"id":"r","type":"contacts_query","payload":{"query":"a","query":"b"}}"#,
        #"{"id":"r","type":"contacts_query","payload":{"Query":"a"}}"#,
        #"{"id":"r","type":"contacts_query","payload":{"x":[{"a":1,"A":2}]}}"#,
        // Types that are none.
        #"{"id":"r","type":1}"#, #"{"id":"r","type":null}"#, #"{"id":"r","type":["open_app"]}"#,
        #"{"id":"r","type":"Clipboard_Read"}"#, #"{"id":"r","type":"clipboard_read "}"#,
        #"{"id":"r","type":"clipboard_read\u0000"}"#, #"{"id":"r","type":""}"#,
        #"{"id":"r","type":"future_command"}"#, #"{"id":"r","type":"clipboard_\ud800read"}"#,
        // Ids that mean something else.
        #"{"id":"heartbeat","type":"clipboard_read"}"#,
        #"{"id":"phone_app_state","type":"clipboard_read"}"#,
        // Commands without a type, or inside of something.
        #"{"id":"r"  ,"app":"weixin"}"#, #"{"id":"r","url":"tel:1"}"#,
        #"{"id":"r","payload":{"event_id":"1"}}"#, #"{"id":"r","method":"open_app"}"#,
        #"{"id":"heartbeat","method":"Calendar-Delete"}"#,
        #"{"id":"heartbeat","data":{"command":{"type":"open_app"}}}"#,
        #"{"command":{"id":"r","type":"open_app"}}"#, #"{"commands":[]}"#,
        #"{"id":"r","type":"clipboard_read","next":{"type":"open_app","app":"a"}}"#,
        #"{"id":"r","type":"clipboard_read","next":[[{"kind":1,"type":"Open_App"}]]}"#,
        #"{"id":"r","type":"clipboard_read","app":"weixin"}"#,
        #"{"id":"r","type":"clipboard_read","url":"tel:1"}"#,
        #"{"id":"r","type":"clipboard_read","\ud800":1}"#,
    ])
    func `what can be read in two ways, or in none, is refused`(message: String) {
        #expect(why(pass(.none, message)) != nil)
        #expect(why(pass(.own, message)) != nil)
        #expect(text(pass(.all, message)) == message)
    }

    @Test func `bytes that are no UTF-8 are refused`() {
        var gate = EffectGate(level: .own)
        let message =
            Bytes(#"{"id":"r","type":"clipboard_read","a":""#.utf8) + [0xc3, 0x28, 0x22, 0x7d]
        #expect(why(gate.pass(message)) != nil)
        #expect(why(gate.pass([0xff, 0xfe] + message)) != nil)
    }

    @Test func `no cut of a command passes`() {
        let whole = Bytes(Self.create.utf8)
        for count in 1..<whole.count {
            var gate = EffectGate(level: .own)
            #expect(why(gate.pass(Bytes(whole.prefix(count)))) != nil, "\(count) bytes")
        }
    }

    @Test func `what is nested without end is refused`() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(why(pass(.own, deep + String(repeating: "]", count: 100_000))) != nil)
        let object =
            String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
        #expect(why(pass(.own, #"{"id":"r","type":"clipboard_read","x":\#(object)}"#)) != nil)
    }

    @Test func `a refusal says why in a sentence`() {
        #expect(
            why(pass(.none, Self.create))
                == "calendar_create creates something on the phone, and nothing but reading is allowed"
        )
        #expect(
            why(pass(.own, #"{"id":"r","type":"x","type":"y"}"#))
                == #"the name "type" stands there twice, or nearly so"#)
        #expect(
            why(pass(.own, #"{"id":"c","type":"calendar_delete","payload":{"event_id":"e1"}}"#))
                == #"calendar_delete is for event_id "e1", which was not created in this run"#)
    }

    // MARK: - The queue

    private func answer(_ level: EffectGate.Level, _ body: String) -> EffectGate.Verdict {
        var gate = EffectGate(level: level)
        return gate.pass(pollAnswer: Bytes(body.utf8))
    }

    @Test(arguments: [
        #"{"commands":null,"server_time":"2026-06-10T03:20:05Z"}"#, #"{"commands":[]}"#, "[]", "{}",
        #"{"commands":[{"id":"r","type":"clipboard_read"},{"id":"s","type":"contacts_query"}]}"#,
        #"[{"id":"r","type":"clipboard_read"}]"#, "",
    ])
    func `an answer with nothing but reading passes`(body: String) {
        #expect(text(answer(.none, body)) == body)
    }

    @Test(arguments: [
        #"{"commands":[{"id":"r","type":"clipboard_read"},{"id":"o","type":"open_app","app":"a"}]}"#,
        #"[{"id":"o","type":"open_app","app":"a"}]"#, #"{"commands":[[]]}"#,
        #"{"commands":[[{"id":"o","type":"open_app","app":"a"}]]}"#, #"{"commands":{"0":{}}}"#,
        #"{"Commands":[]}"#, #"{"commands":[],"commands":[]}"#, #"{"commands":[],"more":[{}]}"#,
        #"{"commands":[{"id":"heartbeat"}]}"#, #"{"commands":[{"id":"r","type":"clipboard_read"}"#,
        "not found", "true",
    ])
    func `one command that may not pass keeps the answer back`(body: String) {
        #expect(why(answer(.own, body)) != nil)
        #expect(text(answer(.all, body)) == body)
    }

    @Test func `each command of an answer is marked in its place`() {
        let body =
            #"{"commands":[\#(Self.create),{"id":"r","type":"clipboard_read"},"#
            + #"{"id":"p","type":"contacts_create","payload":{"name":"N"}}]}"#
        #expect(
            text(answer(.own, body))
                == #"{"commands":[\#(Self.marked),{"id":"r","type":"clipboard_read"},"#
                + #"{"id":"p","type":"contacts_create","payload":{"name":"N (bridgetap)"}}]}"#)
    }

    // MARK: - What was created

    private func delete(_ gate: inout EffectGate, _ id: String, event: String) -> Bool {
        text(
            gate.pass(
                Bytes(
                    #"{"id":"\#(id)","type":"calendar_delete","payload":{"event_id":"\#(event)"}}"#
                        .utf8))) != nil
    }

    @Test func `what was born in this run may be deleted, and nothing else`() {
        var gate = EffectGate(level: .own)
        #expect(!delete(&gate, "d", event: "e1"))
        _ = gate.pass(Bytes(Self.create.utf8))
        #expect(!delete(&gate, "d", event: "e1"))
        // An answer to a command that was never sent tells nothing.
        gate.heard(Bytes(#"{"id":"x","data":{"event_id":"e2"}}"#.utf8))
        gate.heard(Bytes(#"{"id":"c","data":{"event_id":"e1","contact_id":"e3"}}"#.utf8))
        #expect(delete(&gate, "d", event: "e1"))
        #expect(!delete(&gate, "d", event: "e2"))
        #expect(!delete(&gate, "d", event: "e3"))
        #expect(!delete(&gate, "d", event: "E1"))
        // An event's id is no contact's.
        let update =
            #"{"id":"u","type":"contacts_update","payload":{"contact_id":"e1","name":"x"}}"#
        #expect(why(gate.pass(Bytes(update.utf8))) != nil)
    }

    @Test func `another spelling of an id is another id`() {
        var gate = EffectGate(level: .own)
        _ = gate.pass(Bytes(Self.create.utf8))
        gate.heard(Bytes("{\"id\":\"c\",\"data\":{\"event_id\":\"\u{e9}\"}}".utf8))
        #expect(!delete(&gate, "d", event: "e\u{301}"))
        #expect(delete(&gate, "d", event: "\u{e9}"))
    }

    @Test func `an update keeps the mark`() {
        var gate = EffectGate(level: .own)
        _ = gate.pass(Bytes(#"{"id":"p","type":"contacts_create","payload":{"name":"N"}}"#.utf8))
        gate.heard(Bytes(#"{"id":"p","data":{"contact_id":"7"}}"#.utf8))
        func update(_ fields: String) -> String? {
            text(
                gate.pass(
                    Bytes(
                        #"{"id":"u","type":"contacts_update","payload":{"contact_id":"7"\#(fields)}}"#
                            .utf8)))
        }
        #expect(update(#","name":"M""#)?.contains(#""name":"M (bridgetap)""#) == true)
        #expect(update(#","emails":[]"#)?.contains("bridgetap") == false)
        #expect(update(#","name":7"#) == nil)
    }

    @Test func `what remains is what was created and not deleted`() {
        var gate = EffectGate(level: .own)
        func create(_ id: String) {
            _ = gate.pass(
                Bytes(
                    #"{"id":"\#(id)","type":"calendar_create","payload":{"title":"t"}}"#.utf8))
        }
        for id in ["a", "b", "c", "d"] { create(id) }
        gate.heard(Bytes(#"{"id":"a","data":{"event_id":"1"}}"#.utf8))
        gate.heard(Bytes(#"{"id":"b","data":{"event_id":"2"}}"#.utf8))
        gate.heard(Bytes(#"{"id":"c","error":{"code":"permission_denied"}}"#.utf8))
        _ = delete(&gate, "x", event: "1")
        #expect(gate.remaining.map(\.id) == ["1", "2", nil])
        gate.heard(Bytes(#"{"id":"x","method":"calendar_delete"}"#.utf8))
        #expect(
            gate.remaining.map { "\($0.type) \($0.id ?? "?") by \($0.command)" }
                == ["calendar_create 2 by b", "calendar_create ? by d"])
        // Sent once more, and answered with another id: there are two now.
        create("b")
        gate.heard(Bytes(#"{"id":"b","data":{"event_id":"5"}}"#.utf8))
        #expect(gate.remaining.map(\.id) == ["2", nil, "5"])
        // A delete that failed deleted nothing.
        _ = delete(&gate, "y", event: "2")
        gate.heard(Bytes(#"{"id":"y","error":{"code":"native_module_failed"}}"#.utf8))
        #expect(gate.remaining.map(\.id) == ["2", nil, "5"])
    }

    @Test func `with all, what remains is told as well`() {
        var gate = EffectGate(level: .all)
        _ = gate.pass(Bytes(Self.create.utf8))
        // A careless message of two readings is kept account of by the last of them.
        _ = gate.pass(Bytes(#"{"id":"p","id":"q","type":"contacts_create"}"#.utf8))
        _ = gate.pass(pollAnswer: Bytes(#"{"commands":[\#(Self.create)],"commands":1}"#.utf8))
        gate.heard(Bytes(#"{"id":"c","data":{"event_id":"1"}}"#.utf8))
        #expect(gate.remaining.map(\.type) == ["calendar_create", "contacts_create"])
        #expect(gate.remaining.map(\.id) == ["1", nil])
    }

    @Test func `its account is bounded`() {
        var gate = EffectGate(level: .own, maximumThings: 2)
        for id in ["a", "b", "c"] {
            let message = #"{"id":"\#(id)","type":"calendar_create","payload":{"title":"t"}}"#
            #expect((text(gate.pass(Bytes(message.utf8))) == nil) == (id == "c"))
        }
        #expect(gate.remaining.count == 2)
        #expect(text(gate.pass(Bytes(#"{"id":"r","type":"clipboard_read"}"#.utf8))) != nil)
    }

    @Test func `a refused answer leaves no account`() {
        var gate = EffectGate(level: .own)
        let body = #"[\#(Self.create),{"id":"o","type":"open_app","app":"a"}]"#
        #expect(why(gate.pass(pollAnswer: Bytes(body.utf8))) != nil)
        #expect(gate.remaining.isEmpty)
    }
}

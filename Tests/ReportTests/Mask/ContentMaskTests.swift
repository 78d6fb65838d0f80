import PhoneBridge
import Report
import Testing
import Wire

/// What of contents is left when they are masked.
@Suite struct ContentMaskTests {
    private func masked(_ text: String, keeping names: [String] = []) -> String {
        var mask = ContentMask(keeping: names)
        return String(decoding: mask.masked(Bytes(text.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (
            #"{"id":"c1","type":"calendar_create","payload":{"title":"Dinner with Wei"}}"#,
            #"{"id":"c1","type":"calendar_create","payload":{"title":"xxxxxx xxxx xxx"}}"#
        ),
        // What the contract does not know may be anything.
        (#"{"id":"c1","data":{"mood":"bad","n":7}}"#, #"{"id":"c1","data":{"mood":"xxx","n":7}}"#),
        // Its own words say nothing of people.
        (
            #"{"data":{"app_state":"background","platform":"ios","mood":"ios"}}"#,
            #"{"data":{"app_state":"background","platform":"ios","mood":"ios"}}"#
        ),
        // Addresses keep their form.
        (
            #"{"emails":["a.b@c.de"],"phone_numbers":["+1 (2) 34"]}"#,
            #"{"emails":["x.x@x.xx"],"phone_numbers":["+0 (0) 01"]}"#
        ),
        (#"{"url":"tel:+12345"}"#, #"{"url":"tel:+00000"}"#),
        // Escapes and other scripts.
        (#"{"text":"a\"b \u00e9"}"#, #"{"text":"xxxx xx00x0"}"#),
        // Broken, cut, in the middle of a request, with a bound value.
        (#"{"text":"secret"#, #"{"text":"xxxxxx"#),
        (#"{"text" : "secret" "more"}"#, #"{"text" : "xxxxxx" "xxxy"}"#),
        (
            "POST /r HTTP/1.1\r\n\r\n{\"name\":\"Wei\"}",
            "POST /r HTTP/1.1\r\n\r\n{\"name\":\"xxx\"}"
        ),
        (#"{"event_id":"$(c1.event_id)"}"#, #"{"event_id":"$(c1.event_id)"}"#),
        (#"{"id":"heartbeat"}"#, #"{"id":"heartbeat"}"#),
    ])
    func `texts about people lose their letters and digits`(text: String, expected: String) {
        #expect(masked(text) == expected)
        #expect(masked(text).utf8.count == text.utf8.count)
    }

    @Test func `equal texts stay equal, and others stay others`() throws {
        let text = masked(#"{"emails":["wei@x.org","ana@x.org","wei@x.org"]}"#)
        let emails = try #require(try JSON(parsing: text)["emails"]?.elements)
        #expect(emails[0] == emails[2])
        #expect(emails[0] != emails[1])
    }

    @Test func `days keep their distance, and times of day stay`() {
        #expect(
            masked(#"{"start_at":"2031-02-27T23:30:00+08:00","end_at":"2031-03-01T00:30:00Z"}"#)
                == #"{"start_at":"2026-06-10T23:30:00+08:00","end_at":"2026-06-12T00:30:00Z"}"#)
        #expect(masked(#"{"start_at":"9999-99-99"}"#) == #"{"start_at":"0000-00-00"}"#)
    }

    @Test func `a sentence loses what it quotes, but for names`() {
        var mask = ContentMask(keeping: ["c1"])
        #expect(
            mask.masked(sentence: "\"c1\" said \"Wei\": the \"text\" is no \"clipboard_read\"")
                == "\"c1\" said \"xxx\": the \"text\" is no \"clipboard_read\"")
    }

    @Test(arguments: [
        (
            "commands?platform=ios&phone_id=p1&limit=10",
            "commands?platform=ios&phone_id=x0&limit=10"
        ),
        ("platform=ios&phone_id=a%20b", "platform=ios&phone_id=x%00x"),
        ("/api/phone-bridge/results/c1", "/api/phone-bridge/results/c1"), ("", ""), ("?", "?"),
    ])
    func `a target loses what names a phone`(target: String, expected: String) {
        var mask = ContentMask()
        #expect(mask.masked(target: target) == expected)
    }

    @Test func `a field line of nobody's protocol is masked`() {
        var mask = ContentMask()
        #expect(mask.masked(FieldLine("Host", "192.168.42.1")).value == "192.168.42.1")
        #expect(mask.masked(FieldLine("User-Agent", "Wei's 15")).value == "xxx'x 00")
    }

    @Test func `any bytes are taken`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let bytes = Bytes(
                (0..<40).map { _ in
                    Bytes(#"{"text":\,a$(%é"#.utf8).randomElement(using: &numbers) ?? 0
                })
            var mask = ContentMask()
            #expect(mask.masked(bytes).count == bytes.count)
        }
    }
}

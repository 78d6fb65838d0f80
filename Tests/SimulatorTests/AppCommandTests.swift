import PhoneBridge
import Simulator
import Testing
import Wire

@Suite struct AppCommandTests {
    /// The contract's own requests, and its answers with the ids that this phone gives.
    static let contract: [(String, String)] = [
        (
            #"{"id":"open_001","type":"open_app","app":"微信","timeout_ms":10000}"#,
            #"{"id":"open_001","method":"ios_url_scheme"}"#
        ),
        (
            #"{"id":"clip_read_001","type":"clipboard_read","timeout_ms":5000}"#,
            #"{"id":"clip_read_001","data":{"text":""}}"#
        ),
        (
            #"{"id":"w","type":"clipboard_write","payload":{"text":"content to copy"}}"#,
            #"{"id":"w","method":"clipboard_write"}"#
        ),
        (
            #"{"id":"r","type":"clipboard_read"}"#,
            #"{"id":"r","data":{"text":"content to copy"}}"#
        ),
        (
            """
            {"id":"cal_create_001","type":"calendar_create","payload":{"title":"Dentist",\
            "start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00",\
            "all_day":false,"location":"Clinic"},"timeout_ms":8000}
            """,
            #"{"id":"cal_create_001","data":{"event_id":"ios_event_1"}}"#
        ),
        (
            """
            {"id":"cal_query_001","type":"calendar_query","payload":{"from":\
            "2026-06-02T00:00:00+08:00","to":"2026-06-03T00:00:00+08:00"}}
            """,
            """
            {"id":"cal_query_001","data":{"events":[{"event_id":"ios_event_1",\
            "title":"Dentist","start_at":"2026-06-02T15:00:00+08:00",\
            "end_at":"2026-06-02T16:00:00+08:00","location":"Clinic"}]}}
            """
        ),
        (
            #"{"id":"d","type":"calendar_delete","payload":{"event_id":"ios_event_1"}}"#,
            #"{"id":"d","method":"calendar_delete"}"#
        ),
        (
            #"{"id":"q","type":"contacts_query","payload":{"query":"wei","limit":20}}"#,
            """
            {"id":"q","data":{"contacts":[{"contact_id":"contact_41","name":"Wei Testmann",\
            "phone_numbers":["+1 202 555 0123"],"emails":["wei@example.com"]}]}}
            """
        ),
        (
            """
            {"id":"cc","type":"contacts_create","payload":{"name":"Li Si","phone_numbers":\
            ["+86 139 8765 4321"],"organization":"Company name","notes":"Notes"}}
            """,
            #"{"id":"cc","data":{"contact_id":"ios_contact_2"}}"#
        ),
        (
            """
            {"id":"cu","type":"contacts_update","payload":{"contact_id":"ios_contact_2",\
            "name":"Li Si (updated)"}}
            """,
            #"{"id":"cu","method":"contacts_update"}"#
        ),
        (
            """
            {"id":"n","type":"notification_send","payload":{"title":"Reminder","body":"Time",\
            "schedule_at":"2026-06-04T18:00:00+08:00","sound":true,"badge":1}}
            """,
            #"{"id":"n","data":{"notification_id":"ios_notification_3"}}"#
        ),
    ]

    @Test func `the contract's commands get the contract's answers`() {
        var bench = AppBench()
        let link = bench.connect()
        for (command, answer) in Self.contract {
            #expect(bench.say(command, on: link) == [answer])
        }
        #expect(bench.app.phone.contacts.entries.last?.name == "Li Si (updated)")
        #expect(bench.app.phone.contacts.entries.last?.phoneNumbers == ["+86 139 8765 4321"])
        #expect(bench.app.phone.contacts.entries.last?.notes == nil, "iOS ignores notes")
        #expect(bench.app.phone.notifications.entries.last?.badge == 1)
        #expect(bench.app.phone.opened == ["WeChat"])
    }

    @Test func `Android launches packages, keeps notes and has no badges`() {
        var bench = AppBench { $0.platform = .android }
        let link = bench.connect()
        let opened = bench.ask(#"{"id":"o","type":"open_app","app":"WECHAT"}"#, on: link)
        #expect(opened?["method"] == "launch_package")
        _ = bench.ask(
            #"{"id":"c","type":"contacts_create","payload":{"name":"A","notes":"N"}}"#, on: link)
        _ = bench.ask(
            #"{"id":"n","type":"notification_send","payload":{"title":"T","badge":1}}"#, on: link)
        #expect(bench.app.phone.contacts.entries.last?.notes == "N")
        #expect(bench.app.phone.notifications.entries.last?.badge == nil)
    }

    @Test(arguments: [
        // Required fields: missing, null, empty, of another type; and no payload at all.
        #""type":"clipboard_write""#, #""type":"clipboard_write","payload":null"#,
        #""type":"clipboard_write","payload":[]"#, #""type":"clipboard_write","payload":{}"#,
        #""type":"clipboard_write","payload":{"text":5}"#,
        #""type":"clipboard_write","payload":{"text":null}"#, #""type":"calendar_create""#,
        #""type":"calendar_create","payload":{"title":"t"}"#,
        #""type":"calendar_create","payload":{"title":"","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02T15:00:00Z"}"#,
        #""type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00","end_at":"2026-06-02T15:00:00Z"}"#,
        #""type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02"}"#,
        #""type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02T14:00:00Z"}"#,
        #""type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00Z","end_at":"2026-06-02T16:00:00Z","all_day":"no"}"#,
        #""type":"calendar_query","payload":{}"#,
        #""type":"calendar_query","payload":{"from":"2026-06-02T15:00:00Z"}"#,
        #""type":"calendar_query","payload":{"from":5,"to":6}"#,
        #""type":"calendar_delete","payload":{}"#,
        #""type":"calendar_delete","payload":{"event_id":""}"#,
        #""type":"calendar_delete","payload":{"event_id":7}"#,
        #""type":"contacts_query","payload":{"limit":"20"}"#,
        #""type":"contacts_query","payload":{"limit":0}"#, #""type":"contacts_query","payload":5"#,
        #""type":"contacts_create","payload":{}"#,
        #""type":"contacts_create","payload":{"name":""}"#,
        #""type":"contacts_create","payload":{"name":"n","phone_numbers":"1"}"#,
        #""type":"contacts_create","payload":{"name":"n","emails":[1]}"#,
        #""type":"contacts_update","payload":{"name":"n"}"#,
        #""type":"contacts_update","payload":{"contact_id":"contact_41","name":""}"#,
        #""type":"notification_send","payload":{"body":"b"}"#,
        #""type":"notification_send","payload":{"title":"t","schedule_at":"soon"}"#,
        #""type":"notification_send","payload":{"title":"t","badge":1.5}"#,
        #""type":"open_app""#, #""type":"open_app","app":"WeChat","url":"https://a""#,
        #""type":"open_app","app":5"#, #""type":"open_app","url":"file:///etc/passwd""#,
        #""type":"open_app","url":"javascript:alert(1)""#, #""type":"open_app","url":"https:""#,
        #""type":"open_app","url":"weixin://""#, #""type":"open_app","url":" https://a""#,
        #""type":"future_command","payload":{}"#, #""type":5"#, #""type":"""#, #""x":1"#,
    ])
    func `what cannot be done is answered with invalid_arguments and changes nothing`(rest: String)
    {
        var bench = AppBench()
        let link = bench.connect()
        let answer = bench.ask("{\"id\":\"c1\",\(rest)}", on: link)
        #expect(answer?["id"] == "c1")
        #expect(answer?["error"]?["category"] == "invalid_input")
        #expect(answer?["error"]?["code"] == "invalid_arguments")
        #expect(answer?["error"]?["message"]?.stringValue?.isEmpty == false)
        #expect(answer?["data"] == nil)
        #expect(bench.app.phone.opened.isEmpty)
        #expect(bench.app.phone.calendar.entries.isEmpty)
        #expect(bench.app.phone.contacts.entries.count == 2)
        #expect(bench.app.phone.notifications.entries.isEmpty)
    }

    @Test(arguments: [
        ("calendar_delete", #"{"event_id":"none"}"#, "event_not_found"),
        ("contacts_update", #"{"contact_id":"none","name":"n"}"#, "contact_not_found"),
    ])
    func `an unknown id is named by its native code`(
        type: String, payload: String, code: String
    ) {
        var bench = AppBench()
        let link = bench.connect()
        let answer = bench.ask(
            "{\"id\":\"c\",\"type\":\"\(type)\",\"payload\":\(payload)}", on: link)
        #expect(answer?["error"]?["code"] == "invalid_arguments")
        #expect(answer?["error"]?["details"]?["native_code"] == .string(code))
    }

    @Test(arguments: ["Douyin", "抖音", "Fictional Chat"])
    func `an app that is not there is not installed`(name: String) {
        var bench = AppBench()
        let link = bench.connect()
        let answer = bench.ask("{\"id\":\"c\",\"type\":\"open_app\",\"app\":\"\(name)\"}", on: link)
        #expect(
            answer?["error"]
                == json(
                    """
                    {"category":"precondition_failed","code":"app_not_installed",\
                    "message":"App not installed"}
                    """))
    }

    @Test(arguments: ["http://a", "HTTPS://a", "sms:+1202", "mailto:a@b", "tel:112"])
    func `the five schemes are opened`(url: String) {
        var bench = AppBench()
        let link = bench.connect()
        let answer = bench.ask("{\"id\":\"c\",\"type\":\"open_app\",\"url\":\"\(url)\"}", on: link)
        #expect(answer?["method"] == "open_url")
        #expect(bench.app.phone.opened == [url])
    }

    @Test func `any text survives the clipboard`() {
        var bench = AppBench()
        let link = bench.connect()
        let texts = [
            "", "𠮷 e\u{301} \u{e9} \u{200f}مرحبا\r\n\u{0}\t\"\\",
            String(repeating: "k", count: 8192),
            "<b>&amp;</b>\u{2028}",
        ]
        for (index, text) in texts.enumerated() {
            let payload = JSON.object([JSON.Member("text", .string(text))])
            _ = bench.ask(
                "{\"id\":\"w\(index)\",\"type\":\"clipboard_write\",\"payload\":\(payload)}",
                on: link)
            let read = bench.ask("{\"id\":\"r\(index)\",\"type\":\"clipboard_read\"}", on: link)
            #expect(read?["data"]?["text"] == .string(text))
        }
    }

    @Test func `instants are compared, not texts`() {
        var bench = AppBench()
        let link = bench.connect()
        let created = bench.ask(
            """
            {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":\
            "2026-06-02T23:30:00+08:00","end_at":"2026-06-03T00:30:00+08:00"}}
            """, on: link)
        #expect(created?["data"]?["event_id"] != nil)
        func query(_ id: String, _ from: String, _ to: String) -> Int? {
            bench.ask(
                """
                {"id":"\(id)","type":"calendar_query","payload":{"from":"\(from)","to":"\(to)"}}
                """, on: link)?["data"]?["events"]?.elements?.count
        }
        #expect(query("1", "2026-06-02T15:30:00Z", "2026-06-02T15:31:00z") == 1)
        #expect(query("2", "2026-06-02t16:30:00Z", "2026-06-03T00:00:00Z") == 0, "just over")
        #expect(query("3", "2026-06-02T00:00:00Z", "2026-06-02T15:30:00.000Z") == 0, "not begun")
        #expect(query("4", "2026-06-02T10:29:59-05:00", "2026-06-02T10:30:01-05:00") == 1)
    }

    @Test func `contacts are found by part of a name or a number, up to the limit`() {
        var bench = AppBench()
        let link = bench.connect()
        for index in 0..<25 {
            _ = bench.ask(
                """
                {"id":"c\(index)","type":"contacts_create","payload":{"name":"Person \(index)",\
                "phone_numbers":["+49 (30) 1234-\(100 + index)"]}}
                """, on: link)
        }
        func count(_ id: String, _ payload: String) -> Int? {
            bench.ask(
                "{\"id\":\"\(id)\",\"type\":\"contacts_query\",\"payload\":\(payload)}", on: link)?[
                    "data"]?["contacts"]?.elements?.count
        }
        #expect(count("1", "{}") == 20)
        #expect(count("2", "null") == 20)
        #expect(count("3", #"{"limit":3}"#) == 3)
        #expect(count("4", #"{"limit":100}"#) == 27)
        #expect(count("5", #"{"query":"PERSON 7"}"#) == 1)
        #expect(count("6", #"{"query":"301234124"}"#) == 1)
        #expect(count("7", #"{"query":"+49 30 1234 101"}"#) == 1)
        #expect(count("8", #"{"query":"测"}"#) == 1)
        #expect(count("9", #"{"query":"nobody"}"#) == 0)
    }

    @Test func `unknown fields are ignored, and timeout_ms is the board's business`() {
        var bench = AppBench()
        let link = bench.connect()
        for (index, timeout) in ["0", "-1", "1e400", "\"5000\"", "null", "2147483648"].enumerated()
        {
            let answer = bench.ask(
                """
                {"id":"c\(index)","type":"clipboard_read","timeout_ms":\(timeout),"x":[],\
                "payload":{"y":1}}
                """, on: link)
            #expect(answer?["data"]?["text"] == "")
        }
    }

    @Test(arguments: [
        "", "x", "[]", "{}", #"{"type":"clipboard_read"}"#, #"{"id":null,"type":"clipboard_read"}"#,
        #"{"id":5,"type":"clipboard_read"}"#, #"{"id":"","type":"clipboard_read"}"#,
        #"{"ID":"c","type":"clipboard_read"}"#, #"{"id":"phone_environment"}"#,
        #"{"id":"c","type":"clipboard_read""#, String(repeating: "[", count: 100_000),
    ])
    func `what has no id is not answered, and the app lives on`(message: String) {
        var bench = AppBench()
        let link = bench.connect()
        #expect(bench.say(message, on: link) == [])
        #expect(bench.ask(#"{"id":"c","type":"clipboard_read"}"#, on: link) != nil)
    }

    @Test func `a denied permission says so, a granted one works`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.decide(.calendar, .denied))
        let range = #"{"from":"2026-06-02T00:00:00Z","to":"2026-06-03T00:00:00Z"}"#
        let denied = bench.ask(
            "{\"id\":\"1\",\"type\":\"calendar_query\",\"payload\":\(range)}", on: link)
        #expect(
            denied?["error"]
                == json(
                    """
                    {"category":"user_action_required","code":"permission_denied",\
                    "message":"Calendar access not granted"}
                    """))
        #expect(bench.ask(#"{"id":"2","type":"contacts_query"}"#, on: link)?["data"] != nil)
        bench.perform(.decide(.calendar, .granted))
        let granted = bench.ask(
            "{\"id\":\"3\",\"type\":\"calendar_query\",\"payload\":\(range)}", on: link)
        #expect(granted?["data"]?["events"] == .array([]))
    }

    @Test func `a pending prompt holds its commands only, until it is answered`() {
        var bench = AppBench()
        let link = bench.connect()
        bench.perform(.decide(.contacts, .pending))
        #expect(bench.say(#"{"id":"1","type":"contacts_query"}"#, on: link, working: 60) == [])
        #expect(bench.ask(#"{"id":"2","type":"clipboard_read"}"#, on: link) != nil)
        let count = bench.log.count
        bench.perform(.decide(.contacts, .granted))
        #expect(bench.sent(from: count).count == 1)
        #expect(bench.ask(#"{"id":"3","type":"contacts_query"}"#, on: link)?["data"] != nil)
    }

    @Test func `a prompt can answer itself`() {
        var bench = AppBench { $0.promptAnswerDelay = 3 }
        let link = bench.connect()
        bench.perform(.decide(.contacts, .pending))
        #expect(bench.say(#"{"id":"1","type":"contacts_query"}"#, on: link, working: 2.9) == [])
        #expect(bench.say("", on: link, working: 0.2).count == 1)
    }

    @Test func `a slow command holds up neither heartbeats nor others`() {
        var bench = AppBench { $0.commandDurations["contacts_query"] = 30 }
        let link = bench.connect()
        let answers = bench.say(#"{"id":"slow","type":"contacts_query"}"#, on: link, working: 12)
        #expect(answers == [])
        #expect(bench.ask(#"{"id":"quick","type":"clipboard_read"}"#, on: link)?["id"] == "quick")
        let beats = bench.log.filter { entry in
            if case .send(_, let bytes) = entry.action {
                bytes == Bytes(#"{"id":"heartbeat"}"#.utf8)
            } else {
                false
            }
        }
        #expect(beats.map(\.second) == [5, 10])
        #expect(bench.say("", on: link, working: 20).count == 1)
    }
}

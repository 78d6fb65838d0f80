import Testing

@testable import PhoneBridge

extension RuleCase {
    /// A tool enqueues a command, written as `id type`, and gets an answer.
    static func enqueue(
        _ second: Double, _ command: String, _ status: Int = 202, conn: Int = 8
    ) -> String {
        let words = command.split(separator: " ")
        let type = words.count > 1 ? words[1] : "clipboard_read"
        let body =
            status == 202
            ? #"{"command_id":"\#(words[0])","status":"queued","queued_at":"2026-06-10T03:20:05Z"}"#
            : #"{"error":"no"}"#
        return """
            \(second) #\(conn) app> POST /api/phone-bridge/commands {"command":{"id":"\(words[0])","type":"\(type)"\(fields(of: type))}}
            \(second) #\(conn) board> \(status) \(body)
            """
    }

    static func result(
        _ second: Double, _ id: String, _ text: String = "", _ status: Int = 200, conn: Int = 1
    ) -> String {
        """
        \(second) #\(conn) app> POST /api/phone-bridge/results {"id":"\(id)","data":{"text":"\(text)"}}
        \(second) #\(conn) board> \(status) \(status == 200 ? #"{"status":"acknowledged"}"# : "no")
        """
    }

    static func query(
        _ second: Double, _ id: String, _ status: String, _ text: String = "", conn: Int = 8
    ) -> String {
        let result =
            status == "completed"
            ? #","result":{"data":{"text":"\#(text)"},"id":"\#(id)"},"completed_at":"2026-06-10T03:20:05Z""#
            : ""
        return """
            \(second) #\(conn) app> GET /api/phone-bridge/results/\(id)
            \(second) #\(conn) board> 200 {"command_id":"\(id)","status":"\(status)"\(result)}
            """
    }

    private static let active = "platform=ios&phone_id=p1&app_state=active&limit=10"
    private static let one = "platform=ios&phone_id=p1&app_state=active&limit=1"
    private static let pip =
        "platform=ios&phone_id=p1&app_state=background&pip_bridge_enabled=true&limit=10"

    private static func script(_ parts: String...) -> String { parts.joined(separator: "\n") }

    /// A command of the WebSocket that nobody answers.
    private static let sent = """
        0    connect
        1    board> {"id":"a","type":"clipboard_read"}
        2    app reset
        """

    static let deliveries: [RuleCase] = [
        RuleCase(
            "queue-retry-timed-out", "twice in one answer",
            breaks: poll(0, active, ["a", "a"]), close: redelivered(after: 5)),
        RuleCase(
            "queue-retry-timed-out", "too soon", breaks: redelivered(after: 4.7),
            close: redelivered(after: 4.75)),
        RuleCase(
            "queue-not-while-sent",
            breaks: script(sent, poll(5.7, active, ["a"], conn: 2)),
            close: script(sent, poll(5.8, active, ["a"], conn: 2))),
        RuleCase(
            "queue-in-flight-window", breaks: redelivered(after: 29.7),
            close: redelivered(after: 29.8), profile: .board12),
        RuleCase(
            "queue-hands-out", "lost behind the limit",
            breaks: script(
                poll(0, active, []), enqueue(1, "a"), enqueue(1.1, "b"), poll(2, one, ["a"]),
                poll(3, active, [])),
            close: script(
                poll(0, active, []), enqueue(1, "a"), enqueue(1.1, "b"), poll(2, one, ["a"]),
                poll(3, active, ["b"]))),
        RuleCase(
            "queue-hands-out", "dropped by a filter",
            breaks: script(
                poll(0, active, []), enqueue(1, "a open_app"), poll(2, pip, []),
                poll(3, active, [])),
            close: script(
                poll(0, active, []), enqueue(1, "a open_app"), poll(2, pip, []),
                poll(3, active, ["a open_app"]))),
        RuleCase(
            "queue-retries",
            breaks: script(
                poll(0, active, []), enqueue(1, "a"), poll(2, active, ["a"]),
                poll(93, active, [])),
            close: script(
                poll(0, active, []), enqueue(1, "a"), poll(2, active, ["a"]),
                poll(92, active, []), poll(93, active, ["a"])), profile: .board12),
        RuleCase(
            "queue-not-after-result",
            breaks: script(poll(0, active, ["a"]), result(1, "a"), poll(40, active, ["a"])),
            close: script(
                poll(0, active, ["a"]), "1 #2 app> GET /api/phone-bridge/commands?\(active)",
                result(1, "a"),
                #"6 #2 board> 200 {"commands":[{"id":"a","type":"clipboard_read"}]}"#,
                result(7, "a", "", 404), poll(40, active, ["b"]), result(41, "b"),
                poll(42, active, ["c"]))),
        RuleCase(
            "queue-distinct-ids",
            breaks: script(enqueue(0, "ab"), enqueue(1, "AB", 409)),
            close: script(enqueue(0, "ab"), enqueue(1, "AB", 202), enqueue(2, "ab", 409))),
        RuleCase(
            "queue-result-exact-id",
            breaks: script(poll(0, active, ["ab"]), result(1, "AB")),
            close: script(poll(0, active, ["ab"]), result(1, "AB", "", 404), result(1, "ab"))),
        RuleCase(
            "queue-incomplete-request", breaks: script(cut, poll(2, active, ["a"])),
            close: script(cut, query(1, "a", "expired"), enqueue(2, "a"), poll(3, active, ["a"]))),
        RuleCase(
            "queue-incomplete-request", "a query tells",
            breaks: script(cut, query(2, "a", "queued")),
            close: script(cut, query(2, "a", "expired"))),
        RuleCase(
            "queue-first-result", "the last one",
            breaks: script(
                poll(0, active, ["a"]), result(1, "a", "one"), result(2, "a", "two", 404),
                query(3, "a", "completed", "two")),
            close: script(
                poll(0, active, ["a"]), result(1, "a", "one"), result(2, "a", "two", 404),
                query(3, "a", "completed", "one"))),
        RuleCase(
            "queue-first-result", "an old one",
            breaks: script(
                enqueue(0, "a"), poll(1, active, ["a"]), result(2, "a", "one"), enqueue(3, "a"),
                poll(4, active, ["a"]), result(5, "a", "two"), query(6, "a", "completed", "one")),
            close: script(
                enqueue(0, "a"), poll(1, active, ["a"]), result(2, "a", "one"), enqueue(3, "a"),
                poll(4, active, ["a"]), result(5, "a", "two"), query(6, "a", "completed", "two"))),
        RuleCase(
            "queue-refuses-duplicate", breaks: script(enqueue(0, "a"), enqueue(1, "a")),
            close: script(enqueue(0, "a"), enqueue(1, "a", 409), enqueue(400, "a"))),
        RuleCase(
            "queue-result-handed-out", breaks: script(enqueue(0, "a"), result(1, "a")),
            close: script(enqueue(0, "a"), poll(0.5, active, ["a"]), result(1, "a"))),
        RuleCase(
            "queue-result-once",
            breaks: script(poll(0, active, ["a"]), result(1, "a"), result(2, "a")),
            close: script(poll(0, active, ["a"]), result(1, "a"), result(2, "a", "", 404))),
        RuleCase(
            "queue-result-taken",
            breaks: script(
                enqueue(0, "a"), poll(1, active, ["a"]), result(2, "a", "", 404),
                enqueue(3, "b")),
            close: script(
                enqueue(0, "a"), poll(1, active, ["a"]), result(2, "a"), enqueue(3, "b"),
                poll(4, active, ["b"]), result(10, "b", "", 404))),
    ]

    private static let cut = """
        0 #7 app> cut POST /api/phone-bridge/commands {"command":{"id":"a","type":"clipboard_read"}}
        0 #7 app fin
        """

    private static func redelivered(after seconds: Double) -> String {
        script(
            enqueue(0, "a"), poll(1, active, ["a"]), poll(1 + seconds, active, ["a"]))
    }
}

@Suite struct DeliveryRulesTests {
    private let active = "platform=ios&phone_id=p1&app_state=active&limit=10"

    private func ids(_ script: String...) -> [String] {
        RuleChecker.check(script.joined(separator: "\n"), profile: .board12).breaches
            .map(\.rule.id).filter { $0.hasPrefix("queue-") }
    }

    @Test func `a command that may have gone elsewhere is not missing`() {
        let enqueued = RuleCase.poll(0, active, []) + "\n" + RuleCase.enqueue(1, "a")
        let empty = RuleCase.poll(9, active, [])
        let other = "#2 app> GET /api/phone-bridge/commands?\(active)"
        #expect(ids(enqueued, empty) == ["queue-hands-out"])
        // Another poll is under way, was never answered, or is lost.
        #expect(ids(enqueued, "8 \(other)", empty) == [])
        #expect(ids(enqueued, "7 \(other)\n8 #2 app reset", empty) == [])
        #expect(ids(enqueued, "8 gap board", empty) == [])
        #expect(ids(enqueued, "8 hole", empty) == [])
        #expect(ids(enqueued, "8 note dropped_packets 3", empty) == [])
        // It was answered, is somebody else's, or may have been cancelled.
        #expect(ids(enqueued, RuleCase.result(8, "a", "", 404), empty) == [])
        let stranger = active.replacing("p1", with: "p2")
        #expect(ids(enqueued, RuleCase.poll(9, stranger, [])) == [])
        #expect(ids(enqueued, "8 app> DELETE /api/phone-bridge/commands/a", empty) == [])
        // It has lived its life.
        #expect(ids(enqueued, RuleCase.poll(302, active, [])) == [])
        // The answer was on its way already.
        #expect(
            ids(
                RuleCase.poll(0, active, []), "0.5 \(other)", RuleCase.enqueue(1, "a"),
                #"2 #2 board> 200 {"commands":null}"#) == [])
    }

    @Test func `nothing is missing of what the profile does not know`() {
        // The contract does not say how long a command lives beyond its timeout.
        let script =
            RuleCase.poll(0, active, []) + "\n" + RuleCase.enqueue(1, "a") + "\n"
            + RuleCase.poll(9, active, [])
        #expect(RuleChecker.check(script).breaches.map(\.rule.id) == [])
    }

    @Test func `the book forgets what is long past, and everything beyond its bound`() {
        var book = QueueBook()
        book.update("old", at: 0) { _ in }
        book.update("new", at: 901_000_000_000) { _ in }
        #expect(book["old"] == nil && book["new"] != nil)
        for index in 0...QueueBook.maximumCount {
            book.update("c\(index)", at: 902_000_000_000) { _ in }
        }
        #expect(book.entries.count <= QueueBook.maximumCount)
        // Enqueued again, it begins anew, and what was posted before is told apart.
        var entry = QueueBook.Entry(timeout: 0, touched: 0)
        entry.note(result: 1, isAccepted: true)
        entry.note(result: 2, isAccepted: true)
        entry.beginAgain(QueueBook.Exchange(asked: 0, answered: 1, request: 1, response: 2))
        #expect(entry.formerResults == [1, 2] && entry.firstResult == nil && entry.isOpen)
    }
}

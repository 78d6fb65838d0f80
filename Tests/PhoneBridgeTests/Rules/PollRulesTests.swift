import Testing

@testable import PhoneBridge

extension RuleCase {
    private static let base = "/api/phone-bridge/commands"

    /// A poll that gets commands, each written as `id type`.
    static func poll(
        _ second: Double, _ query: String, _ commands: [String], _ more: String = "",
        conn: Int = 1
    ) -> String {
        let list = commands.map { text in
            let words = text.split(separator: " ")
            let type = words.count > 1 ? words[1] : "clipboard_read"
            return #"{"id":"\#(words[0])","type":"\#(type)"\#(fields(of: type))\#(more)}"#
        }
        let body = list.isEmpty ? "null" : "[\(list.joined(separator: ","))]"
        return """
            \(second) #\(conn) app> GET \(base)?\(query)
            \(second) #\(conn) board> 200 {"commands":\(body),"server_time":"2026-06-10T03:20:05Z"}
            """
    }

    /// What a type needs to be in order.
    static func fields(of type: some StringProtocol) -> String {
        switch type {
        case "open_app": #","app":"weixin""#
        case "contacts_update": #","payload":{"contact_id":"k","name":"n"}"#
        case "contacts_create": #","payload":{"name":"n"}"#
        case "calendar_delete": #","payload":{"event_id":"e"}"#
        case "clipboard_write": #","payload":{"text":"t"}"#
        default: ""
        }
    }

    static let polls: [RuleCase] = [
        RuleCase(
            "queue-filter-fgs",
            breaks: poll(
                0, "platform=android&app_state=background&fgs_bridge_enabled=true",
                ["c open_app"]),
            close: poll(
                0, "platform=android&app_state=background&fgs_bridge_enabled=true",
                ["c contacts_update"])),
        RuleCase(
            "queue-filter-pip",
            breaks: poll(
                0, "platform=ios&app_state=background&pip_bridge_enabled=true", ["c open_app"]),
            close: poll(
                0, "platform=ios&app_state=inactive&pip_bridge_enabled=1", ["c clipboard_read"])
                + "\n"
                + poll(1, "platform=ios&app_state=active&pip_bridge_enabled=1", ["d open_app"])),
        RuleCase(
            "queue-filter-ble-wake",
            breaks: poll(
                0, "platform=ios&app_state=background&pip_bridge_enabled=false",
                ["c contacts_update"]),
            close: poll(
                0, "platform=ios&app_state=background&pip_bridge_enabled=false",
                ["c contacts_create"])),
        RuleCase(
            "queue-phone-isolation",
            breaks: poll(
                0, "platform=ios&phone_id=p1", ["c"], #","phone_id":"p2""#),
            close: poll(
                0, "platform=ios&phone_id=p1", ["c"], #","phone_id":"p1""#)),
        RuleCase(
            "queue-limit", breaks: poll(0, "platform=ios&limit=1", ["a", "b"]),
            close: poll(0, "platform=ios&limit=2", ["a", "b"])),
        RuleCase(
            "queue-default-limit",
            breaks: poll(0, "platform=ios", (0...10).map { "c\($0)" }),
            close: poll(0, "platform=ios", (0..<10).map { "c\($0)" }), profile: .board12),
    ]
}

@Suite struct PollRulesTests {
    private func facts(_ query: String) -> PollFacts {
        PollFacts(RequestTarget("/x?" + query), Contract.PollParameters())
    }

    @Test func `a poll says its route only where all of it is there beyond doubt`() {
        let rows: [(String, Contract.BackgroundRoute?)] = [
            ("platform=android&app_state=background&fgs_bridge_enabled=true", .fgs),
            ("platform=android&app_state=background&fgs_bridge_enabled=false", nil),
            ("platform=android&app_state=background", nil),
            ("platform=ios&app_state=background&pip_bridge_enabled=yes", .pip),
            ("platform=ios&app_state=inactive&pip_bridge_enabled=0", .bleWake),
            ("platform=ios&app_state=background", nil),
            ("platform=ios&app_state=active&pip_bridge_enabled=true", nil),
            ("platform=ios&app_state=background&app_state=active&pip_bridge_enabled=true", nil),
            ("platform=IOS&app_state=background&pip_bridge_enabled=true", nil),
            ("app_state=background&pip_bridge_enabled=true", nil),
        ]
        for (query, route) in rows { #expect(facts(query).route == route, "\(query)") }
        #expect(facts("platform=ios&app_state=active").takesEverything)
        #expect(!facts("platform=android&app_state=active&fgs_bridge_enabled=0").takesEverything)
        #expect(!facts("platform=ios").takesEverything)
    }

    @Test func `a limit counts where every board honours it`() {
        let rows: [(String, PollFacts.Limit)] = [
            ("limit=1", .valid(1)), ("limit=50", .valid(50)), ("", .absent), ("limit=0", .odd),
            ("limit=51", .odd), ("limit=-1", .odd), ("limit=+1", .odd), ("limit=01", .odd),
            ("limit=1&limit=2", .odd), ("limit=", .odd),
        ]
        for (query, limit) in rows { #expect(facts(query).limit == limit, "\(query)") }
    }

    @Test func `types that nobody knows and phones that do not say who they are prove nothing`() {
        let rows = [
            RuleCase.poll(
                0, "platform=ios&app_state=background&pip_bridge_enabled=true", ["c future"]),
            RuleCase.poll(0, "platform=ios", ["c"], #","phone_id":"p2""#),
            RuleCase.poll(0, "platform=ios&limit=99", (0...60).map { "c\($0)" }),
        ]
        for script in rows {
            let found = RuleChecker.check(script).breaches.filter { $0.rule.id.hasPrefix("queue-") }
            #expect(found.map(\.rule.id) == [], "\(script)")
        }
    }
}

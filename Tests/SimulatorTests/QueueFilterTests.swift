import Simulator
import Testing
import Wire

@Suite struct QueueFilterTests {
    static let types = [
        "open_app", "clipboard_read", "clipboard_write", "calendar_create", "calendar_query",
        "calendar_delete", "contacts_query", "contacts_create", "contacts_update",
        "notification_send", "future_command",
    ]
    static let bridge = types.filter { $0 != "open_app" && $0 != "future_command" }
    static let ble = bridge.filter { !$0.hasPrefix("clipboard") && $0 != "contacts_update" }

    struct Row: CustomTestStringConvertible {
        let platform: String
        let state: String?
        let pip: String?
        let fgs: String?
        var testDescription: String { query }

        var query: String {
            var text = "limit=50&platform=" + platform
            if let state { text += "&app_state=" + state }
            if let pip { text += "&pip_bridge_enabled=" + pip }
            if let fgs { text += "&fgs_bridge_enabled=" + fgs }
            return text
        }

        /// The rows of the observed table, and nothing in the background beyond them.
        var expected: [String] {
            var state = state == "asleep" ? nil : state
            // Where no state is known, a bridge that runs is a sign of the background.
            if state == nil, pip == "true" || fgs == "true" { state = "background" }
            if platform.lowercased() == "android" {
                if state == nil || state == "active" { return fgs == "false" ? [] : types }
                return fgs == "true" ? bridge : []
            }
            if state == nil || state == "active" { return types }
            return pip == "true" ? bridge : ble
        }
    }

    static let rows: [Row] = ["ios", "iOS", "android", "other"].flatMap { platform in
        [nil, "active", "background", "inactive", "asleep"].flatMap { state in
            [nil, "true", "false", "maybe"].flatMap { pip in
                [nil, "true", "false"].map { fgs in
                    Row(platform: platform, state: state, pip: pip, fgs: fgs)
                }
            }
        }
    }

    @Test(arguments: rows)
    func `each combination hands out its types and keeps the others`(_ row: Row) {
        var bench = BoardBench()
        for type in Self.types { _ = bench.enqueue("{\"id\":\"\(type)\",\"type\":\"\(type)\"}") }
        #expect(bench.poll(row.query) == row.expected)
        for type in Self.types {
            #expect(
                bench.status(of: type) == (row.expected.contains(type) ? "in_flight" : "queued"))
        }
    }

    @Test func `a poll without app_state goes by the latest state`() {
        var bench = BoardBench()
        _ = bench.enqueue(#"{"id":"o","type":"open_app"}"#)
        let link = bench.connect("?platform=ios")
        bench.say(#"{"id":"phone_app_state","data":{"app_state":"background"}}"#, on: link)
        #expect(bench.poll("platform=ios") == [])
        bench.say(#"{"id":"phone_app_state","data":{"app_state":"active"}}"#, on: link)
        #expect(bench.poll("platform=ios") == ["o"])
    }

    @Test func `flags are read in their three spellings and any case`() {
        for (yes, no) in [("true", "false"), ("1", "0"), ("YES", "No")] {
            var bench = BoardBench()
            _ = bench.poll("platform=ios&app_state=background&pip_bridge_enabled=\(yes)")
            #expect(bench.statusDocument["pip_bridge_enabled"] == true)
            _ = bench.poll("platform=ios&app_state=BACKGROUND&pip_bridge_enabled=\(no)")
            #expect(bench.statusDocument["pip_bridge_enabled"] == false)
        }
    }
}

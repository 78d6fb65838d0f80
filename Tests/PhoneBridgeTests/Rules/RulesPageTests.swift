import Foundation
import PhoneBridge
import Testing

/// `docs/rules.md` is written from the rules themselves.
@Suite struct RulesPageTests {
    private static let page = RecordedSessionsTests.root.appending(path: "docs/rules.md")

    private static let introduction = """
        # What does `check` hold a session against?

        Each demand of the contract is a rule. A rule that is broken is reported with its id, the
        events that show it, and the section of the contract where the demand stands.

        The rating says how sure it is that a breach is a fault: **S** sure (an explicit sentence
        of the contract, or a MUST of an RFC), **L** likely (implied; it counts where the target's
        profile says so), **W** weak (the contract is silent; shown, never counted). Where the
        evidence of a breach has another, innocent reading, it is reported with a weaker rating
        than its rule.

        Nothing is concluded from an absence that a hole in the recording, a beginning in the
        middle or the end of the session can explain. Unknown fields are additive and no breach.

        This table is written from the code; `UPDATE_GOLDEN=1 swift test --filter RulesPageTests`
        writes it anew.


        """

    private static var text: String {
        var text = introduction
        text += "| rule | rating | who | section | demand |\n|---|---|---|---|---|\n"
        for rule in RuleChecker.rules {
            text +=
                "| `\(rule.id)` | \(rule.rating.rawValue) | \(rule.obliged.map { "\($0)" } ?? "either") "
            text += "| \(rule.section) | \(rule.demand) |\n"
        }
        return text
    }

    @Test func `the page of the rules is what the code says`() throws {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(Self.text.utf8).write(to: Self.page)
        }
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(page == Self.text, "UPDATE_GOLDEN=1 swift test --filter RulesPageTests writes it")
    }

    /// Headings of the contract that rules name.
    private static let headings: Set<String> = [
        "Connection", "Heartbeat", "Message Format", "BridgeCommand (board → app)",
        "BridgeCommandResponse (app → board)", "AppEvent (app → board)", "Command Types",
        "1. open_app", "2. clipboard_read", "3. clipboard_write", "4. calendar_create",
        "5. calendar_query", "6. calendar_delete", "7. contacts_query", "8. contacts_create",
        "9. contacts_update", "10. notification_send", "Error Handling",
        "Timeout and Reconnection", "Time Format", "Permission Management",
        "Version Compatibility",
    ]

    @Test func `a rule names a heading that the contract has`() throws {
        for rule in RuleChecker.rules where rule.section.hasPrefix("contract, ") {
            let parts = rule.section.split(separator: "\"", omittingEmptySubsequences: false)
            let names = stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
            #expect(!names.isEmpty)
            for name in names {
                #expect(Self.headings.contains(name), "\(rule.id): \(name)")
            }
        }
        // The contract lies beside the package; its lines are its headings.
        let contract = RecordedSessionsTests.root
            .appending(path: "../shared/protocol/phone-bridge-protocol-1.2.txt")
        guard let text = try? String(contentsOf: contract, encoding: .utf8) else { return }
        let lines = Set(text.split(separator: "\n").map(String.init))
        for heading in Self.headings { #expect(lines.contains(heading), "\(heading)") }
    }
}

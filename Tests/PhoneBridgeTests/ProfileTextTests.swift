import Capture
import Foundation
import PhoneBridge
import Testing
import Wire

@Suite struct ProfileTextTests {
    private let rules = [
        Rule("result-within-timeout", .sure, .app, section: "a", "b"),
        Rule("heartbeat-interval", .likely, .app, section: "a", "b"),
        Rule("reconnect-pause", .likely, .app, section: "a", "b"),
        Rule("status-of-unknown-id", .weak, .board, section: "a", "b"),
    ]

    private func parse(_ text: String) throws(ProfileError) -> Profile {
        try ProfileText.parse(Bytes(text.utf8), name: "lab", rules: rules) {
            (name) throws(ProfileError) in
            guard let profile = Profile.builtIn.first(where: { $0.name == name }) else {
                throw ProfileError(.cannotExtend(name, why: "there is no such profile"))
            }
            return profile
        }
    }

    @Test func `an empty profile is the contract under another name`() throws {
        var expected = Profile.contract
        expected.name = "lab"
        #expect(try parse("{}") == expected)
    }

    @Test func `every number has its key`() throws {
        let profile = try parse(
            """
            {
              name: 'bench', time_scale: 10, slack_ms: 1, queue_wait_minimum_ms: 2,
              heartbeat_sweep_ms: 3, queue_sweep_ms: 4, in_flight_ms: 5, queue_life_ms: 6,
              result_retention_ms: 7, default_poll_limit: 8, maximum_message_size: 9,
              maximum_redeliveries: 10, heartbeat_echo_ms: 11,
            }
            """)
        var expected = Profile(name: "bench")
        expected.timeScale = 10
        expected.slackMilliseconds = 1
        expected.queueWaitMinimumMilliseconds = 2
        expected.heartbeatSweepMilliseconds = 3
        expected.queueSweepMilliseconds = 4
        expected.inFlightMilliseconds = 5
        expected.queueLifeMilliseconds = 6
        expected.resultRetentionMilliseconds = 7
        expected.defaultPollLimit = 8
        expected.maximumMessageSize = 9
        expected.maximumRedeliveries = 10
        expected.heartbeatEchoMilliseconds = 11
        #expect(profile == expected)
    }

    @Test func `numbers take the place of those extended, lists come on top`() throws {
        let profile = try parse(
            """
            {
              counted: ["reconnect-pause"],
              in_flight_ms: 0x10, queue_life_ms: null, slack_ms: 5e2,
              waivers: [{rule: "result-within-timeout", reason: "slow phone", until: "2026-12-31"}],
              deviations: {"heartbeat-interval": "every 20 s, as the vendor says"},
              // It stands last and is read first.
              extends: "board-1.2",
            }
            """)
        var expected = Profile.board12
        expected.name = "lab"
        expected.inFlightMilliseconds = 16
        expected.queueLifeMilliseconds = nil
        expected.slackMilliseconds = 500
        expected.countedRules.insert("reconnect-pause")
        expected.waivers.append(
            Profile.Waiver(
                rule: "result-within-timeout", reason: "slow phone", until: "2026-12-31"))
        expected.deviations["heartbeat-interval"] = "every 20 s, as the vendor says"
        #expect(profile == expected)
        #expect(
            try parse("{counted: 'all'}").countedRules == ["heartbeat-interval", "reconnect-pause"])
    }

    /// The example of docs/profiles.md, held against the rules that there are.
    @Test func `the documented example can be used`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/profiles.md")
        let page = try String(contentsOf: url, encoding: .utf8)
        let example = try #require(page.firstMatch(of: #/```json5\n([^`]*)```/#)?.output.1)
        let profile = try ProfileText.parse(
            Bytes(example.utf8), name: "lab", rules: RuleChecker.rules
        ) { (name) throws(ProfileError) in
            #expect(name == "board-1.2")
            return .board12
        }
        #expect(profile.inFlightMilliseconds == 15_000)
        #expect(profile.waivers.count == 1)
        #expect(profile.deviations.count == Profile.board12.deviations.count + 1)
        for key in ProfileText.keys {
            #expect(page.contains("| `\(key)` |"), "\(key) is not documented")
        }
    }

    @Test(arguments: [
        ("{slack: 1}", "line 1, column 2: unknown key \"slack\""),
        (
            "{\n heartbeet_sweep_ms: 1}",
            "line 2, column 2: unknown key \"heartbeet_sweep_ms\"; did you mean \"heartbeat_sweep_ms\"?"
        ),
        ("{slack_ms: 1, slack_ms: 2}", "line 1, column 15: slack_ms is given twice"),
        (
            "{slack_ms: -1}",
            "line 1, column 12: slack_ms takes a whole number from 0 to 31536000000"
        ),
        (
            "{slack_ms: 1e18}",
            "line 1, column 12: slack_ms takes a whole number from 0 to 31536000000"
        ),
        (
            "{slack_ms: null}",
            "line 1, column 12: slack_ms takes a whole number from 0 to 31536000000"
        ),
        ("{time_scale: 0}", "line 1, column 14: time_scale takes a number from 0.001 to 1000000"),
        ("{time_scale: '2'}", "line 1, column 14: time_scale takes a number from 0.001 to 1000000"),
        ("{name: ''}", "line 1, column 8: name takes a text"),
        ("[]", "line 1, column 1: a profile takes an object"),
        ("{counted: 'some'}", "line 1, column 11: counted takes \"all\", or a list of rules"),
        ("{counted: [5]}", "line 1, column 12: counted takes \"all\", or a list of rules"),
        (
            "{counted: ['heartbeat-intervall']}",
            "line 1, column 12: there is no rule \"heartbeat-intervall\"; did you mean \"heartbeat-interval\"?"
        ),
        (
            "{counted: ['result-within-timeout']}",
            "line 1, column 12: result-within-timeout is rated S: it always counts"
        ),
        (
            "{counted: ['status-of-unknown-id']}",
            "line 1, column 12: status-of-unknown-id is rated W: it never counts"
        ),
        ("{waivers: [{reason: 'x'}]}", "line 1, column 12: rule is missing"),
        ("{waivers: [{rule: 'reconnect-pause'}]}", "line 1, column 12: reason is missing"),
        ("{waivers: [{rule: 'all', reason: 'x'}]}", "line 1, column 19: there is no rule \"all\""),
        (
            "{waivers: [{rule: 'reconnect-pause', reason: 'x', until: 'May'}]}",
            "line 1, column 58: \"May\" is no date; write it like 2026-12-31"
        ),
        (
            "{waivers: [{rule: 'reconnect-pause', reson: 'x'}]}",
            "line 1, column 38: unknown key \"reson\"; did you mean \"reason\"?"
        ),
        ("{deviations: {'x': 'y'}}", "line 1, column 15: there is no rule \"x\""),
        ("{deviations: {'reconnect-pause': 1}}", "line 1, column 34: reconnect-pause takes a text"),
        (
            "{extends: 'bord'}",
            "line 1, column 11: cannot extend \"bord\": there is no such profile"
        ),
        ("{slack_ms: 1", "line 1, column 13: the text ends where \",\" or \"}\" is expected"),
    ])
    func `what a profile cannot say is an error with its place`(text: String, message: String) {
        #expect {
            try parse(text)
        } throws: { error in
            "\(error)" == message
        }
    }
}

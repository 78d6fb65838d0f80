import Capture
import PhoneBridge
import Report

/// A session with everything that a report can have, hostile text included.
enum SampleResults {
    static let timeout = Rule(
        "result-within-timeout", .sure, .app, section: #"contract, "BridgeCommand""#,
        "A result comes within timeout_ms of its command, or within 5 s where it has none")
    static let interval = Rule(
        "heartbeat-interval", .likely, .app, section: #"contract, "Heartbeat""#,
        "The app sends a heartbeat every 5 s")
    static let wait = Rule(
        "queue-wait", .sure, .board, section: #"contract, "BridgeCommand""#,
        "A queued command ends after timeout_ms")
    static let masked = Rule(
        "app-frames-masked", .sure, .app, section: "RFC 6455 §5.1",
        "Every frame of the app is masked")

    static func finding(
        _ rule: Rule, _ standing: Profile.Standing, at milliseconds: Int64, _ events: [Int],
        command: Breach.Command? = nil, _ text: String
    ) -> Results.Finding {
        Results.Finding(
            Breach(
                rule: rule, side: rule.obliged ?? .app, conn: 1, time: milliseconds * 1_000_000,
                events: events, command: command, text: text),
            standing: standing,
            places: events.map { EventPlace(file: "captures/lab 1.ndjson", line: $0 + 1) })
    }

    static let broken: Results.Suite = {
        var suite = Results.Suite(name: "captures/lab 1.ndjson")
        suite.session = "5f2a"
        suite.startedAt = "2026-06-10T03:20:00.000000000Z"
        suite.duration = 123_456_000_000
        let late = (0..<5).map { index in
            finding(
                timeout, .counted, at: 12_522 + Int64(index) * 1000,
                [41 + index * 16, 57 + index * 16],
                command: Breach.Command(id: "cal_00\(index)", type: "calendar_create"),
                "answered after \(9 + index).21 s; 5 s were due")
        }
        var first = Results.Case(
            name: timeout.id, rule: timeout, outcome: .failed, exercised: 32,
            message: "12 times, first: answered after 9.21 s; 5 s were due")
        first.findings = late
        first.tally.counted = 12
        var second = Results.Case(
            name: interval.id, rule: interval, outcome: .passed, exercised: 20)
        second.findings = [
            finding(interval, .remark, at: 5100, [12], "20 s since the last heartbeat")
        ]
        second.tally.remarks = 3
        var third = Results.Case(
            name: wait.id, rule: wait, outcome: .skipped, exercised: 4,
            message: "does not count: waits 10 s at least")
        third.findings = [
            finding(
                wait, .excused("waits 10 s at least"), at: 61_000, [70],
                command: Breach.Command(id: "<q>&\u{1b}[31m\"\u{7}\n", type: nil),
                "ended after 10.1 s; 5 s were due ]]> \u{0}\u{202e}")
        ]
        third.tally.excused = 1
        suite.cases = [
            first, second, third,
            Results.Case(name: masked.id, rule: masked, outcome: .passed, exercised: 1204),
        ]
        suite.figures = [
            Results.Figure("events", 1204), Results.Figure("commands", 32),
            Results.Figure("rules", 4),
        ]
        return suite
    }()

    static let clean: Results.Suite = {
        var suite = Results.Suite(name: "clean.ndjson")
        suite.session = "77"
        suite.startedAt = "2026-06-10T03:20:00.000000000Z"
        suite.duration = 2_500_000_000
        suite.cases = [
            Results.Case(name: masked.id, rule: masked, outcome: .passed, exercised: 9)
        ]
        suite.figures = [
            Results.Figure("events", 117), Results.Figure("commands", 1),
            Results.Figure("rules", 1),
        ]
        return suite
    }()

    static let unreadable: Results.Suite = {
        var suite = Results.Suite(name: "README.md")
        suite.cases = [
            Results.Case(
                name: "session-is-readable", outcome: .error,
                message: "README.md is not a session file")
        ]
        return suite
    }()

    static let all = Results(
        command: "check", tool: "bridgetap 0.1.0", profile: "board-1.2",
        rules: [timeout, interval, wait, masked], suites: [broken, clean, unreadable])
}

import Capture
import ExampleSessions
import GoldenFiles
import PhoneBridge
import Replay
import Report
import Simulator
import Testing
import Wire

/// The golden files of this module stand in one folder.
private let goldens = #filePath.replacing("Report/ReplayReportTests", with: "ReplayReportTests")

@Suite struct ReplayReportTests {
    /// A verdict with a difference: the app forgets the offset of a time.
    private static func red() throws -> ReplayVerdict {
        var replay = ReferenceReplay()
        replay.defects = [.a11]
        return try #require(try Captures.verdict("all-commands", .board, replay))
    }

    private static func green() throws -> ReplayVerdict {
        try #require(try Captures.verdict("all-commands", .board))
    }

    @Test func `what is the same takes one line`() throws {
        let text = ReplayText(isColoured: false).text(
            try Self.green(), minimumExercised: 100, again: "bridgetap replay x")
        #expect(text.split(separator: "\n").count == 1)
        #expect(text.hasPrefix("same       all-commands  11 of 11 commands in "), "\(text)")
    }

    @Test func `what differs is named with its fields, masked, and the command that repeats it`()
        throws
    {
        let text = ReplayText(isColoured: false).text(
            try Self.red(), minimumExercised: 100, again: "bridgetap replay x")
        #expect(text.hasPrefix("different  all-commands  11 of 11 commands in "), "\(text)")
        #expect(text.contains("calendar_query c6 1"), "\(text)")
        #expect(text.contains("result.data.events[0].start_at  ‹instant›"), "\(text)")
        #expect(!text.contains("2026-06-02T"), "a person's appointment shows: \(text)")
        #expect(text.hasSuffix("  again: bridgetap replay x\n"))
    }

    @Test func `the few events around a difference are shown, without what they say`() throws {
        var replay = ReferenceReplay()
        replay.defects = [.a11]
        replay.keepsRows = true
        let verdict = try #require(
            try Captures.verdict("all-commands", .board, replay, keepsRows: true))
        let text = ReplayText(isColoured: false).text(
            verdict, minimumExercised: 100, again: "bridgetap replay x")
        #expect(!text.contains("Dentist"), "a person's appointment shows: \(text)")
        #expect(
            GoldenFile("replay-events-around.txt", beside: goldens).difference(from: text) == nil)
    }

    @Test func `colour is only there where it is wanted`() throws {
        let verdict = try Self.red()
        let colours = [true, false].map {
            ReplayText(isColoured: $0).text(verdict, minimumExercised: 100, again: "x")
                .contains("\u{1B}[")
        }
        #expect(colours == [true, false])
    }

    @Test func `what was not put to the test is not the same`() throws {
        var replay = ReferenceReplay()
        replay.canSetState = false
        let verdict = try #require(try Captures.verdict("errors", .board, replay))
        #expect(!verdict.isDifferent, "\(Captures.told(verdict))")
        #expect(verdict.exercised == 5)
        #expect(!verdict.isExercised(percent: 100))
        #expect(verdict.isExercised(percent: 60))
        let text = ReplayText(isColoured: false).text(
            verdict, minimumExercised: 100, again: "x")
        #expect(text.hasPrefix("untested   errors  5 of 8 commands"), "\(text)")
        #expect(text.contains("the recorded phone had denied contacts, this one has not"))
        let suite = verdict.suite(minimumExercised: 100)
        #expect(suite.session == "errors")
        #expect(suite.startedAt?.hasPrefix("2026-01-01T") == true)
        #expect(suite.count(.skipped) == 3)
        #expect(suite.count(.error) == 1)
        #expect(suite.count(.failed) == 0)
    }

    @Test func `a report for machines has a case for each command, with names that stay`() throws {
        let suites = try [Self.red(), Self.green()].map {
            $0.suite(minimumExercised: 100)
        }
        let names = suites.map { $0.cases.map { "\($0.group ?? "") \($0.name)" } }
        #expect(names[0].filter { !$0.hasPrefix("rules ") } == names[1])
        #expect(names[0].contains("calendar_query c6 1"))
        // The rule that was broken is a case besides.
        #expect(suites.map { $0.count(.failed) } == [2, 0])
    }

    @Test func `each line of the NDJSON is an object, the last one the sum`() throws {
        let bytes = ReplayLines().lines(try Self.red())
        let lines = try bytes.split(separator: UInt8(ascii: "\n")).map {
            try JSON(parsing: Bytes($0))
        }
        let last = try #require(lines.last)
        #expect(last["kind"] == "session")
        #expect(last["different"] == true)
        #expect(last["changed"] == 1)
        let changed = try #require(lines.first { $0["outcome"] == "changed" })
        #expect(changed["type"] == "calendar_query")
        #expect(
            changed["differences"]?[0]?["recorded"]?.stringValue?.hasPrefix("2026-06-02T") == true)
    }

    @Test func `an explanation tells what the session's rules file says of it`() throws {
        let parsed = try ComparisonRulesText.parse(
            Bytes(
                #"{version: 1, description: "the lab's phone", preconditions: ["a SIM card"]}"#.utf8
            ))
        let text = ReplayText(isColoured: false).explanation(
            of: .board(try Captures.session("errors")), rules: parsed, name: "errors")
        #expect(text.contains("\n  the lab's phone\n"), "\(text)")
        #expect(text.contains("\n  needs: a SIM card, by the rules file\n"), "\(text)")
    }

    @Test func `an explanation names the values that a rules file ties together`() throws {
        let rules = try ComparisonRulesText.parse(
            Bytes(
                "{version: 1, rules: [{on: '*', path: '**.title', do: 'bind', bind: 'title'}]}"
                    .utf8))
        let text = ReplayText(isColoured: false)
        let session = try Captures.session("all-commands")
        let app = text.explanation(
            of: .app(session, canStimulate: true), rules: rules, name: "all-commands")
        #expect(
            app.contains(" of calendar_create c5 is used by calendar_query c6\n"), "\(app)")
        #expect(app.contains("  value: title "), "\(app)")
    }

    private static let sources: [(source: String, redacted: JSON?, mayBePersonal: Bool)] = [
        ("proxy", nil, true), ("proxy", ["key": "k1"], false), ("simulation", nil, false),
    ]

    @Test(arguments: sources)
    func `a recording of a real phone may tell about people until it is redacted`(
        source: String, redacted: JSON?, mayBePersonal: Bool
    ) throws {
        var info = try #require(try Captures.session("two-at-once").info)
        info.source = source
        info.redacted = redacted
        #expect(info.mayBePersonal == mayBePersonal)
    }

    @Test func `what took place stands for the session only where all of it is there`() throws {
        let session = try Captures.loaded("two-at-once")
        var result = try ReferenceReplay().asApp(session.recorded)
        let whole = try ReplayVerdict(session, result, profile: .contract, contract: .current)
        #expect(whole.canReplace)
        result.isRecordComplete = false
        let torn = try ReplayVerdict(session, result, profile: .contract, contract: .current)
        #expect(!torn.canReplace)
        result.isRecordComplete = true
        let lost = try ReplayVerdict(
            session, result, loss: .stopped, profile: .contract, contract: .current)
        #expect(!lost.canReplace)
    }

    @Test func `an explanation tells needs, values that flow and waits`() throws {
        let session = try Captures.session("errors")
        let text = ReplayText(isColoured: false)
        let errors = text.explanation(of: .board(session), name: "errors")
        #expect(
            errors.contains(
                "needs: the recorded phone had denied contacts, for contacts_query e6 (--on-state contacts=denied)"
            ), "\(errors)")
        #expect(errors.contains("a late answer stays late"), "\(errors)")
        let values = text.explanation(
            of: .board(try Captures.session("all-commands")), name: "all-commands")
        #expect(
            values.contains(
                "value: event_id ios_event_1 of calendar_create c5 is used by calendar_delete c7"),
            "\(values)")
    }
}

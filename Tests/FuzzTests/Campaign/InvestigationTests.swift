import Capture
import Fuzz
import PhoneBridge
import Testing

/// One thing that a script has shown, looked into.
@Suite struct InvestigationTests {
    private let seen = Observation(
        check: "heartbeat-echo-id", rating: .sure, section: "", demand: "", text: "another id",
        isUniversal: false)

    /// What comes of it against a target that is a function of the script and of how often it was run.
    private func investigate(
        _ text: String, _ shows: (String, Int) -> Bool
    ) throws -> Investigation {
        var settings = Investigation.Settings()
        settings.finalRepeats = 10
        var investigation = Investigation(
            try FuzzScript(parsing: text), showed: seen, settings: settings)
        var runs: [FuzzScript: Int] = [:]
        while let question = investigation.next() {
            let run = runs[question.script, default: 0]
            runs[question.script] = run + 1
            let isShown =
                !question.script.mutations.isEmpty && shows(question.script.description, run)
            investigation.receive(
                .judged(isShown ? [seen] : [], Investigation.Evidence()))
        }
        return investigation
    }

    private static let script = """
        bridgetap-fuzz 1 as app
        connect a
        wait 5s
        !F3 frame a ping ""

        """

    @Test func `the repeats of a short script are as many as they are to be`() throws {
        let investigation = try investigate(Self.script) { _, _ in true }
        #expect(investigation.verdict == .confirmed)
        #expect(investigation.rate == Investigation.Rate(10, of: 10))
        #expect(investigation.script.steps.count == 1)
    }

    @Test func `what has become a matter of chance is taken a step longer`() throws {
        // Without the wait it comes four times, and then no more.
        let investigation = try investigate(Self.script) { text, run in
            text.contains("wait") || run < 4
        }
        #expect(investigation.verdict == .confirmed)
        #expect(investigation.isMinimised)
        #expect(investigation.rate == Investigation.Rate(10, of: 10))
        #expect(investigation.script.description.contains("wait"))
    }

    @Test func `what is a matter of chance at any length is as short as it comes most often`()
        throws
    {
        // All but each ninth run, if it is connected; else all but each fifth.
        let investigation = try investigate(Self.script) { text, run in
            (run + 1) % (text.contains("connect") ? 9 : 5) > 0
        }
        #expect(investigation.verdict == .confirmed)
        #expect(investigation.rate == Investigation.Rate(9, of: 10))
        #expect(
            investigation.script.description
                == "bridgetap-fuzz 1 as app\nconnect a\n!F3 frame a ping \"\"\n")
    }
}

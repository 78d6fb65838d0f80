import Arguments
import Capture
import Report
import Wire

/// What `bridgetap rules` was asked for.
struct RulesOptions: Sendable {
    /// What can be done about rules.
    enum Task: String, CaseIterable, Sendable {
        case learn
    }

    var task = Task.learn
    var files: [String] = []
    var output = "-"

    static let command = Command<Job>(
        "rules", summary: "proposes what may vary between sessions of one scenario",
        details: """
            "learn" holds the first session against each of the others, and proposes a rule for \
            each field that varies, with what was seen of it: ids, instants, counters, levels, \
            words and free text. Each rule keeps a check of the value's shape: what vanishes is \
            still a difference. What no rule should hide is told in the file's comments. Values \
            that tell about a person are masked there. Look at the file before you use it with \
            --rules (docs/comparison-rules.md).

            Ends with 0 where the sessions are the same with these rules, 1 where differences are \
            left, 4 where an input cannot be read, 5 where there is nothing to compare.
            """,
        options: RulesOptions(),
        arguments: [
            .operand(\.task, .choice("learn"), help: "the only thing to do so far"),
            .operands(\.files, .file, help: "sessions of one scenario, two at least"),
            .option(
                "output", short: "o", \.output, .file,
                help: "where to write the rules file; standard output otherwise"),
        ],
        examples: [
            Example(
                "bridgetap rules learn -o lab.rules.json5 monday.ndjson tuesday.ndjson friday.ndjson",
                "what is never the same?")
        ],
        check: { (options) throws(UsageError) in
            if options.files.count < 2 {
                throw .rule(
                    message: "one session says nothing of what varies",
                    hint: "record the same scenario again")
            }
            if options.files.count(where: { $0 == "-" }) > 1 {
                throw .rule(message: "standard input is one session", hint: "give - once")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        let report = try ReportFile(output, flag: "--output", inputs: files)
        let sessions = try files.map { try SessionInputs.diffSession($0) }
        let proposal: RulesProposal
        do throws(OutputError) {
            proposal = try RulesLearner(sessions).proposal()
        } catch {
            throw SessionInputs.failure(.cannotSpool(error))
        }
        try report.finish(Bytes(proposal.text.utf8))
        if sessions.allSatisfy({ $0.commands.isEmpty && $0.events.isEmpty }) {
            return .nothingExercised
        }
        return proposal.left.allSatisfy { $0 == 0 } ? .done : .found
    }
}

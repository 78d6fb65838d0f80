import Arguments
import BridgeProxy
import Capture
import Glibc
import Simulator
import Wire

/// What `bridgetap demo` was asked for.
struct DemoOptions: Sendable {
    var folder = "bridgetap-demo"

    static let command = Command<Job>(
        "demo",
        summary: "the whole job without hardware: records example sessions, shows and checks them",
        details: """
            A reference app and a reference board talk through the recorder, in one process and \
            in virtual time. The sessions are left in DIR, for the other commands to try.
            """,
        options: DemoOptions(),
        arguments: [
            .operand(
                \.folder, .text("DIR"), required: false,
                help: "where the sessions go (default: bridgetap-demo); made if it is not there")
        ],
        examples: [
            Example(
                "bridgetap demo",
                "records six sessions into bridgetap-demo, shows one and checks all")
        ],
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw Failure(.badInput, "cannot make \(folder): \(SystemError(errno, call: "mkdir"))")
        }
        try ProcessStreams.output("Recording, in virtual time:\n")
        for example in ExampleSession.demonstration {
            let outcome: Rehearsal.Outcome
            do {
                outcome = try Rehearsal.record(example, tool: Version.tool)
            } catch {
                throw Failure(.internalFault, "the demonstration cannot begin: \(error)")
            }
            let path = "\(folder)/\(example.name).ndjson"
            try save(outcome.session, to: path)
            let seconds = outcome.duration / 1_000_000_000
            try ProcessStreams.output(
                "  \(path)  \(outcome.statistics.events) events in \(seconds) s: \(example.summary)\n"
            )
        }
        let shown = "\(folder)/\(ExampleSession.errors.name).ndjson"
        try ProcessStreams.output("\nbridgetap show \(shown):\n\n")
        var show = ShowOptions()
        show.files = [shown]
        var code = try show.run()
        var check = CheckOptions()
        check.files = ExampleSession.demonstration.map { "\(folder)/\($0.name).ndjson" }
        try ProcessStreams.output("\nbridgetap check \(folder)/*.ndjson:\n\n")
        let checked = try check.run()
        // That something is found is what it is to show.
        if code == .done, checked != .found { code = checked }
        try ProcessStreams.output(
            """

            Next:
              bridgetap show \(folder)/pip-queue.ndjson
              bridgetap show --filter 'result ok=false' \(shown)
              jq -r 'select(.bridge) | .bridge[] | .kind' \(shown) | sort | uniq -c

            """)
        return code
    }

    private func save(_ session: Bytes, to path: String) throws {
        do throws(OutputError) {
            let file = try SessionFile(path: path, overwrites: true)
            try file.append(session.span)
            try file.close()
        } catch {
            throw Failure(.badInput, "cannot write \(path): \(error)")
        }
    }
}

import Arguments
import Glibc

/// What a command line turns into: a job to be run once everything about it is known to be right.
typealias Job = () throws -> ExitCode

@main
struct Main {
    static func main() {
        // A reader that goes away is an error of the write, told in its place.
        signal(SIGPIPE, SIG_IGN)
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs one command line; every way out of the program leads through here.
    private static func run(_ words: [String]) -> ExitCode {
        defer { ProcessStreams.showStatus(nil) }
        do {
            switch try program.parse(words) {
            case .help(let page): try ProcessStreams.output(page)
            case .version: try ProcessStreams.output(Version.tool + "\n")
            case .run(let job): return try job()
            }
            return .done
        } catch let failure as UsageFailure {
            ProcessStreams.remark(.error, failure.error.message)
            ProcessStreams.remark(.hint, failure.hint)
            return .usage
        } catch let failure as Failure {
            failure.tell()
            return failure.code
        } catch is ProcessStreams.OutputClosed {
            return .done
        } catch {
            ProcessStreams.remark(.error, "\(error)")
            return .internalFault
        }
    }

    private static let program = Program<Job>(
        "bridgetap",
        summary: "records the link between a phone app and a hardware board",
        details: """
            Exit codes: 0 done, nothing wrong found; 1 something was found; 2 wrong usage; \
            3 the other side could not be used; 4 an input file cannot be read or is torn; \
            5 nothing was exercised; 6 the recording is incomplete; 70 a fault of the tool; \
            130 cut short by a signal.
            """,
        commands: [
            RecordOptions.command, SniffOptions.command, ShowOptions.command, StatsOptions.command,
            CheckOptions.command, DiffOptions.command, RulesOptions.command, VerifyOptions.command,
            ConvertOptions.command, RedactOptions.command, ReplayCommandOptions.command,
            FuzzCommandOptions.command,
            FindingsOptions.command, BoardCommandOptions.command, AppCommandOptions.command,
            ViewOptions.command, BundleOptions.command, DemoOptions.command,
        ])
}

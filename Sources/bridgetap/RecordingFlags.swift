import Arguments
import BridgeProxy

/// What every command that records can be told.
struct RecordingFlags: Sendable {
    var outputs: [String] = []
    var rotate: SizeOrTime?
    var sync = false
    var mark = "mark"
    var logs: [SideLog.Command] = []
    var readyFile: String?
    var quiet = false
    var redacts = false
    var key: String?
    var policy: String?

    /// Flags that mean nothing without another one.
    static let companions = [
        (name: "--key", needs: "--redact"), (name: "--policy", needs: "--redact"),
    ]

    /// Refuses a name whose ending picks no format.
    func checkOutputs() throws(UsageError) {
        for output in outputs
        where output != "-" && !Recording.endings.contains(where: output.hasSuffix) {
            throw .rule(
                message: "-o: \(output) has no ending that picks a format",
                hint: "end it in \(Recording.endings.joined(separator: ", "))")
        }
    }
}

/// Options of a command that records.
protocol RecordingOptions: Sendable {
    var recording: RecordingFlags { get set }
}

extension Argument where Options: RecordingOptions {
    static func outputs(required: Bool) -> Argument {
        .options(
            "output", short: "o", \.recording.outputs, .file, required: required,
            help: "the session's file")
    }

    static var rotate: Argument {
        .option(
            "rotate", \.recording.rotate, .sizeOrTime(),
            help: "begin a new file after so much: FILE-0001.ndjson, ...")
    }

    static var sync: Argument {
        .flag(
            "sync", \.recording.sync,
            help: "have the files on the disk each second, so that a power cut loses no more")
    }

    static var mark: Argument {
        .option("mark", \.recording.mark, .text("TEXT"), help: "the text of a mark (default: mark)")
    }

    static var log: Argument {
        .options(
            "log", \.recording.logs, .logCommand,
            help: "run this command, and put its lines into the session as notes")
    }

    static func readyFile(help: String) -> Argument {
        .option("ready-file", \.recording.readyFile, .file, help: help)
    }

    /// What makes the files redacted ones.
    static var redaction: [Argument] {
        [
            .flag(
                "redact", \.recording.redacts,
                help: "write the session without what it tells about people (docs/redaction.md)"),
            .option(
                "key", \.recording.key, .file,
                help: "for --redact: the key by which stand-ins are chosen; made where it is not "
                    + "there"),
            .option(
                "policy", \.recording.policy, .file,
                help: "for --redact: what is to be kept, or replaced as what"),
        ]
    }

    static var quiet: Argument {
        .flag(
            "quiet", short: "q", \.recording.quiet,
            help: "no status line and no remarks but warnings")
    }
}

extension ArgumentValue where Value == SideLog.Command {
    /// A name, and a command for the shell.
    static var logCommand: ArgumentValue {
        ArgumentValue("NAME='COMMAND'") { (text) throws(ValueError) in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[1].allSatisfy(\.isWhitespace) else {
                throw ValueError("there is no command; write it like adb='adb logcat'")
            }
            let isName: (Character) -> Bool = {
                $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" || $0 == "."
            }
            guard !parts[0].isEmpty, parts[0].allSatisfy(isName) else {
                throw ValueError(
                    "\"\(parts[0])\" is no name of a log; use letters, digits, -, _ and .")
            }
            return SideLog.Command(name: String(parts[0]), line: String(parts[1]))
        }
    }
}

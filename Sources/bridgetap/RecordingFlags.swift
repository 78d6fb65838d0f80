import Arguments
import BridgeProxy
import Capture

/// What every command that records can be told.
struct RecordingFlags: Sendable {
    var outputs: [String] = []
    var rotate: SizeOrTime?
    var ring: Duration?
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
        where output != "-" && !Recording.endings.contains(where: output.hasSuffix)
            && (ring == nil || !output.hasSuffix(RingOutputs.bundle))
        {
            throw .rule(
                message: "-o: \(output) has no ending that picks a format",
                hint: "end it in \(Recording.endings.joined(separator: ", ")), or with --ring in "
                    + RingOutputs.bundle)
        }
        guard let ring else { return }
        guard ring >= .seconds(1) else {
            throw .rule(message: "--ring: a second is the least", hint: "try 10min")
        }
        guard !outputs.contains("-") else {
            throw .rule(
                message: "--ring writes a file at each trigger, and standard output is one",
                hint: "name a file, such as bug.ndjson: it gives bug-0001.ndjson, ...")
        }
    }

    /// What is said of the outputs where a recording begins.
    var place: String {
        guard ring != nil else { return "to \(outputs.joined(separator: ", "))" }
        let names = outputs.map { Rotation.path($0, part: 1) }
        return "in memory; SIGUSR1 or the key b writes the last of it to "
            + "\(names.joined(separator: ", ")), ..."
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

    static var ring: Argument {
        .option(
            "ring", \.recording.ring, .duration(),
            help: "keep only the last so much, in memory, and write it at a trigger, see below: "
                + "FILE-0001.ndjson, ...; FILE.zip gives bundles")
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

/// What `--ring` is about, for the pages of help.
let ringDetails = """
    With --ring, nothing is written until there is a reason: SIGUSR1, the key b, a rule rated strong \
    or likely that is broken (with --check), or the end of the recording. Then the last so much is \
    written to the next file that is not there yet, with what it rests on from before: handshakes, \
    the state of the phone, commands under way. Recording goes on meanwhile. At most 256 MiB of \
    memory are kept, twice that while a file is written; what had no room is told in the file. A \
    rule that goes on being broken rests for TIME, then for twice as long, and so on up to a day; \
    files of different rules are TIME apart. -o FILE.zip makes each a bundle, redacted, for a \
    developer: see bridgetap bundle --help.
    """

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

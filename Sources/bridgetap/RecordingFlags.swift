import Arguments
import BridgeProxy

/// What every command that records can be told.
struct RecordingFlags: Sendable {
    var outputs: [String] = []
    var rotate: SizeOrTime?
    var sync = false
    var mark = "mark"
    var readyFile: String?
    var quiet = false

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

    static func readyFile(help: String) -> Argument {
        .option("ready-file", \.recording.readyFile, .file, help: help)
    }

    static var quiet: Argument {
        .flag(
            "quiet", short: "q", \.recording.quiet,
            help: "no status line and no remarks but warnings")
    }
}

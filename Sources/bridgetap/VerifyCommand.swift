import Arguments
import Capture
import Report
import Wire

/// What `bridgetap verify` was asked for.
struct VerifyOptions: Sendable {
    var files: [String] = []
    var repairs = false
    var output: String?
    var isJSON = false
    var requiresComplete = false

    static let command = Command<Job>(
        "verify", summary: "is a session file whole?",
        details: """
            Looks for a torn last line, missing numbers, events that were not recorded, times \
            that fall, and bytes that do not rebuild. Ends with 1 where there is a warning or an \
            error; --require-complete makes that 4. Of a pcap, pcapng or HAR file it tells what \
            could not be read of it. A repaired file has new numbers, and notes where something \
            was lost.
            """,
        options: VerifyOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "a session file, packed or not, or a pcap, pcapng or HAR file; - is standard "
                    + "input"),
            .flag("repair", \.repairs, help: "write what is good of the file to another"),
            .option("output", short: "o", \.output, .file, help: "the repaired file"),
            .flag("json", \.isJSON, help: "the findings as NDJSON"),
            .flag(
                "require-complete", \.requiresComplete,
                help: "end with 4 where a file is torn, cut or admits that something is missing"),
        ],
        companions: [
            (name: "--repair", needs: "--output"), (name: "--output", needs: "--repair"),
        ],
        examples: [
            Example("bridgetap verify lab.ndjson", "after a crash"),
            Example(
                "bridgetap verify --repair -o lab-good.ndjson lab.ndjson", "keep what is good"),
            Example(
                "bridgetap verify --require-complete captures/*.ndjson",
                "in a script that must not go on with half a session"),
        ],
        check: { (options) throws(UsageError) in
            if options.repairs, options.files.count != 1 {
                throw .rule(
                    message: "--repair: it takes one file at a time", hint: "run it once for each")
            }
            if options.repairs, options.files == ["-"] {
                throw .rule(
                    message: "--repair: standard input cannot be read twice",
                    hint: "save it to a file first")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        var isWhole = true
        var isReadable = true
        for file in files {
            let verifier: SessionVerifier
            do throws(SessionError) {
                verifier = try SessionVerifier.verify(try SessionInputs.source(file))
            } catch {
                // One that is no session does not keep the others from being looked at.
                SessionInputs.failure(error).tell()
                isReadable = false
                continue
            }
            try tell(file == "-" ? "standard input" : file, verifier)
            if let worst = verifier.worst, worst > .info { isWhole = false }
        }
        if repairs, isReadable, let file = files.first, let output {
            try repair(file, to: output)
        }
        guard isReadable else { return .badInput }
        return isWhole ? .done : requiresComplete ? .badInput : .found
    }

    private func tell(_ name: String, _ verifier: SessionVerifier) throws {
        guard !isJSON else { return try ProcessStreams.output(json(name, verifier)) }
        let layout = VerifyText(isColoured: ProcessStreams.isColoured(1))
        try ProcessStreams.output(layout.text(name: name, verifier))
        for hint in layout.hints(verifier) { ProcessStreams.remark(.hint, hint) }
    }

    private func json(_ name: String, _ verifier: SessionVerifier) -> Bytes {
        var bytes: Bytes = []
        for finding in verifier.findings {
            var members: [JSON.Member] = [
                .init("file", .string(name)),
                .init("severity", .string(finding.severity.rawValue)),
                .init("code", .string(finding.code)),
                .init(finding.position.unit, .integer(finding.position.line)),
                .init("text", .string(finding.text)),
            ]
            if let hint = finding.hint { members.append(.init("hint", .string(hint))) }
            JSON.object(members).encode(into: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private func repair(_ file: String, to output: String) throws {
        let repair: SessionRepair
        do throws(SessionRepair.FileError) {
            repair = try SessionRepair.repair(path: file, to: output)
        } catch {
            switch error {
            case .sameFile(let path):
                throw Failure(
                    .usage, "--output: \(path) is the input itself",
                    hint: "a repair never happens in place; choose another name")
            case .notLines(let path):
                throw Failure(
                    .usage, "--repair: \(path) is no file of lines",
                    hint: "bridgetap convert writes what can be read of it")
            case .session(let error): throw SessionInputs.failure(error)
            case .output(let error): throw SessionOutputs.failure(error)
            }
        }
        if let error = repair.status.pausedBy { throw SessionOutputs.failure(error) }
        let kept = counted(repair.kept, "event")
        ProcessStreams.remark(
            .note, "\(output): \(kept) kept, \(counted(repair.lost, "line")) lost")
    }
}

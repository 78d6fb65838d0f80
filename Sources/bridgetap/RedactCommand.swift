import Arguments
import Capture
import PhoneBridge
import Report
import Wire

/// What `bridgetap redact` was asked for.
struct RedactOptions: Sendable {
    var inputs: [String] = []
    var output: String?
    var scans = false
    var key: String?
    var policy: String?
    var ports: [Int] = []
    var isJSON = false
    var requiresComplete = false

    static let command = Command<Job>(
        "redact", summary: "a session without what it tells about people",
        details: """
            Names, numbers, addresses, places, notes and whatever else people wrote become \
            stand-ins of the same form; times move by whole weeks; the structure, the order, the \
            links and what is equal stay, so that every other command reads the session as before. \
            Sessions that are redacted under one key go together. docs/redaction.md tells what \
            becomes of what.

            Prints what was touched: kinds and fields, never a value.

            --scan tells what still looks personal: of a raw session what redaction would replace; \
            of a redacted one e-mail addresses and hosts that are not reserved, and phone numbers in \
            what redaction keeps. It ends with 1 where there is anything.
            """,
        options: RedactOptions(),
        arguments: [
            .operands(
                \.inputs, .file,
                help: "session files, parts of one or several sessions, pcap, pcapng or HAR files; "
                    + "- is standard input"),
            .option(
                "output", short: "o", \.output, .file,
                help: "the redacted session; its ending picks the format, as in convert"),
            .redactionKey(\.key), .redactionPolicy(\.policy),
            .options(
                "port", \.ports, .integer(in: 1...65535),
                help: "of packets and of a HAR only those of this TCP port"),
            .flag("scan", \.scans, help: "tell what still looks personal, and write nothing"),
            .flag("json", \.isJSON, help: "what was touched or found, a line of JSON a session"),
            .flag(
                "require-complete", \.requiresComplete,
                help: "end with 4 where the input is torn, cut or admits drops"),
        ],
        exclusive: [["--scan", "--output"], ["--scan", "--key"], ["--scan", "--policy"]],
        examples: [
            Example(
                "bridgetap redact lab.ndjson -o lab-redacted.ndjson", "to send one session away"),
            Example(
                "bridgetap redact --key team.key monday.ndjson -o monday-redacted.ndjson",
                "one of several that are to be compared"),
            Example("bridgetap redact --scan lab-redacted.ndjson", "may it leave the house?"),
        ],
        check: { (options) throws(UsageError) in
            if options.output == nil, !options.scans {
                throw .missingOption(name: "--output", placeholder: "FILE")
            }
            if options.isJSON, options.output == "-" {
                throw .rule(
                    message: "standard output can be one thing only",
                    hint: "give --output the name of a file")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        guard let output else { return try scan() }
        let policy = try RedactionInput.policy(policy)
        let redactor = Redactor(key: try RedactionInput.key(key), policy: policy)
        var source = try ConvertSource(inputs, ports: Set(ports.map { UInt16(clamping: $0) }))
        let session = try source.session()
        if redactor.hasRedacted(session) {
            ProcessStreams.remark(
                .note, "\(source.name) was redacted with this key before; it is copied")
        }
        var conversion = try Conversion(
            session, to: output, isImported: source.isImported(session), isLive: inputs == ["-"],
            redactor: redactor)
        try conversion.run(&source, to: output)
        try tell(redactor, of: output)
        return conversion.isComplete || !requiresComplete ? .done : .badInput
    }

    private func tell(_ redactor: Redactor, of output: String) throws {
        if isJSON {
            var line = redactor.manifest.json.encoded
            line.append(UInt8(ascii: "\n"))
            return try ProcessStreams.output(line)
        }
        // Standard output is the session's.
        guard output != "-" else { return }
        try ProcessStreams.output(
            RedactionText(redactor.manifest, keyID: redactor.keyID).text(name: output))
    }

    // MARK: Scanning

    private func scan() throws -> ExitCode {
        var isReadable = true
        var isComplete = true
        var hasFound = false
        let ports = Set(ports.map { UInt16(clamping: $0) })
        for group in SessionGroups.group(inputs.map { SessionFileInput(path: $0) }) {
            let name = SessionGroups.name(of: group)
            guard let scan = RedactionScan() else {
                throw Failure(.internalFault, "the system's libcrypto refuses to work")
            }
            do throws(SessionError) {
                var reader = try SessionReader(group, ports: ports)
                while let item = try reader.next() {
                    switch item {
                    case .event(let event): scan.receive(event)
                    case .remark(let remark):
                        SessionInputs.warn(remark, name: reader.name)
                        isComplete = false
                    }
                }
            } catch {
                // One that cannot be read does not keep the others from being looked at.
                SessionInputs.failure(error).tell()
                isReadable = false
                continue
            }
            if scan.count > 0 { hasFound = true }
            let text = RedactionText(scan)
            try ProcessStreams.output(isJSON ? text.line(name: name) : text.text(name: name))
        }
        if !isReadable || requiresComplete && !isComplete { return .badInput }
        return hasFound ? .found : .done
    }
}

import Arguments
import Capture
import Glibc
import Inspector
import PhoneBridge
import Report
import Wire

/// What `bridgetap bundle` was asked for.
struct BundleOptions: Sendable {
    var inputs: [String] = []
    var output: String?
    var key: String?
    var policy: String?
    var ports: [Int] = []
    var profile = Profile.contract.name

    static let command = Command<Job>(
        "bundle", summary: "a bug report in one file, without personal data",
        details: """
            A zip with the redacted session, the page that opens in a browser without a network, \
            what check and stats say of the session, what the program and the link were, and a \
            text to paste into an issue tracker. Whoever has it can see what happened and replay \
            it. What becomes of names, numbers, texts and times stands in docs/redaction.md.

            Prints what the bundle is about, and what was replaced in it: never a value.
            """,
        options: BundleOptions(),
        arguments: [
            .operands(
                \.inputs, .file,
                help: "session files, parts of one or several sessions, pcap, pcapng or HAR files; "
                    + "- is standard input"),
            .option(
                "output", short: "o", \.output, .file, help: "the bundle, such as report.zip"),
            .redactionKey(\.key), .redactionPolicy(\.policy),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "the target's numbers, and which rules count: contract (default), "
                    + "board-1.2, or a file (docs/profiles.md)"),
            .options(
                "port", \.ports, .integer(in: 1...65535),
                help: "of packets and of a HAR only those of this TCP port"),
        ],
        examples: [
            Example("bridgetap bundle lab.ndjson -o report.zip", "a file for a developer"),
            Example(
                "bridgetap bundle --key team.key field.pcap -o field.zip",
                "of packets, with stand-ins that other bundles of the team have too"),
        ],
        check: { (options) throws(UsageError) in
            guard let output = options.output else {
                throw .missingOption(name: "--output", placeholder: "FILE")
            }
            if !output.hasSuffix(".zip") {
                throw .rule(
                    message: "--output: a bundle is a zip, and its name ends so",
                    hint: "such as report.zip")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        let output = output ?? ""
        let profile = try ProfileInput.load(profile)
        let policy = try RedactionInput.policy(policy)
        // Who names a key, or what is to be replaced, wants it done.
        let redactor = Redactor(
            key: try RedactionInput.key(key), policy: policy,
            passesOtherKeys: key == nil && self.policy == nil)
        var source = try ConvertSource(inputs, ports: Set(ports.map { UInt16(clamping: $0) }))
        let session = try source.session()
        if redactor.hasRedacted(session) {
            ProcessStreams.remark(
                .note, "\(source.name) was redacted before; it is bundled as it is")
        }
        let bundle: BundleOutput
        do throws(OutputError) {
            bundle = try BundleOutput(
                path: output, session: session, redactor: redactor,
                about: BundleFacts.about(profile))
        } catch {
            throw SessionOutputs.failure(error)
        }
        var conversion = Conversion(
            into: RedactedOutput(bundle, redactor: redactor), isLive: inputs == ["-"])
        try conversion.take(&source)
        if let error = conversion.finish() { throw SessionOutputs.failure(error) }
        let size = byteCount(bundle.status.size)
        try ProcessStreams.output(
            "\(visible(output)): \(size)\n" + bundle.summary.map { "  \($0)\n" }.joined()
                + (redactor.hasRedacted(session)
                    ? ""
                    : RedactionText(redactor.manifest, keyID: redactor.keyID)
                        .text(name: "redacted")))
        return .done
    }
}

/// What a bundle says of the program and its system.
enum BundleFacts {
    static func about(_ profile: Profile) -> BundleOutput.About {
        BundleOutput.About(
            tool: Version.tool, system: system, time: Int64(time(nil)), profile: profile)
    }

    /// Its name, release and machine, and no name of a host.
    private static var system: String {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return "unknown" }
        return [text(name.sysname), text(name.release), text(name.machine)]
            .joined(separator: " ")
    }

    private static func text<T>(_ field: T) -> String {
        unsafe withUnsafeBytes(of: field) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

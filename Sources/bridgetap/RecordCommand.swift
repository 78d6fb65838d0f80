import Arguments
import BridgeProxy
import Capture
import Network
import PhoneBridge
import Wire

/// `bridgetap record`: the proxy.
struct RecordOptions: Sendable {
    var listen = HostAndPort(host: "127.0.0.1", port: 0)
    var upstream: HostAndPort?
    var outputs: [String] = []
    var transparent = false
    var upstreamInterface: String?
    var allowFrom: [CIDR] = []
    var rotate: SizeOrTime?
    var strict = false
    var sync = false
    var mark = "mark"
    var readyFile: String?
    var quiet = false
    var checks = false
    var profile: String?
}

extension RecordOptions {
    static let command = Command<Job>(
        "record", summary: "records what crosses between an app and a board, as a proxy",
        details: """
            Point the app at the address that is listened on, and the proxy at the board. Every \
            byte is passed on as it came, after it has been written. The ending of an output's name \
            picks its format: .ndjson, .ndjson.gz, .ndjson.zst or .pcap. Ctrl-C ends the recording \
            in good order; SIGUSR2, or the key m, sets a mark. docs/links.md tells how to get \
            between a phone and a board.
            """,
        options: RecordOptions(),
        arguments: [
            .option(
                "listen", \.listen, .hostAndPort(), required: true,
                help: "where the app comes to; port 0 takes any free one"),
            .option("upstream", \.upstream, .hostAndPort(), help: "where the board is"),
            .options(
                "output", short: "o", \.outputs, .file, required: true,
                help: "the session's file"),
            .flag(
                "transparent", \.transparent,
                help:
                    "go where a redirected connection was meant to go; --upstream is for the others"
            ),
            .option(
                "upstream-interface", \.upstreamInterface, .text("NAME"),
                help: "leave through this network interface"),
            .options(
                "allow-from", \.allowFrom, .cidr,
                help:
                    "who may connect, besides this machine; needed to listen elsewhere than on loopback"
            ),
            .option(
                "rotate", \.rotate, .sizeOrTime(),
                help: "begin a new file after so much: FILE-0001.ndjson, ..."),
            .flag(
                "strict", \.strict,
                help: "close the link rather than pass on what cannot be recorded"),
            .flag(
                "sync", \.sync,
                help: "have the files on the disk each second, so that a power cut loses no more"),
            .option("mark", \.mark, .text("TEXT"), help: "the text of a mark (default: mark)"),
            .option(
                "ready-file", \.readyFile, .file,
                help: "write the chosen address to this file once it is listening"),
            .flag(
                "check", \.checks,
                help: "hold the session against the rules of the contract as it goes on; ends with "
                    + "1 where one that counts was broken"),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "for --check: the target's numbers, see bridgetap check --help"),
            .flag("quiet", short: "q", \.quiet, help: "no status line and no remarks but warnings"),
        ],
        companions: [(name: "--profile", needs: "--check")],
        examples: [
            Example(
                "bridgetap record --listen 127.0.0.1:8080 --upstream 192.168.42.1:8080 -o lab.ndjson",
                "between an emulator's app and a board on USB"),
            Example(
                "bridgetap record --transparent --listen 0.0.0.0:8080 --allow-from 192.168.42.0/24 -o lab.ndjson",
                "behind a redirecting NAT rule"),
        ],
        check: { (options) throws(UsageError) in
            if !options.transparent, options.upstream == nil {
                throw .rule(
                    message: "--upstream HOST:PORT is missing", hint: "where is the board?")
            }
            for output in options.outputs
            where output != "-" && !Recording.endings.contains(where: output.hasSuffix) {
                throw .rule(
                    message: "-o: \(output) has no ending that picks a format",
                    hint: "end it in \(Recording.endings.joined(separator: ", "))")
            }
            let isLoopback =
                options.listen.host == "localhost"
                || IPAddress(parsing: options.listen.host)?.isLoopback == true
            if !isLoopback, options.allowFrom.isEmpty {
                throw .rule(
                    message: "listening on \(options.listen) opens the recorder to the network",
                    hint: "say who may connect, such as --allow-from 192.168.42.0/24")
            }
        },
        action: { options in { try RecordJob(options).run() } })
}

extension ArgumentValue where Value == CIDR {
    /// An address or a network.
    static var cidr: ArgumentValue {
        ArgumentValue("CIDR") { (text) throws(ValueError) in
            guard let network = CIDR(parsing: text) else {
                throw ValueError(
                    "\"\(text)\" is no address or network; write one like 192.168.42.0/24")
            }
            return network
        }
    }
}

/// One recording, from the first line on the terminal to the last.
private final class RecordJob {
    private let options: RecordOptions
    private let loop: UVLoop
    private let screen: StatusScreen
    private var recording: Recording?

    init(_ options: RecordOptions) throws {
        self.options = options
        do {
            loop = try UVLoop()
        } catch {
            throw Failure(.internalFault, "cannot start the event loop: \(error)")
        }
        screen = StatusScreen(isQuiet: options.quiet)
    }

    func run() throws -> ExitCode {
        let listen = try resolve(options.listen, for: "--listen")
        let upstream = try options.upstream.map { try resolve($0, for: "--upstream") } ?? []
        guard let address = listen.first else {
            throw Failure(.unreachable, "--listen: \(options.listen.host) has no address")
        }
        let recording = try open(on: address)
        self.recording = recording
        do {
            try recording.start(upstream: upstream)
        } catch {
            _ = recording.stop()
            throw Failure(
                .unreachable, "cannot listen on \(address): \(error)",
                hint: error.kind == .addressInUse
                    ? "is another recorder running? choose another port with --listen"
                    : error.kind == .addressNotAvailable
                        ? "no interface of this machine has that address now; is the phone plugged in?"
                        : nil)
        }
        // Who is told that it is ready may end it at once.
        try watchSignals()
        try announce(recording)
        let keyboard = options.quiet ? nil : loop.onKey { [weak self] key in self?.press(key) }
        defer { keyboard?.cancel() }
        loop.run()
        return finish(recording.stop())
    }

    private func open(on address: SocketAddress) throws -> Recording {
        let fallback = options.upstream.map { Endpoint(host: $0.host, port: $0.port) }
        let target: ProxyConfiguration.Target
        if options.transparent {
            target = .originalDestination(fallback: fallback)
        } else if let fallback {
            target = .upstream(fallback)
        } else {
            throw Failure(.usage, "--upstream is missing")
        }
        var proxy = ProxyConfiguration(listen: address, target: target)
        proxy.upstreamInterface = options.upstreamInterface
        proxy.allowFrom = options.allowFrom
        proxy.isStrict = options.strict
        let session = SessionInfo(
            id: Self.identifier(loop.randomBytes(8)),
            startedAt: Timestamp(wall: loop.wallClock).nanosecondText, tool: Version.tool,
            source: options.transparent ? "transparent" : "proxy",
            listen: address.description, upstream: options.upstream?.description,
            interface: options.upstreamInterface)
        var recordingOptions = Recording.Options(
            proxy: proxy, session: session, outputs: options.outputs)
        recordingOptions.synchronises = options.sync
        recordingOptions.markText = options.mark
        if options.checks { recordingOptions.check = try liveCheck() }
        switch options.rotate {
        case .size(let size)?:
            recordingOptions.rotation = Rotation(maximumSize: UInt64(clamping: size.bytes))
        case .time(let time)?:
            recordingOptions.rotation = Rotation(maximumDuration: time.wholeNanoseconds)
        case nil:
            break
        }
        do throws(OutputError) {
            return try Recording(recordingOptions, loop: loop) { [screen] in screen.show($0) }
        } catch {
            throw Failure(
                .badInput, "cannot write \(error.path): \(error)",
                hint: error.name == "EEXIST"
                    ? "a recording is never written over; choose another name, or remove that file"
                    : nil)
        }
    }

    private func liveCheck() throws -> LiveCheck {
        let profile = try ProfileInput.load(options.profile ?? Profile.contract.name)
        let today = String(Timestamp(wall: loop.wallClock).wholeSecondsText.prefix(10))
        ProfileInput.warnOfEndedWaivers(profile, today: today)
        return LiveCheck(profile: profile, today: today)
    }

    private static func identifier(_ bytes: Bytes) -> String {
        var text: Bytes = []
        appendHex(bytes.span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private func announce(_ recording: Recording) throws {
        guard let address = recording.localAddress else { return }
        let upstream = options.upstream.map { " -> \($0)" } ?? ""
        screen.note(
            "recording \(address)\(upstream) to \(options.outputs.joined(separator: ", ")); Ctrl-C ends it"
        )
        if !options.outputs.contains("-") { try ProcessStreams.output("\(address)\n") }
        if let path = options.readyFile {
            try ReadyFile.write("\(address)\n", to: path)
        }
    }

    private func watchSignals() throws {
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                _ = try loop.onSignal(signal) { [loop] in loop.stop() }
            }
            _ = try loop.onSignal(.user2) { [weak self] in self?.recording?.mark() }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
    }

    private func press(_ key: UInt8) {
        if key == UInt8(ascii: "m") { recording?.mark() }
    }

    private func finish(_ summary: Recording.Summary) -> ExitCode {
        screen.clear()
        for output in summary.outputs {
            let size = StatusLine.bytesText(Double(output.size))
            screen.note("\(output.path): \(output.written) events, \(size)")
            if !output.isComplete {
                screen.warn(
                    "\(output.path) is incomplete: \(output.dropped) events could not be written"
                        + (output.pausedBy.map { ", the last ones because of \($0)" } ?? ""))
            }
        }
        if summary.statistics.connections == 0 {
            screen.note("no app connected; docs/links.md tells how to get in between")
        }
        if let check = summary.check { screen.show(check) }
        guard summary.isComplete else { return .incomplete }
        return summary.check?.broken.isEmpty ?? true ? .done : .found
    }

    /// The addresses of a name; this runs the loop until they are there.
    private func resolve(_ place: HostAndPort, for flag: String) throws -> [SocketAddress] {
        var result: Result<[SocketAddress], NetworkError>?
        loop.resolve(place.host, port: place.port) { [loop] in
            result = $0
            loop.stop()
        }
        loop.run()
        switch result {
        case .success(let addresses)?: return addresses
        case .failure(let error)?:
            throw Failure(.unreachable, "\(flag): cannot look up \(place.host): \(error)")
        case nil:
            throw Failure(.internalFault, "\(flag): the look-up of \(place.host) gave no answer")
        }
    }
}

extension Duration {
    /// The whole duration in nanoseconds; values of the command line always fit.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product + attoseconds / 1_000_000_000
    }
}

import Arguments
import BridgeProxy
import Capture
import Inspector
import Network
import PhoneBridge
import Wire

/// `bridgetap record`: the proxy.
struct RecordOptions: RecordingOptions {
    var listen = HostAndPort(host: "127.0.0.1", port: 0)
    var upstream: HostAndPort?
    var transparent = false
    var upstreamInterface: String?
    var allowFrom: [CIDR] = []
    var strict = false
    var faults: String?
    var checks = false
    var profile: String?
    var ui: HostAndPort?
    var recording = RecordingFlags()
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

            --fault takes terms with commas between them: delay=200ms..2s, drop, duplicate, \
            reorder, truncate, corrupt, reset, stall=10s, throttle=9600bps, split, merge. Behind \
            one may stand a filter in brackets, in the language of bridgetap show, and a colon \
            with how likely it is. A message is then held until it is there as a whole, up to 1 \
            MiB; the file has what was sent, and a note with code=fault what was done to it.

            \(ringDetails)
            """,
        options: RecordOptions(),
        arguments: [
            .option(
                "listen", \.listen, .hostAndPort(), required: true,
                help: "where the app comes to; port 0 takes any free one"),
            .option("upstream", \.upstream, .hostAndPort(), help: "where the board is"),
            .outputs(required: true),
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
            .rotate, .ring,
            .flag(
                "strict", \.strict,
                help: "close the link rather than pass on what cannot be recorded"),
            .option(
                "fault", \.faults, .faults,
                help: "do this to messages on their way, see below; each fault is a note in the "
                    + "session"),
            .sync, .mark, .log,
            .readyFile(help: "write the chosen address to this file once it is listening"),
            .flag(
                "check", \.checks,
                help: "hold the session against the rules of the contract as it goes on; ends with "
                    + "1 where one that counts was broken"),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "for --check: the target's numbers, see bridgetap check --help"),
            .option(
                "ui", \.ui, .hostAndPort(),
                help: "show the recording as it goes on in a browser, at the address that is "
                    + "printed second (bridgetap view --help), and its figures to Prometheus, "
                    + "at metrics below it"),
        ] + Argument.redaction + [.quiet],
        exclusive: [["--ring", "--rotate"], ["--ring", "--strict"]],
        companions: [(name: "--profile", needs: "--check")] + RecordingFlags.companions,
        examples: [
            Example(
                "bridgetap record --listen 127.0.0.1:8080 --upstream 192.168.42.1:8080 -o lab.ndjson",
                "between an emulator's app and a board on USB"),
            Example(
                "bridgetap record --transparent --listen 0.0.0.0:8080 --allow-from 192.168.42.0/24 -o lab.ndjson",
                "behind a redirecting NAT rule"),
            Example(
                "bridgetap record --transparent --listen 127.0.0.1:8080 --log phone='adb logcat' -o lab.ndjson",
                "with the phone's own log beside the link"),
            Example(
                "bridgetap record --transparent --listen 127.0.0.1:8080 --redact --key team.key -o lab.ndjson",
                "a session that may leave the house"),
            Example(
                "bridgetap record --transparent --listen 127.0.0.1:8080 --fault 'drop[result]:0.05' -o lab.ndjson",
                "loses one answer in twenty"),
            Example(
                "bridgetap record --transparent --listen 127.0.0.1:8080 --check --ring 10min -o bug.ndjson",
                "runs for days; the last ten minutes are written when a bug is seen"),
        ],
        check: { (options) throws(UsageError) in
            if !options.transparent, options.upstream == nil {
                throw .rule(
                    message: "--upstream HOST:PORT is missing", hint: "where is the board?")
            }
            try options.recording.checkOutputs()
            try options.listen.check(
                allowing: options.allowFrom,
                "listening on \(options.listen) opens the recorder to the network")
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

/// One recording of a proxy, from the first line on the terminal to the last.
private final class RecordJob {
    private let options: RecordOptions
    private let job: RecordingJob

    init(_ options: RecordOptions) throws {
        self.options = options
        job = try RecordingJob(options.recording)
    }

    func run() throws -> ExitCode {
        let listen = try resolve(options.listen, for: "--listen")
        let upstream = try options.upstream.map { try resolve($0, for: "--upstream") } ?? []
        guard let address = listen.first else {
            throw Failure(.unreachable, "--listen: \(options.listen.host) has no address")
        }
        let configuration = try configuration(on: address)
        let check = options.checks ? try liveCheck() : nil
        let session = job.session(
            source: options.transparent ? "transparent" : "proxy", at: job.loop.wallClock
        ) {
            $0.listen = address.description
            $0.upstream = options.upstream?.description
            $0.interface = options.upstreamInterface
        }
        let page = try options.ui.map {
            try LivePage(
                at: $0, allowFrom: options.allowFrom, of: session,
                outputs: options.recording.outputs, profile: options.profile, job)
        }
        let recording = try job.open(
            session, check: check,
            profile: try ProfileInput.load(options.profile ?? Profile.contract.name),
            besides: page.map { [$0.output] } ?? [])
        defer { page?.close() }
        page?.follow(recording)
        let proxy = Proxy(configuration, loop: job.loop, recorder: recording.recorder) {
            [screen = job.screen] in screen.show(.remark($0))
        }
        let summary = try job.run(recording) {
            try start(proxy, on: address, upstream: upstream)
            recording.start(proxy)
            if let address = proxy.localAddress { try announce(address, page: page?.address) }
        }
        let code = job.tell(summary)
        if summary.statistics.connections == 0 {
            job.screen.note("no app connected; docs/links.md tells how to get in between")
        }
        guard let check = summary.check else { return code }
        job.screen.show(check)
        return code == .done && !check.broken.isEmpty ? .found : code
    }

    private func liveCheck() throws -> LiveCheck {
        let profile = try ProfileInput.load(options.profile ?? Profile.contract.name)
        let today = String(Timestamp(wall: job.loop.wallClock).wholeSecondsText.prefix(10))
        ProfileInput.warnOfEndedWaivers(profile, today: today)
        return LiveCheck(profile: profile, today: today)
    }

    private func start(
        _ proxy: Proxy, on address: SocketAddress, upstream: [SocketAddress]
    ) throws {
        do {
            try proxy.start(upstream: upstream)
        } catch {
            throw Failure(
                .unreachable, "cannot listen on \(address): \(error)",
                hint: error.kind == .addressInUse
                    ? "is another recorder running? choose another port with --listen"
                    : error.kind == .addressNotAvailable
                        ? "no interface of this machine has that address now; is the phone plugged in?"
                        : nil)
        }
    }

    private func configuration(on address: SocketAddress) throws -> ProxyConfiguration {
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
        proxy.faults = try options.faults.map { text in
            do {
                return try FaultSpec(parsing: text)
            } catch {
                throw Failure(.usage, "--fault: \(error)")
            }
        }
        return proxy
    }

    private func announce(_ address: SocketAddress, page: String?) throws {
        let upstream = options.upstream.map { " -> \($0)" } ?? ""
        let outputs = options.recording.outputs
        job.screen.note(
            "recording \(address)\(upstream) \(options.recording.place); Ctrl-C ends it")
        let lines = "\(address)\n" + (page.map { $0 + "\n" } ?? "")
        if !outputs.contains("-") {
            try ProcessStreams.output(lines)
        } else if let page {
            // Whoever asked for it needs its token, however quiet the rest is.
            ProcessStreams.remark(.note, "the page of it: \(page)")
        }
        try job.tellReady(lines)
    }

    private func resolve(_ place: HostAndPort, for flag: String) throws -> [SocketAddress] {
        try job.loop.addresses(of: place.host, port: place.port, for: flag)
    }
}

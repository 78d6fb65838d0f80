import Arguments
import BridgeProxy
import Capture
import Glibc
import Network

/// What `bridgetap sniff` was asked for.
struct SniffOptions: RecordingOptions {
    var interface: String?
    var isListing = false
    var waits = false
    var isPromiscuous = false
    var buffer = ByteCount(bytes: Int64(TapOptions().bufferSize))
    var ports: [Int] = []
    var filter: [String] = []
    var ui: HostAndPort?
    var allowFrom: [CIDR] = []
    var recording = RecordingFlags()

    /// libpcap takes a number of 32 bits.
    private static let maximumBuffer: Int64 = 1 << 30

    static let command = Command<Job>(
        "sniff", summary: "records what passes a network interface, as a bystander",
        details: """
            Nothing is sent, and nothing stands in the way: the packets of an interface are put \
            together to the connections that they are of. What is HTTP or WebSocket is told by its \
            bytes, on any port; a connection that was there before is met on its way. Packets that \
            the system has to drop are counted, noted and end the job with 6. An interface that \
            vanishes, as with a phone unplugged, is waited for.

            The filter is one of pcap-filter(7); quote it where the shell would read it. The \
            ending of an output's name picks its format: .ndjson, .ndjson.gz, .ndjson.zst or \
            .pcap, which has the connections, not the packets as they were. Ctrl-C ends the \
            recording in good order; SIGUSR2, or the key m, sets a mark.

            \(ringDetails)
            """,
        options: SniffOptions(),
        arguments: [
            .operands(
                \.filter, .text("FILTER"), required: false,
                help: "which packets, such as tcp port 8080; all if there is none"),
            .option(
                "interface", short: "i", \.interface, .text("NAME"),
                help: "the interface to listen on; any is all of them"),
            .outputs(required: false),
            .flag("list", \.isListing, help: "list the interfaces that there are"),
            .flag("wait", \.waits, help: "wait for an interface that is not there yet"),
            .options(
                "port", \.ports, .integer(in: 1...65535),
                help: "only connections with this TCP port"),
            .option(
                "buffer", \.buffer, .size(),
                help: "what the system may hold until it is read (default: 8MiB)"),
            .flag(
                "promiscuous", \.isPromiscuous,
                help: "take in frames for other machines too, as at a mirror port"),
            .rotate, .ring, .sync, .mark, .log,
            .option(
                "ui", \.ui, .hostAndPort(),
                help: "show the recording as it goes on in a browser, at the address that is "
                    + "printed (bridgetap view --help), and its figures to Prometheus, at metrics "
                    + "below it"),
            .options(
                "allow-from", \.allowFrom, .cidr,
                help: "who may see the page, besides this machine; needed to show it elsewhere "
                    + "than on loopback"),
            .readyFile(
                help: "write the interface's name, and the page's address, to this file once it is "
                    + "listened on"),
        ] + Argument.redaction + [.quiet],
        exclusive: [["--ring", "--rotate"]],
        companions: [(name: "--allow-from", needs: "--ui")] + RecordingFlags.companions,
        examples: [
            Example("bridgetap sniff --list", "which interfaces there are"),
            Example(
                "sudo bridgetap sniff -i usb0 -o lab.ndjson tcp port 8080",
                "on the board, or on a laptop in its place"),
            Example(
                "bridgetap sniff -i usb0 --wait --rotate 64MiB -o lab.ndjson.zst",
                "before the phone is plugged in"),
        ],
        check: { (options) throws(UsageError) in try options.check() },
        action: { options in
            { options.isListing ? try options.list() : try SniffJob(options).run() }
        })

    private func check() throws(UsageError) {
        guard !isListing else { return }
        guard interface != nil else {
            throw .rule(
                message: "--interface NAME is missing",
                hint: (try? NetworkInterface.all()).map(Self.choice)
                    ?? "bridgetap sniff --list lists them")
        }
        guard !recording.outputs.isEmpty else {
            throw .missingOption(name: "--output", placeholder: "FILE")
        }
        try recording.checkOutputs()
        if let ui { try PageListener.check(ui, allowFrom, flag: "--ui") }
        guard (1...Self.maximumBuffer).contains(buffer.bytes) else {
            throw .rule(message: "--buffer: the system takes from 1B to 1GiB", hint: "try 64MiB")
        }
        if let fault = PacketFilter.fault(in: filterText) {
            throw .rule(
                message: "the filter \"\(filterText)\" is not understood: \(fault)",
                hint: "pcap-filter(7) has its words; such as tcp port 8080 and host 192.168.42.1")
        }
    }

    fileprivate var filterText: String { filter.joined(separator: " ") }

    fileprivate var tapOptions: TapOptions {
        var tap = TapOptions()
        tap.filter = filterText
        tap.bufferSize = Int(clamping: buffer.bytes)
        tap.isPromiscuous = isPromiscuous
        return tap
    }

    /// The names of the interfaces, for a person who has to choose.
    fileprivate static func choice(_ interfaces: [NetworkInterface]) -> String {
        let names = interfaces.map { $0.name + ($0.isUp ? "" : " (down)") }
        return names.isEmpty ? "there are none" : "there are \(names.joined(separator: ", "))"
    }

    private func list() throws -> ExitCode {
        let interfaces: [NetworkInterface]
        do throws(TapError) {
            interfaces = try NetworkInterface.all()
        } catch {
            throw Failure(.unreachable, "cannot list the interfaces: \(error.text)")
        }
        let rows = interfaces.map { interface in
            let addresses = interface.addresses.map(\.description).joined(separator: ", ")
            return (
                interface.name, interface.isUp ? "up" : "down",
                addresses.isEmpty ? interface.about ?? "" : addresses
            )
        }
        let width = rows.map(\.0.count).max() ?? 0
        for (name, state, rest) in rows {
            let gap = String(repeating: " ", count: width - name.count)
            let line = "\(name)\(gap)  \(state == "up" ? "up  " : state)  \(rest)"
            try ProcessStreams.output(String(line.trimmedEnd) + "\n")
        }
        return rows.isEmpty ? .nothingExercised : .done
    }
}

extension String {
    /// Without spaces at its end.
    fileprivate var trimmedEnd: Substring {
        self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)]
    }
}

/// One recording of an interface, from the first line on the terminal to the last.
private final class SniffJob {
    private let options: SniffOptions
    private let job: RecordingJob
    private let interface: String
    private var page: LivePage?
    /// What went wrong when the first packets could come.
    private var failure: (any Error)?

    init(_ options: SniffOptions) throws {
        self.options = options
        interface = options.interface ?? ""
        job = try RecordingJob(options.recording)
    }

    func run() throws -> ExitCode {
        let loop = job.loop
        // Before the first packet, so that no time is negative.
        let startedAt = loop.wallClock
        let tap = try openTap()
        let recording: Recording
        do {
            let session = job.session(source: "interface", at: startedAt) {
                $0.interface = interface
                $0.linkType = tap?.linkName
            }
            page = try options.ui.map {
                try LivePage(
                    at: $0, allowFrom: options.allowFrom, of: session,
                    outputs: options.recording.outputs, profile: nil, job)
            }
            recording = try job.open(
                session, clock: { max(0, loop.wallClock &- startedAt) },
                besides: page.map { [$0.output] } ?? [])
        } catch {
            tap?.close()
            throw error
        }
        defer { page?.close() }
        page?.follow(recording)
        let sniffer = sniffer(recording, startedAt: startedAt)
        sniffer.onCapture = { [weak self, weak sniffer] in
            sniffer?.onCapture = nil
            self?.announce()
        }
        let summary = try job.run(recording, grace: { sniffer.latency }) {
            sniffer.start(tap)
            recording.start(sniffer)
            if let failure { throw failure }
        }
        if let failure { throw failure }
        let code = job.tell(summary)
        tellMore(summary.statistics)
        return code
    }

    private func sniffer(_ recording: Recording, startedAt: Int64) -> Sniffer {
        var sniffing = Sniffer.Options(interface: interface)
        sniffing.ports = Set(options.ports.map { UInt16(clamping: $0) })
        return Sniffer(
            sniffing, loop: job.loop, recorder: recording.recorder, startedAt: startedAt,
            open: { [loop = job.loop, interface, tap = options.tapOptions] () throws(TapError) in
                try loop.openTap(interface, tap)
            },
            remark: { [screen = job.screen] in screen.show(.remark($0)) })
    }

    /// Opens the interface; nil where it is to be waited for.
    private func openTap() throws -> (any PacketTap)? {
        do throws(TapError) {
            return try job.loop.openTap(interface, options.tapOptions)
        } catch {
            switch error.kind {
            case .noSuchInterface, .interfaceDown:
                if options.waits { return nil }
                let what =
                    error.kind == .interfaceDown
                    ? "the interface \(interface) is down" : "there is no interface \(interface)"
                throw Failure(
                    .unreachable, what,
                    hint: ((try? NetworkInterface.all()).map { SniffOptions.choice($0) + "; " }
                        ?? "")
                        + "--wait waits for it")
            case .badFilter:
                throw Failure(
                    .usage,
                    "the filter \"\(options.filterText)\" does not suit \(interface): \(error.text)"
                )
            case .unknownLink:
                throw Failure(
                    .unreachable,
                    "\(interface) is of link type \(error.text), which is not read",
                    hint: "Ethernet, Linux cooked, raw IP and BSD loopback are read")
            case .permission:
                throw Failure(
                    .unreachable,
                    "listening on \(interface) needs a privilege that this process lacks "
                        + "(\(error.text))", hint: Self.privilegeHint)
            case .other:
                throw Failure(.unreachable, "cannot listen on \(interface): \(error.text)")
            }
        }
    }

    /// How the program gets the one right that it needs.
    private static var privilegeHint: String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let program =
            count > 0
            ? String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : "bridgetap"
        return
            "run it with sudo, or give the program that one alone: sudo setcap cap_net_raw+ep \(program)"
    }

    private func announce() {
        job.screen.note(
            "listening on \(interface), recording \(options.recording.place); Ctrl-C ends it")
        do {
            if let page {
                if options.recording.outputs.contains("-") {
                    ProcessStreams.remark(.note, "the page of it: \(page.address)")
                } else {
                    try ProcessStreams.output(page.address + "\n")
                }
            }
            try job.tellReady("\(interface)\n" + (page.map { $0.address + "\n" } ?? ""))
        } catch {
            failure = error
            job.loop.stop()
        }
    }

    private func tellMore(_ statistics: RecordingStatistics) {
        guard statistics.connections == 0 else { return }
        let packets = statistics.packets ?? 0
        job.screen.note(
            packets == 0
                ? "no packet came by; is it the right interface, and the right filter?"
                : "\(packets) packets came by, and none was of a TCP connection that is recorded")
    }
}

import Arguments
import Capture
import Inspector
import Network
import PhoneBridge
import Report
import Wire

/// What `bridgetap view` was asked for.
struct ViewOptions: Sendable {
    var files: [String] = []
    var listen: HostAndPort?
    var allowFrom: [CIDR] = []
    var html: String?
    var profile = Profile.contract.name
    var readyFile: String?

    static let command = Command<Job>(
        "view", summary: "a session in a browser",
        details: """
            A page with the lanes of app and board, connections, commands as spans, a list of \
            what happened, and all that is known of each event. Heartbeats are folded; what is \
            late, twice, unanswered, invalid, missing or against a rule stands out. It takes the \
            filters of bridgetap show. docs/inspector.md tells more.

            A file that is still being written is followed. The page is served to this machine \
            alone, at the address that is printed: its token is what lets a browser in. Ctrl-C \
            ends it. --html writes one file instead, which opens from a disk, without a server \
            or a network. It holds all of the session: give it to those only who may see that.
            """,
        options: ViewOptions(),
        arguments: [
            .operands(
                \.files, .file,
                help: "session files, packed or not, or pcap, pcapng or HAR files; parts of one "
                    + "session are one"),
            .option(
                "listen", \.listen, .hostAndPort(),
                help: "where browsers come to (default: 127.0.0.1 and any free port)"),
            .options(
                "allow-from", \.allowFrom, .cidr,
                help: "who may connect, besides this machine; needed to listen elsewhere than on "
                    + "loopback"),
            .option("html", \.html, .file, help: "write the page to this file instead"),
            .option(
                "profile", \.profile, .text("NAME|FILE"),
                help: "the target's numbers, and which rules count: contract (default), "
                    + "board-1.2, or a file (docs/profiles.md)"),
            .option(
                "ready-file", \.readyFile, .file,
                help: "write the page's address to this file once it is served"),
        ],
        exclusive: [
            ["--html", "--listen"], ["--html", "--allow-from"], ["--html", "--ready-file"],
        ],
        examples: [
            Example("bridgetap view lab.ndjson", "look at a session, or at one that goes on"),
            Example("bridgetap view monday.ndjson tuesday.ndjson", "several, one at a time"),
            Example(
                "bridgetap view --html lab.html lab.ndjson", "one file for whoever has a browser"),
        ],
        check: { (options) throws(UsageError) in
            try ReportFile.checkPage(options.html)
            if options.html == nil, options.files.contains("-") {
                throw .rule(
                    message: "standard input cannot be served while it is read",
                    hint: "write it to a file, or make a page of it with --html")
            }
            if let listen = options.listen {
                try PageListener.check(listen, options.allowFrom, flag: "--listen")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        guard let html else { return try serve() }
        let sessions = try ViewedSession.open(files, profile: profile)
        let file = try ReportFile(html, flag: "--html", inputs: files)
        for session in sessions { try session.readAll() }
        do {
            try OfflinePage(
                sessions.map { ($0.name, $0.log) }, comparisons: Self.comparisons(of: sessions)
            ).write { try file.write($0) }
        } catch let error as OutputError {
            throw SessionInputs.failure(.cannotSpool(error))
        }
        try file.finish([])
        return .done
    }

    /// Up to so many sessions each one is compared with each other, more with the next one only.
    private static let maximumCompared = 4

    private static func comparisons(of sessions: [ViewedSession]) -> [OfflinePage.Comparison] {
        var comparisons: [OfflinePage.Comparison] = []
        for first in sessions.indices {
            let last = sessions.count <= maximumCompared ? sessions.count - 1 : first + 1
            for second in sessions.indices where second > first && second <= last {
                guard let one = sessions[first].onlyFile, let other = sessions[second].onlyFile,
                    one != "-", other != "-"
                else { continue }
                comparisons.append(
                    OfflinePage.Comparison(first: first, second: second) { output in
                        try output(try ViewedComparison.page(one, other))
                    })
            }
        }
        return comparisons
    }

    private func serve() throws -> ExitCode {
        let sessions = try ViewedSession.open(files, profile: profile, follows: true)
        let loop = try PeerLoop()
        let server = InspectorServer(
            sessions.map { ($0.name, $0.log) }, on: loop.loop
        ) { sessions[$0].pending }
        let desk = ComparisonDesk(loop.loop)
        server.comparison = { first, second, answer in
            // Of a session in parts, nobody compares a part.
            guard let one = sessions[first].onlyFile, let other = sessions[second].onlyFile else {
                return answer(.none)
            }
            desk.compare(one, other, answer)
        }
        let listener = PageListener(loop.loop, listen, allowFrom, flag: "--listen")
        let address = try listener.start(server)
        var failure: (any Error)?
        for session in sessions {
            session.pump(on: loop.loop) {
                failure = $0
                loop.loop.stop()
            }
        }
        try ProcessStreams.output(address + "\n")
        if let readyFile { try ReadyFile.write(address + "\n", to: readyFile) }
        try loop.runUntilSignal()
        server.close()
        if let failure { throw failure }
        return .done
    }
}

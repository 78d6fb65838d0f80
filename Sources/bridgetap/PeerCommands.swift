import Arguments
import Network
import PhoneBridge
import Simulator

/// Defects of one of the reference peers, by their ids.
extension ArgumentValue where Value == Defect {
    static var defect: ArgumentValue {
        ArgumentValue("ID") { (text) throws(ValueError) in
            guard let defect = Defect(id: text) else {
                throw ValueError("\"\(text)\" is no defect; --list-defects lists them")
            }
            return defect
        }
    }
}

/// What both reference peers are told.
private enum PeerText {
    static func defects(of side: Defect.Side) -> String {
        Defect.allCases.filter { $0.side == side }
            .map { "\($0.rawValue)\t\($0.summary)\n" }.joined()
    }
}

/// What `bridgetap board` was asked for.
struct BoardCommandOptions: Sendable {
    var listen = HostAndPort(host: "127.0.0.1", port: 8080)
    var defects: [Defect] = []
    var listsDefects = false
    var timeScale = 1
    var isEcho = false
    var readyFile: String?

    static let command = Command<Job>(
        "board", summary: "the reference board, over the network",
        details: """
            Does what the contract demands of a board. POST /simulate/command, from this machine \
            only, takes a command's JSON, sends it to the app over the WebSocket, and answers with \
            what came of it. Ctrl-C ends it.
            """,
        options: BoardCommandOptions(),
        arguments: [
            .option(
                "listen", \.listen, .hostAndPort(),
                help: "where apps come to (default: 127.0.0.1:8080); port 0 takes any free one"),
            .options("defect", \.defects, .defect, help: "plant a defect, such as B21"),
            .flag("list-defects", \.listsDefects, help: "the defects that can be planted"),
            .option(
                "time-scale", \.timeScale, .integer(in: 1...100_000),
                help: "divide every duration by N, timeout_ms included"),
            .flag("echo", \.isEcho, help: "an echo server instead, for conformance tests"),
            .option(
                "ready-file", \.readyFile, .file,
                help: "write the chosen address to this file once it is listening"),
        ],
        examples: [
            Example("bridgetap board --listen 127.0.0.1:8080", "a board for an app in an emulator"),
            Example(
                "curl -d '{\"id\":\"c1\",\"type\":\"clipboard_read\"}' http://127.0.0.1:8080/simulate/command",
                "lets the board send a command"),
        ],
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        if listsDefects {
            try ProcessStreams.output(PeerText.defects(of: .board))
            return .done
        }
        let loop = try PeerLoop()
        let address = try loop.resolve(listen, for: "--listen")
        let bound: SocketAddress
        // The hosts are held here: the loop only borrows them.
        var hosts: [AnyObject] = []
        do {
            if isEcho {
                let echo = EchoHost(loop: loop.loop)
                hosts.append(echo)
                bound = try echo.listen(on: address)
            } else {
                var options = BoardOptions()
                options.defects = Set(defects)
                options.timeScale = TimeScale(Int64(timeScale))
                let board = BoardHost(loop: loop.loop, options: options)
                board.onNote = { ProcessStreams.remark(.note, $0) }
                hosts.append(board)
                bound = try board.listen(on: address)
            }
        } catch {
            throw Failure(
                .unreachable, "cannot listen on \(address): \(error)",
                hint: error.kind == .addressInUse ? "choose another port with --listen" : nil)
        }
        try ProcessStreams.output("\(bound)\n")
        if let readyFile { try ReadyFile.write("\(bound)\n", to: readyFile) }
        try loop.runUntilSignal()
        return withExtendedLifetime(hosts) { .done }
    }
}

/// What `bridgetap app` was asked for.
struct AppCommandOptions: Sendable {
    var url: WebSocketURL?
    var platform = Platform.ios
    var phoneID: String?
    var defects: [Defect] = []
    var listsDefects = false
    var timeScale = 1
    var autobahn: WebSocketURL?
    var background: BackgroundMode?
    var control: HostAndPort?

    static let command = Command<Job>(
        "app", summary: "the reference app, over the network",
        details: """
            Connects to a board as the phone's app does, answers its commands against an invented \
            phone in memory, and comes back when the connection breaks. With --control it can be \
            moved while it runs: POST /simulate/state, from this machine only, takes a state as \
            its body, and answers once it is so; GET tells how it stands. States are "active", \
            "inactive", "background pip" (or fgs, ble, suspended), "calendar=granted" (or denied, \
            pending; contacts and notifications too) and "disconnect". Ctrl-C ends it.
            """,
        options: AppCommandOptions(),
        arguments: [
            .option(
                "to", \.url, .webSocketURL,
                help: "the board's URL, such as ws://192.168.42.1:8080/api/phone-bridge"),
            .option("platform", \.platform, .choice("ios|android"), help: "which phone it is"),
            .option("phone-id", \.phoneID, .text("ID"), help: "the phone's stable id"),
            .option(
                "background", \.background, .choice("pip|fgs|ble|suspended"),
                help: "begin in the background, in this mode"),
            .option(
                "control", \.control, .hostAndPort(),
                help: "let scripts on this machine move the app by HTTP at this loopback address; "
                    + "prints it, port 0 takes any free one"),
            .options("defect", \.defects, .defect, help: "plant a defect, such as A1"),
            .flag("list-defects", \.listsDefects, help: "the defects that can be planted"),
            .option(
                "time-scale", \.timeScale, .integer(in: 1...100_000),
                help: "divide every duration by N, timeout_ms included"),
            .option(
                "autobahn", \.autobahn, .webSocketURL,
                help: "go through the cases of an Autobahn fuzzing server instead"),
        ],
        exclusive: [["--to", "--autobahn"], ["--control", "--autobahn"]],
        examples: [
            Example(
                "bridgetap app --to ws://127.0.0.1:8080/api/phone-bridge",
                "an app for a board, or for a recorder in front of it"),
            Example(
                "curl -d 'background pip' http://127.0.0.1:8082/simulate/state",
                "sends an app with --control 127.0.0.1:8082 into the background"),
        ],
        check: { (options) throws(UsageError) in
            if !options.listsDefects, options.url == nil, options.autobahn == nil {
                throw .rule(
                    message: "--to URL is missing",
                    hint: "write it like ws://127.0.0.1:8080/api/phone-bridge")
            }
        },
        action: { options in { try options.run() } })

    private func run() throws -> ExitCode {
        if listsDefects {
            try ProcessStreams.output(PeerText.defects(of: .app))
            return .done
        }
        let loop = try PeerLoop()
        if let autobahn { return try run(autobahn, on: loop) }
        guard let url else { return .usage }
        var options = AppOptions()
        options.platform = platform
        options.defects = Set(defects)
        options.timeScale = TimeScale(Int64(timeScale))
        options.apply(url)
        if let phoneID { options.phoneID = phoneID }
        let app = AppHost(loop: loop.loop, board: url.endpoint, options: options)
        app.onNote = { ProcessStreams.remark(.note, $0) }
        let control = try control.map { try listen(on: $0, moving: app, on: loop) }
        app.start()
        if let background { app.perform(.background(background)) }
        try loop.runUntilSignal()
        control?.stop()
        app.stop()
        return .done
    }

    private func listen(
        on place: HostAndPort, moving app: AppHost, on loop: PeerLoop
    ) throws -> AppControl {
        let address = try loop.resolve(place, for: "--control")
        guard address.ip.isLoopback else {
            throw Failure(
                .usage, "--control: \(address) can be reached from other machines",
                hint: "write it like 127.0.0.1:8082")
        }
        let control = AppControl(of: app, on: loop.loop)
        do {
            try ProcessStreams.output("\(try control.listen(on: address))\n")
        } catch let error as NetworkError {
            throw Failure(
                .unreachable, "--control: cannot listen on \(address): \(error)",
                hint: error.kind == .addressInUse ? "choose another port with --control" : nil)
        }
        return control
    }

    private func run(_ url: WebSocketURL, on loop: PeerLoop) throws -> ExitCode {
        var outcome: AutobahnClient.Outcome?
        let client = AutobahnClient(loop: loop.loop, url: url) {
            outcome = $0
            loop.loop.stop()
        }
        client.start()
        try loop.runUntilSignal()
        switch withExtendedLifetime(client, { outcome }) {
        case .done(let count)?:
            ProcessStreams.remark(
                .note, "\(count) cases were run; the suite's report has the verdicts")
            return count == 0 ? .nothingExercised : .done
        case .failed(let why)?: throw Failure(.unreachable, why)
        case nil: return .interrupted
        }
    }
}

extension ArgumentValue where Value == WebSocketURL {
    static var webSocketURL: ArgumentValue {
        ArgumentValue("URL") { (text) throws(ValueError) in
            do {
                return try WebSocketURL(parsing: text)
            } catch {
                throw ValueError("\"\(text)\": \(error)")
            }
        }
    }
}

/// A real loop that runs until a signal asks for the end.
final class PeerLoop {
    let loop: UVLoop

    init() throws {
        do {
            loop = try UVLoop()
        } catch {
            throw Failure(.internalFault, "cannot start the event loop: \(error)")
        }
    }

    func resolve(_ place: HostAndPort, for flag: String) throws -> SocketAddress {
        try loop.addresses(of: place.host, port: place.port, for: flag)[0]
    }

    /// Runs until SIGINT, SIGTERM or SIGHUP, or until the loop is stopped.
    func runUntilSignal() throws {
        var watches: [any Cancellable] = []
        do {
            for signal in [ProcessSignal.interrupt, .terminate, .hangUp] {
                watches.append(try loop.onSignal(signal) { [loop] in loop.stop() })
            }
        } catch {
            throw Failure(.internalFault, "cannot watch signals: \(error)")
        }
        loop.run()
        for watch in watches { watch.cancel() }
    }
}

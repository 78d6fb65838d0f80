import Capture
import Network
import Replay
import Simulator
import Testing

@Suite struct TargetSettingsTests {
    private func settings(
        _ played: Side?, _ change: (inout TargetSettings) throws -> Void = { _ in }
    ) rethrows -> TargetSettings {
        var settings = TargetSettings()
        settings.played = played
        try change(&settings)
        return settings
    }

    private let url = "ws://192.168.42.1:8080/api/phone-bridge"

    @Test func `a board is dialled where it is said to be`() throws {
        let url = try WebSocketURL(parsing: url)
        let options = try settings(.app) { $0.url = url }.options()
        #expect(options == TargetOptions(.dial(url)))
        #expect(options.launch == .byOthers)
    }

    @Test func `a board that is spawned serves on a free port unless one is said`() throws {
        let template = try TargetTemplate(parsing: "./board {port}")
        var settings = settings(.app) { $0.spawn = "./board {port}" }
        var options = try settings.options()
        #expect(
            options.reach
                == .dial(try WebSocketURL(parsing: "ws://127.0.0.1:0/api/phone-bridge")))
        #expect(options.launch == .spawn(template, ready: .connection))
        settings.url = try WebSocketURL(parsing: url)
        settings.readyText = "listening"
        options = try settings.options()
        #expect(options.reach == .dial(try WebSocketURL(parsing: url)))
        #expect(options.launch == .spawn(template, ready: .text("listening")))
    }

    @Test func `an app comes to where it is said, or to a free port`() throws {
        let endpoint = Endpoint(host: "0.0.0.0", port: 8080)
        #expect(try settings(.board) { $0.listen = endpoint }.options().reach == .listen(endpoint))
        let spawned = try settings(.board) {
            $0.spawn = "./app {port} {platform}"
            $0.effects = .own
            $0.onState = "POST http://127.0.0.1:{control}/simulate/state"
        }.options()
        #expect(spawned.reach == .listen(Endpoint(host: "127.0.0.1", port: 0)))
        #expect(spawned.effects == .own)
        #expect(spawned.played == .board)
        guard case .request? = spawned.onState else {
            Issue.record("\(String(describing: spawned.onState)) is no request")
            return
        }
    }

    @Test func `everything that is said is taken`() throws {
        let options = try settings(.app) {
            $0.url = try WebSocketURL(parsing: url)
            $0.restart = "ssh board restart"
            $0.readyFile = "/run/board-{job}"
            $0.stimulus = "exec:./send"
            $0.before = "./up {dir}"
            $0.after = "./down"
        }.options()
        #expect(
            options.launch
                == .restart(
                    try TargetTemplate(parsing: "ssh board restart"),
                    ready: .file(try TargetTemplate(parsing: "/run/board-{job}"))))
        #expect(options.stimulus == .call(.command(try TargetTemplate(parsing: "./send"))))
        #expect(options.before?.source == "./up {dir}")
        #expect(options.after?.source == "./down")
    }

    private static let mistakes:
        [(message: String, make: @Sendable (inout TargetSettings) -> Void)] = [
            ("--as SIDE is missing", { _ in }),
            ("--to URL is missing", { $0.played = .app }),
            ("--listen HOST:PORT is missing", { $0.played = .board }),
            (
                "--listen means nothing with --as app",
                {
                    $0.played = .app
                    $0.listen = Endpoint(.loopback())
                }
            ),
            (
                "--to means nothing with --as board",
                {
                    $0.played = .board
                    $0.url = try? WebSocketURL(parsing: "ws://b/")
                }
            ),
            (
                "--on-state means nothing with --as app",
                {
                    $0.played = .app
                    $0.onState = "./go {state}"
                }
            ),
            (
                "--effects means nothing with --as app",
                {
                    $0.played = .app
                    $0.effects = TargetEffects.none
                }
            ),
            (
                "--stimulus means nothing with --as board",
                {
                    $0.played = .board
                    $0.stimulus = "reference"
                }
            ),
            (
                "--to: port 0 stands for a free one, which only a board of --spawn can take",
                {
                    $0.played = .app
                    $0.url = try? WebSocketURL(parsing: "ws://b:0/")
                }
            ),
            (
                "--spawn and --restart exclude each other",
                {
                    $0.played = .board
                    $0.spawn = "./app"
                    $0.restart = "./again"
                }
            ),
            (
                "--target-ready-text and --target-ready-file exclude each other",
                {
                    $0.played = .board
                    $0.spawn = "./app"
                    $0.readyText = "x"
                    $0.readyFile = "y"
                }
            ),
            (
                "--target-ready-text needs --spawn",
                {
                    $0.played = .app
                    $0.url = try? WebSocketURL(parsing: "ws://b/")
                    $0.restart = "./again"
                    $0.readyText = "x"
                }
            ),
            (
                "--target-ready-file needs --spawn",
                {
                    $0.played = .board
                    $0.listen = Endpoint(.loopback())
                    $0.readyFile = "x"
                }
            ),
            (
                "--spawn: {prot} is no place that is filled in here; "
                    + "there are {port}, {job}, {control}, {dir}",
                {
                    $0.played = .app
                    $0.spawn = "./board {prot}"
                }
            ),
            (
                "--spawn: {platform} is no place that is filled in here; "
                    + "there are {port}, {job}, {control}, {dir}",
                {
                    $0.played = .app
                    $0.spawn = "./board {platform}"
                }
            ),
            (
                "--before: there is nothing in it",
                {
                    $0.played = .app
                    $0.spawn = "./board"
                    $0.before = " "
                }
            ),
            (
                "--on-state: {state} is missing in it",
                {
                    $0.played = .board
                    $0.spawn = "./app"
                    $0.onState = "./go"
                }
            ),
            (
                "--on-state: \"https://x/{state}\" does not begin with http://",
                {
                    $0.played = .board
                    $0.spawn = "./app"
                    $0.onState = "POST https://x/{state}"
                }
            ),
            (
                "--stimulus: \"./send\" is neither exec:COMMAND nor a request like "
                    + "POST http://HOST:PORT/PATH BODY",
                {
                    $0.played = .app
                    $0.spawn = "./board"
                    $0.stimulus = "./send"
                }
            ),
        ]

    @Test(arguments: mistakes.indices)
    func `what does not go together is refused in words`(index: Int) {
        let (message, make) = Self.mistakes[index]
        var settings = TargetSettings()
        make(&settings)
        let error = #expect(throws: TargetSettingsError.self) { try settings.options() }
        #expect(error?.message == message)
        #expect(error?.hint != "")
    }
}

import Foundation
import Glibc
import Network
import Replay
import Simulator
import Testing
import Wire

/// The built program, and a board that nobody here wrote, as targets that are spawned.
@Suite struct TargetTests {
    /// A target on a loop of its own.
    private final class Lab {
        let loop: UVLoop
        let target: Target

        init(
            spawn command: String, ready: TargetReadiness = .connection, stimulus: String? = nil
        ) throws {
            loop = try UVLoop()
            var options = TargetOptions(
                .dial(try WebSocketURL(parsing: "ws://127.0.0.1:0/api/phone-bridge")))
            options.launch = .spawn(try TargetTemplate(parsing: command), ready: ready)
            options.stimulus = try stimulus.map(TargetStimulus.init(parsing:))
            target = Target(options, on: loop)
        }

        func wait<Value>(
            sourceLocation: SourceLocation = #_sourceLocation,
            _ body: (@escaping (Value) -> Void) -> Void
        ) throws -> Value {
            var value: Value?
            body { [loop] in
                value = $0
                loop.stop()
            }
            let limit = loop.schedule(after: 50 * nanosecondsPerSecond) { [loop] in loop.stop() }
            loop.run()
            limit.cancel()
            return try #require(value, sourceLocation: sourceLocation)
        }

        func start() throws -> Endpoint {
            let result: Result<Endpoint, TargetError> = try wait { target.start($0) }
            return try result.get()
        }

        func stimulate(_ command: JSON) throws -> Result<JSON?, TargetError> {
            try wait { target.stimulate(command, timeout: 20 * nanosecondsPerSecond, $0) }
        }

        func stop() throws {
            let pid = target.processID
            let result: Result<Void, TargetError> = try wait { target.stop($0) }
            try result.get()
            #expect(kill(pid ?? 0, 0) == -1 || pid == nil, "process \(pid ?? 0) is still there")
            loop.close()
        }
    }

    private var board: String { "'\(BuiltProgram.url.path)' board --listen 127.0.0.1:{port}" }

    private func aiohttp() throws -> String {
        let python = BuiltProgram.root.appending(path: ".venv/bin/python").path
        try #require(FileManager.default.isExecutableFile(atPath: python), "scripts/setup makes it")
        let script = BuiltProgram.root.appending(path: "Tests/Peers/aiohttp_board.py").path
        return "'\(python)' -B '\(script)' --port {port} --ready-file {dir}/ready --seconds 50"
    }

    private let command: JSON = ["id": "c1", "type": "clipboard_read"]

    @Test func `the reference board is spawned, found and made to send a command`() throws {
        let lab = try Lab(spawn: board)
        let endpoint = try lab.start()
        #expect(lab.target.canStimulate)
        let app = AppHost(loop: lab.loop, board: endpoint, options: AppOptions())
        app.start()
        var answer: JSON?
        for _ in 0..<500 where answer?["data"] == nil {
            // Until the app is connected the board says that it is not.
            answer = try lab.stimulate(command).get()
        }
        #expect(answer == ["id": "c1", "data": ["text": ""]])
        app.stop()
        #expect(lab.target.output.lines.first?.text == endpoint.description)
        try lab.stop()
    }

    @Test func `two jobs have a board each`() throws {
        let first = try Lab(spawn: board)
        let second = try Lab(spawn: board)
        #expect(try first.start() != second.start())
        try first.stop()
        try second.stop()
    }

    @Test func `a board that dies at once says why`() throws {
        let lab = try Lab(spawn: board + " --defect B999")
        let error = #expect(throws: TargetError.self) { try lab.start() }
        #expect(error?.exit == .code(2))
        #expect(error?.output.contains("\"B999\" is no defect") == true)
        try lab.stop()
    }

    @Test func `a board on aiohttp takes a command by its queue`() throws {
        let lab = try Lab(
            spawn: try aiohttp(), ready: .file(try TargetTemplate(parsing: "{dir}/ready")),
            stimulus:
                "POST http://127.0.0.1:{port}/api/phone-bridge/commands {\"command\":{command}}")
        _ = try lab.start()
        #expect(try lab.stimulate(command) == .success(nil), "the queue does not tell")
        guard case .failure(let error) = try lab.stimulate(command) else {
            Issue.record("the second of an id was taken")
            return
        }
        #expect(
            error.description
                == "--stimulus: the target refused it with HTTP status 409: {\"error\": \"command "
                + "c1 already exists: phone bridge command already exists\"}")
        try lab.stop()
    }

    @Test func `a program makes a board on aiohttp send a command`() throws {
        let call =
            "import json, os, sys, urllib.request as r; c = json.load(sys.stdin); "
            + "q = r.Request('http://127.0.0.1:' + os.environ['PORT'] + '/api/phone-bridge/commands'"
            + ", json.dumps({'command': c}).encode()); "
            + "print(json.dumps({'id': c['id'], 'data': json.load(r.urlopen(q))['status']}))"
        let lab = try Lab(
            spawn: try aiohttp(),
            stimulus: "exec:'\(BuiltProgram.root.path)/.venv/bin/python' -B -c \"\(call)\"")
        _ = try lab.start()
        #expect(try lab.stimulate(command) == .success(["id": "c1", "data": "queued"]))
        try lab.stop()
    }

    @Test func `another board than the reference board has no stimulus by itself`() throws {
        let lab = try Lab(spawn: try aiohttp())
        _ = try lab.start()
        #expect(!lab.target.canStimulate)
        try lab.stop()
    }
}

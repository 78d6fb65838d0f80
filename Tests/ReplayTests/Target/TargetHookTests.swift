import Foundation
import Network
import Replay
import Simulator
import Testing
import Wire

/// What is done to a target by command lines and requests.
@Suite struct TargetHookTests {
    private func template(_ text: String) throws -> TargetTemplate {
        try TargetTemplate(parsing: text)
    }

    private let command: JSON = [
        "id": "c1", "type": "clipboard_write", "payload": ["text": "it's"],
    ]

    /// A target that runs, with these options.
    private func running(
        _ change: (inout TargetOptions) throws -> Void
    ) throws -> TargetBench {
        let bench = try TargetBench { options in
            options = TargetOptions(.listen(Endpoint(host: "127.0.0.1", port: 4711)))
            try change(&options)
        }
        _ = try bench.start().get()
        return bench
    }

    // MARK: - Before and after

    @Test func `hooks run before the start and after the end`() throws {
        let bench = try TargetBench()
        let log = bench.path("log")
        let other = try running { options in
            options.before = try template("test -d {dir} && echo before $PORT >> \(log)")
            options.launch = .spawn(
                try template(
                    "echo start >> \(log); trap 'echo end >> \(log); exit' TERM; "
                        + "echo up; while true; do sleep 0.01; done"), ready: .text("up"))
            options.after = try template("echo after {job} >> \(log)")
        }
        #expect(try other.stop().error == nil)
        #expect(bench.text("log") == "before 4711\nstart\nend\nafter 1\n")
    }

    @Test func `a hook that fails is named, with its code and last lines`() throws {
        let bench = try TargetBench()
        let other = try TargetBench(spawn: "touch \(bench.path("started"))") { options in
            options.before = try template("echo no emulator >&2; exit 4")
            options.after = try template("echo cannot clean up; exit 5")
        }
        let before = try #require(try other.start().error)
        #expect(before.description == "--before: the command exited with code 4")
        #expect(before.output.last(1) == ["no emulator"])
        #expect(!FileManager.default.fileExists(atPath: bench.path("started")))
        let after = try #require(try other.stop().error)
        #expect(after.description == "--after: the command exited with code 5")
        #expect(after.output.last(1) == ["cannot clean up"])
    }

    @Test func `a hook that does not end is ended`() throws {
        let bench = try TargetBench { options in
            options.before = try template("echo $$; exec sleep 1000")
            options.hookTime = nanosecondsPerSecond
        }
        let error = try #require(try bench.start().error)
        #expect(
            error.description == "--before: the command had not ended after 1 s, and was ended")
        let pid = try #require(Int32(error.output.lines.first?.text ?? ""))
        #expect(!isRunning(pid))
        try bench.stop()
    }

    @Test func `what a hook leaves in the background may stay`() throws {
        let bench = try running {
            $0.before = try template(
                "sleep 1000 > /dev/null 2>&1 & echo $! > {dir}/pid; echo $! >&2")
            $0.after = try template("kill $(cat {dir}/pid)")
        }
        #expect(try bench.stop().error == nil)
    }

    // MARK: - States

    @Test func `a state is set by a command line`() throws {
        let bench = try TargetBench()
        let other = try running { options in
            options.onState = .command(
                try TargetTemplate(
                    parsing: "echo \"$PORT {state}\" >> \(bench.path("states"))",
                    known: TargetPlace.general.union([.state])))
        }
        #expect(other.target.canSetState)
        #expect(try other.setState("background pip").error == nil)
        #expect(try other.setState("active").error == nil)
        #expect(bench.text("states") == "4711 background pip\n4711 active\n")
        try other.stop()
    }

    @Test(arguments: [
        "x; touch /tmp/x", "$(id)", "a`id`", "a'b", "a\"b", "a\nb", "a\\b", "a*", "ü",
    ])
    func `a state out of a recording cannot say anything to the shell`(state: String) throws {
        let bench = try running { options in
            options.onState = .command(
                try TargetTemplate(parsing: "echo {state}", known: [.state]))
        }
        #expect(try bench.setState(state).error == .strangeState(state))
        try bench.stop()
    }

    @Test func `a state that cannot be set says why`() throws {
        let bench = try running { options in
            options.onState = .command(
                try TargetTemplate(parsing: "echo no {state} here; exit 2", known: [.state]))
        }
        let error = try #require(try bench.setState("active").error)
        #expect(error.description == "--on-state: the command exited with code 2")
        #expect(error.output.last(1) == ["no active here"])
        try bench.stop()
        let without = try running { _ in }
        #expect(!without.target.canSetState)
        #expect(try without.setState("active").error == .noWay(.onState))
        try without.stop()
    }

    // MARK: - A stimulus of the shell

    private func exec(_ line: String) throws -> TargetBench {
        try running { $0.stimulus = try TargetStimulus(parsing: "exec:" + line) }
    }

    @Test func `a program gets the command and gives back what came of it`() throws {
        let bench = try exec(#"printf '{"id":"c1","data":'; cat; echo }"#)
        #expect(bench.target.canStimulate)
        #expect(try bench.stimulate(command).get() == ["id": "c1", "data": command])
        try bench.stop()
    }

    @Test func `a large answer comes whole`() throws {
        let bench = try exec(
            #"printf '{"id":"c1","data":"'; head -c 300000 /dev/zero | tr '\0' x; printf '"}'"#)
        let answer = try bench.stimulate(command).get()
        #expect(answer?["data"]?.stringValue?.utf8.count == 300_000)
        try bench.stop()
    }

    @Test func `a program that says nothing of it is no failure`() throws {
        let bench = try exec("cat > /dev/null; echo sent")
        #expect(try bench.stimulate(command) == .success(nil))
        try bench.stop()
    }

    @Test func `a program that fails is one`() throws {
        let bench = try exec("echo no board >&2; exit 9")
        let error = try #require(try bench.stimulate(command).error)
        #expect(error.description == "--stimulus: the command exited with code 9")
        #expect(error.output.last(1) == ["no board"])
        try bench.stop()
    }

    @Test func `a program has its time, and none is left behind`() throws {
        let bench = try exec("echo $$; exec sleep 1000")
        let error = try #require(
            try bench.stimulate(command, timeout: nanosecondsPerSecond / 5).error)
        #expect(
            error.description == "--stimulus: the command had not ended after 0 s, and was ended")
        let pid = try #require(Int32(error.output.lines.first?.text ?? ""))
        #expect(!isRunning(pid))
        try bench.stop()
    }

    @Test func `a stop fails what is under way, and a cancelled call says nothing`() throws {
        let pids = try TargetBench()
        let bench = try exec("echo $$ >> \(pids.path("pids")); exec sleep 1000")
        var results: [Result<JSON?, TargetError>] = []
        bench.target.stimulate(command, timeout: .max) { results.append($0) }
        let cancelled = bench.target.stimulate(command, timeout: .max) { _ in
            Issue.record("a cancelled call was answered")
        }
        bench.expect("both run") { pids.text("pids").split(separator: "\n").count == 2 }
        cancelled.cancel()
        try bench.stop()
        #expect(results == [.failure(.stopped)])
        for pid in pids.text("pids").split(separator: "\n") {
            #expect(!isRunning(try #require(Int32(pid))))
        }
    }

    // MARK: - A stimulus and a state over HTTP

    /// A server that answers every request with this, and what it was asked.
    private final class Server {
        let server: HTTPServer
        let address: SocketAddress
        private(set) var requests: [String] = []

        init(on loop: any EventLoop, _ status: Int, _ body: String) throws {
            server = HTTPServer(on: loop, limits: .init())
            address = try server.listen(on: .loopback())
            server.onRequest = { [weak self] exchange in
                let head = exchange.request.head
                self?.requests.append(
                    "\(head.method ?? "") \(head.target ?? "") "
                        + String(decoding: exchange.request.body, as: UTF8.self))
                if status != 0 { exchange.respond(.response(status, body: Bytes(body.utf8))) }
            }
        }
    }

    private func http(
        _ status: Int, _ body: String,
        _ test: (TargetBench, Server) throws -> Void
    ) throws {
        let bench = try TargetBench { options in
            options = TargetOptions(.listen(Endpoint(host: "127.0.0.1", port: 0)))
            options.stimulus = try TargetStimulus(
                parsing: "POST http://127.0.0.1:{port}/run {\"do\":{command}}")
            options.onState = .request(
                try TargetRequest(parsing: "PUT http://127.0.0.1:{port}/state", needed: .state))
        }
        let server = try Server(on: bench.loop, status, body)
        _ = try bench.start(listeningOn: server.address.port).get()
        try test(bench, server)
        try bench.stop()
        server.server.close()
        bench.loop.close()
    }

    @Test func `a request carries the command and brings back what came of it`() throws {
        try http(200, #"{"id":"c1","data":{"text":"a"}}"#) { (bench, server) throws in
            #expect(
                try bench.stimulate(["id": "c1"]).get() == ["id": "c1", "data": ["text": "a"]])
            #expect(try bench.setState("background pip").error == nil)
            #expect(
                server.requests == [
                    #"POST /run {"do":{"id":"c1"}}"#, "PUT /state background pip",
                ])
        }
        try http(202, "queued") { (bench, _) throws in
            #expect(try bench.stimulate(command) == .success(nil))
        }
    }

    @Test func `a refusal is told with its status and the start of its body`() throws {
        try http(503, "no phone\n  is connected\n" + String(repeating: "x", count: 5000)) {
            (bench, _) throws in
            let words = try #require(try bench.stimulate(command).words)
            #expect(
                words.hasPrefix(
                    "--stimulus: the target refused it with HTTP status 503: "
                        + "no phone is connected xxx"))
            #expect(words.hasSuffix("x…"))
            #expect(words.count < 300)
            #expect(
                try bench.setState("active").words?.hasPrefix(
                    "--on-state: the target refused it with HTTP status 503") == true)
        }
    }

    @Test func `a request that gets no answer has its time`() throws {
        try http(0, "") { (bench, _) throws in
            #expect(
                try bench.stimulate(command, timeout: nanosecondsPerSecond / 10).words
                    == "--stimulus: the request failed: no answer came in time")
        }
    }
}

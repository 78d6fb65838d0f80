import Foundation
import Glibc
import Network
import Replay
import Simulator
import Testing
import Wire

/// Targets that are spawned as children, on the real driver.
@Suite struct TargetTests {
    private func template(_ text: String) throws -> TargetTemplate {
        try TargetTemplate(parsing: text)
    }

    // MARK: - Ready

    @Test func `a board is ready when it accepts a connection, and not before`() throws {
        let finder = try UVLoop()
        let free = try finder.listen(on: .loopback(), options: ListenOptions()) { $0.close() }
        let address = free.localAddress
        free.close()
        finder.close()
        let bench = try TargetBench(
            spawn: "exec sleep 1000", to: "ws://\(address)/api/phone-bridge")
        var listener: (any TCPListener)?
        bench.loop.schedule(after: 60 * nanosecondsPerMillisecond) {
            listener = try? bench.loop.listen(on: address, options: ListenOptions()) { $0.close() }
        }
        let begin = bench.loop.now
        #expect(try bench.start() == .success(Endpoint(address)))
        #expect(bench.loop.now - begin >= 60 * nanosecondsPerMillisecond)
        #expect(bench.target.endpoint == Endpoint(address))
        let pid = try #require(bench.target.processID)
        #expect(isRunning(pid))
        try bench.stop()
        #expect(!isRunning(pid))
        #expect(bench.target.processID == nil)
        #expect(bench.target.endpoint == nil)
        listener?.close()
        bench.loop.close()
    }

    @Test func `a target is ready when it says so`() throws {
        let bench = try TargetBench(spawn: "echo up on $PORT {port} >&2; exec sleep 1000") {
            $0.launch = .spawn(
                try template(
                    "echo starting; echo \"up on $PORT {port} {job}\" >&2; exec sleep 1000"),
                ready: .text("up on"))
        }
        let port = try bench.start().get().port
        #expect(port > 0)
        #expect(
            bench.target.output.lines.contains(
                TargetOutput.Line(.error, "up on \(port) \(port) 1")))
        #expect(bench.deaths.isEmpty)
        try bench.stop()
        // It was us who ended it.
        #expect(bench.deaths.isEmpty)
        #expect(bench.target.output.contains("starting"))
        bench.loop.close()
    }

    @Test func `a target is ready when its file comes`() throws {
        let bench = try TargetBench(job: 3) { options in
            options.launch = .spawn(
                try template("echo {dir} {job}; echo x > {dir}/ready; exec sleep 1000"),
                ready: .file(try template("{dir}/ready")))
        }
        _ = try bench.start().get()
        let words = try #require(bench.target.output.lines.first?.text.split(separator: " "))
        #expect(words.last == "3")
        let folder = String(words[0])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        try bench.stop()
        #expect(!FileManager.default.fileExists(atPath: folder))
        bench.loop.close()
    }

    @Test func `a file that was there before means nothing`() throws {
        let bench = try TargetBench()
        let path = bench.path("ready")
        try Data("old".utf8).write(to: URL(filePath: path))
        let other = try TargetBench { options in
            options.launch = .spawn(
                try template("exec sleep 1000"), ready: .file(try template(path)))
            options.readyTime = 100 * nanosecondsPerMillisecond
        }
        #expect(
            try other.start().words
                == "the target was not ready within 0 s: the file \(path) did not come")
        try other.stop()
        let third = try TargetBench { options in
            options.launch = .spawn(
                try template("echo new-one > \(path); exec sleep 1000"),
                ready: .file(try template(path)))
        }
        #expect(try third.start().error == nil)
        try third.stop()
    }

    @Test func `an app is not waited for`() throws {
        let bench = try TargetBench { options in
            options = TargetOptions(.listen(Endpoint(host: "127.0.0.1", port: 0)))
            options.launch = .spawn(
                try template(
                    "echo going to $PORT on $PLATFORM, moved through {control}; exec sleep 1000"),
                ready: .connection)
        }
        #expect(
            try bench.start(listeningOn: 4711, platform: .android)
                == .success(Endpoint(host: "127.0.0.1", port: 4711)))
        bench.expect("it tells where it goes") {
            bench.target.output.contains("going to 4711 on android, moved through ")
        }
        #expect(!bench.target.output.contains("through 0"))
        try bench.stop()
        bench.loop.close()
    }

    @Test func `one that is never ready is said to be so, with what it wrote`() throws {
        let bench = try TargetBench { options in
            options.launch = .spawn(
                try template("echo still loading; exec sleep 1000"), ready: .text("listening"))
            options.readyTime = nanosecondsPerSecond / 2
        }
        let error = try #require(try bench.start().error)
        #expect(
            error.description
                == "the target was not ready within 0 s: "
                + "no line of its output had \"listening\" in it")
        #expect(error.output.last(1) == ["still loading"])
        let pid = try #require(bench.target.processID)
        try bench.stop()
        #expect(!isRunning(pid))
        bench.loop.close()
    }

    // MARK: - Death

    @Test func `a death before it is ready is told with code and last lines`() throws {
        let bench = try TargetBench(spawn: "echo one; echo 'no such flag' >&2; exit 3")
        let error = try #require(try bench.start().error)
        #expect(error.description == "the target died: it exited with code 3")
        #expect(error.exit == .code(3))
        #expect(Set(error.output.last(2)) == ["one", "no such flag"])
        #expect(bench.deaths.isEmpty, "the start told it")
        try bench.stop()
        bench.loop.close()
    }

    @Test func `a program that is not there is a death of the shell`() throws {
        let bench = try TargetBench(spawn: "exec /nowhere/board --port {port}")
        let error = try #require(try bench.start().error)
        #expect(error.exit == .code(127))
        #expect(error.output.contains("/nowhere/board"))
        try bench.stop()
    }

    @Test func `a death at any later time is told once`() throws {
        let bench = try TargetBench { options in
            options.launch = .spawn(
                try template("echo up; read line; echo panic: nil map >&2; kill -SEGV $$"),
                ready: .text("up"))
        }
        // Its standard input ends at once, and so does it.
        _ = try bench.start()
        bench.expect("the death is told") { bench.deaths.count == 1 }
        #expect(bench.deaths.first?.exit == .signal(SIGSEGV))
        #expect(bench.deaths.first?.output.last(1) == ["panic: nil map"])
        try bench.stop()
        #expect(bench.deaths.count == 1)
        bench.loop.close()
    }

    @Test func `where a stranger took the free port it is started again on another`() throws {
        let bench = try TargetBench()
        let mark = bench.path("first")
        let again = try TargetBench { options in
            options.launch = .spawn(
                try template(
                    "if ! test -e \(mark); then echo {port} > \(mark); "
                        + "echo 'bind: Address already in use' >&2; exit 1; fi; "
                        + "echo up; exec sleep 1000"), ready: .text("up"))
        }
        let port = try again.start().get().port
        #expect(bench.text("first") != "\(port)\n")
        try again.stop()
        let never = try TargetBench(
            spawn: "echo EADDRINUSE; echo x >> \(bench.path("tries")); exit 1")
        #expect(try never.start().error?.exit == .code(1))
        #expect(bench.text("tries") == "x\nx\nx\n")
        try never.stop()
    }

    @Test func `a port that somebody else has is told before anything is started`() throws {
        let bench = try TargetBench()
        let listener = try bench.loop.listen(on: .loopback(), options: ListenOptions()) {
            $0.close()
        }
        let other = try TargetBench(
            spawn: "touch \(bench.path("started"))", to: "ws://\(listener.localAddress)/")
        #expect(try other.start().error == .portTaken(Endpoint(listener.localAddress)))
        #expect(!FileManager.default.fileExists(atPath: bench.path("started")))
        try other.stop()
        listener.close()
    }

    // MARK: - The end

    @Test func `nothing is left of what it started, however deaf`() throws {
        let bench = try TargetBench { options in
            options.launch = .spawn(
                try template(
                    "trap '' TERM; (trap '' TERM; while true; do sleep 1; done) & echo kin $!; "
                        + "echo up; while true; do sleep 1; done"), ready: .text("up"))
        }
        _ = try bench.start().get()
        let pid = try #require(bench.target.processID)
        let line = try #require(bench.target.output.lines.first?.text)
        let kin = try #require(Int32(line.dropFirst("kin ".count)))
        #expect(isRunning(pid))
        #expect(isRunning(kin))
        let begin = bench.loop.now
        try bench.stop()
        #expect(bench.loop.now - begin >= 2 * nanosecondsPerSecond, "it was asked before")
        #expect(!isRunning(pid))
        #expect(!isRunning(kin))
        bench.loop.close()
    }

    @Test func `one that ends in good order is given the time, and takes its kin along`() throws {
        let bench = try TargetBench()
        let other = try TargetBench { options in
            options.launch = .spawn(
                try template(
                    "sleep 1000 & kin=$!; trap 'echo saved > \(bench.path("saved")); kill $kin; "
                        + "exit 0' TERM; echo up; wait"), ready: .text("up"))
        }
        _ = try other.start().get()
        let begin = other.loop.now
        try other.stop()
        #expect(other.loop.now - begin < 2 * nanosecondsPerSecond)
        #expect(bench.text("saved") == "saved\n")
    }

    @Test func `what a dead target started is ended as well`() throws {
        let bench = try TargetBench { options in
            options.launch = .spawn(
                try template("sleep 1000 > /dev/null 2>&1 & echo $!; exit 1"), ready: .text("never")
            )
        }
        let error = try #require(try bench.start().error)
        let kin = try #require(Int32(error.output.lines.first?.text ?? ""))
        try bench.stop()
        #expect(!isRunning(kin))
        bench.loop.close()
    }

    @Test func `a stop in the midst of a start ends both`() throws {
        let bench = try TargetBench { options in
            options.before = try template(
                "echo $$ > \(FileManager.default.temporaryDirectory.path)/x$PORT; exec sleep 1000")
        }
        var outcome: Result<Endpoint, TargetError>?
        bench.target.start { outcome = $0 }
        try bench.stop()
        #expect(outcome == .failure(.stopped))
        #expect(bench.target.processID == nil)
        bench.loop.close()
    }

    @Test func `a stop without a start, and a second one, do no harm`() throws {
        let bench = try TargetBench(spawn: "exec sleep 1000")
        #expect(try bench.stop().error == nil)
        var count = 0
        bench.target.start { _ in }
        let first: Result<Void, TargetError> = try bench.wait("both stops end") { completion in
            bench.target.stop { _ in count += 1 }
            bench.target.stop { result in
                count += 1
                completion(result)
            }
        }
        #expect(first.error == nil)
        #expect(count == 2)
        bench.loop.close()
    }

    // MARK: - Restart

    @Test func `a restart brings a fresh one, after a death too`() throws {
        let bench = try TargetBench { options in
            options.launch = .spawn(
                try template("echo pid $$; exec sleep 1000"), ready: .text("pid"))
        }
        #expect(bench.target.canRestart)
        _ = try bench.start().get()
        let first = try #require(bench.target.processID)
        _ = try bench.restart().get()
        let second = try #require(bench.target.processID)
        #expect(first != second)
        #expect(!isRunning(first))
        #expect(bench.deaths.isEmpty)
        kill(second, SIGKILL)
        bench.expect("the death is told") { bench.deaths.count == 1 }
        _ = try bench.restart().get()
        #expect(bench.target.processID != second)
        try bench.stop()
        bench.loop.close()
    }

    @Test func `a target that was not spawned is brought back by its command`() throws {
        let board = try TargetBench()
        let listener = try board.loop.listen(on: .loopback(), options: ListenOptions()) {
            $0.close()
        }
        let bench = try TargetBench(to: "ws://\(listener.localAddress)/") { options in
            options.launch = .restart(
                try template("echo $PORT >> \(board.path("restarts"))"), ready: .connection)
        }
        _ = try bench.start().get()
        _ = try bench.restart().get()
        let port = listener.localAddress.port
        #expect(board.text("restarts") == "\(port)\n\(port)\n")
        try bench.stop()
        let failing = try TargetBench(to: "ws://\(listener.localAddress)/") { options in
            options.launch = .restart(try template("echo no ssh; exit 255"), ready: .connection)
        }
        let error = try #require(try failing.start().error)
        #expect(error.description == "--restart: the command exited with code 255")
        #expect(error.output.last(1) == ["no ssh"])
        try failing.stop()
        listener.close()
    }

    @Test func `without a way to bring it back there is no restart`() throws {
        let bench = try TargetBench()
        #expect(!bench.target.canRestart)
        #expect(try bench.restart().error == .noWay(.restart))
    }

    @Test func `a target that others keep running has to be there`() throws {
        let bench = try TargetBench(to: "ws://127.0.0.1:1/")
        #expect(
            try bench.start().words
                == "the target cannot be reached at 127.0.0.1:1: "
                + "connection refused (connect, ECONNREFUSED)")
        try bench.stop()
    }
}

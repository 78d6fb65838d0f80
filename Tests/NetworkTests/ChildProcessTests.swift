import Foundation
import Glibc
import Network
import Testing
import Wire

/// Programs that the real driver starts.
@Suite struct ChildProcessTests {
    /// Runs a command to its end.
    private func run(
        _ command: ChildCommand, _ act: (ChildProcess, RealBench) -> Void = { _, _ in }
    ) throws -> (output: [String], error: [String], exit: ChildExit?) {
        let bench = try RealBench()
        var lines: [ChildOutput: [String]] = [:]
        var exit: ChildExit?
        let child = try bench.loop.start(command) { kind, line in
            lines[kind, default: []].append(String(decoding: line, as: UTF8.self))
        } onExit: {
            exit = $0
        }
        #expect(child.pid > 0)
        act(child, bench)
        bench.expect("it ends") { exit != nil }
        #expect(child.exit == exit)
        child.send(signal: SIGKILL)
        bench.finish()
        return (lines[.output] ?? [], lines[.error] ?? [], exit)
    }

    @Test func `output comes in lines, then the exit code`() throws {
        let result = try run(.shell("echo one; echo two >&2; printf 'three\\nfour'; exit 7"))
        #expect(result.output == ["one", "three", "four"])
        #expect(result.error == ["two"])
        #expect(result.exit == .code(7))
    }

    @Test func `a program that is not there is an error of the start`() throws {
        let bench = try RealBench()
        let error = #expect(throws: NetworkError.self) {
            _ = try bench.loop.start(ChildCommand(["/nowhere/program"])) { _, _ in
            } onExit: { _ in
            }
        }
        #expect(error?.name == "ENOENT")
        bench.finish()
    }

    @Test func `a signal is told from a code`() throws {
        let result = try run(.shell("kill -9 $$"))
        #expect(result.exit == .signal(SIGKILL))
    }

    @Test func `ending a shell ends what it started too`() throws {
        let result = try run(.shell("sleep 1000 & echo $!; wait")) { child, bench in
            // The shell is given time to start its own child.
            bench.settle()
            child.end()
        }
        #expect(result.exit == .signal(SIGTERM))
        let grandchild = try #require(Int32(result.output.first ?? ""))
        let bench = try RealBench()
        bench.expect("it is gone, or a zombie that its new parent has not reaped yet") {
            // A process closes its files, which ends the output, before it is a zombie.
            let status = try? String(contentsOfFile: "/proc/\(grandchild)/stat", encoding: .utf8)
            return status.map { $0.contains(") Z ") } ?? true
        }
        bench.finish()
    }

    @Test func `input, environment and folder reach the program`() throws {
        var command = ChildCommand(["/bin/sh", "-c", "echo $COLOUR; pwd; wc -c"])
        command.environment = ["COLOUR": "blue", "PATH": "/usr/bin:/bin"]
        command.directory = "/"
        command.input = noise(300_000)
        let result = try run(command)
        #expect(result.output == ["blue", "/", "300000"])
    }

    @Test func `variables are added to those that this process has`() throws {
        var command = ChildCommand.shell("echo $COLOUR; test -n \"$PATH\" && echo path; echo $HOME")
        command.addedEnvironment = ["COLOUR": "a=b", "HOME": "/elsewhere"]
        #expect(try run(command).output == ["a=b", "path", "/elsewhere"])
        command.environment = ["PATH": "/bin:/usr/bin", "COLOUR": "blue", "HOME": "/home"]
        command.addedEnvironment = ["HOME": "/elsewhere"]
        #expect(try run(command).output == ["blue", "path", "/elsewhere"])
    }

    @Test func `a signal reaches what a program leaves in its group`() throws {
        let bench = try RealBench()
        var pid: Int32?
        var exit: ChildExit?
        let child = try bench.loop.start(.shell("sleep 1000 > /dev/null 2>&1 & echo $!; exit 3")) {
            pid = Int32(String(decoding: $1, as: UTF8.self))
        } onExit: {
            exit = $0
        }
        bench.expect("it ends") { exit != nil }
        #expect(exit == .code(3))
        #expect(pid != nil)
        #expect(child.isGroupAlive)
        child.send(signal: SIGKILL)
        // One that nobody reaps stays as a zombie, and does not count.
        bench.expect("nothing is left") { !child.isGroupAlive }
        bench.finish()
    }

    @Test func `the names in a folder are read`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["b", ".a", "ü"] {
            try Data().write(to: folder.appending(path: name))
        }
        #expect(Set(try FolderNames.read(folder.path)) == ["b", ".a", "ü"])
        let error = #expect(throws: FileError.self) { try FolderNames.read("/nowhere") }
        #expect(error?.description == "no such file or directory (opendir, ENOENT)")
    }

    @Test func `a program that reads no input does no harm`() throws {
        var command = ChildCommand(["/bin/true"])
        command.input = noise(1 << 20)
        #expect(try run(command).exit == .code(0))
    }

    @Test func `a line without end comes in pieces`() throws {
        var command = ChildCommand.shell("printf 'aaaaaaaaaa\\nbb\\n'")
        command.maximumLine = 4
        #expect(try run(command).output == ["aaaa", "aaaa", "aa", "bb"])
    }

    @Test func `the program's SIGPIPE is the default again`() throws {
        // A writer into a closed pipe dies of it, instead of writing on for ever.
        let result = try run(.shell("yes | head -1"))
        #expect(result.output == ["y"])
        #expect(result.exit == .code(0))
    }
}

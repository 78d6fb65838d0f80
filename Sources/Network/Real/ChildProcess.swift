import CUV
import Glibc
package import Wire

/// A program to start.
package struct ChildCommand: Sendable {
    /// The program, looked up in PATH, and its arguments.
    package var arguments: [String]
    /// The environment; nil for this process's own.
    package var environment: [String: String]?
    /// Variables that are set besides.
    package var addedEnvironment: [String: String] = [:]
    /// The folder to run in; nil for this process's own.
    package var directory: String?
    /// What the program finds on its standard input, which then ends.
    package var input: Bytes = []
    /// Longer lines of output are handed on in pieces of this many bytes.
    package var maximumLine = 64 << 10
    /// Gives the program a process group of its own, so that signals reach all it starts, and
    /// those of the terminal do not reach it.
    package var hasOwnGroup = true

    package init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// A command line for the shell.
    package static func shell(_ line: String) -> ChildCommand {
        ChildCommand(["/bin/sh", "-c", line])
    }
}

/// Where a child's line was written.
package enum ChildOutput: Sendable {
    case output
    case error
}

/// How a child ended.
package enum ChildExit: Equatable, Sendable {
    case code(Int32)
    case signal(Int32)
}

/// A program that was started; its output comes in lines.
package final class ChildProcess {
    /// How long output is waited for after the exit: a grandchild may hold it open for ever.
    private static let outputPatience = nanosecondsPerSecond

    /// The process id.
    package private(set) var pid: Int32 = 0
    /// How it ended; nil while it runs.
    package private(set) var exit: ChildExit?

    private let loop: UVLoop
    private let hasOwnGroup: Bool
    private var onLine: ((ChildOutput, Bytes) -> Void)?
    private var onExit: ((ChildExit) -> Void)?
    private var process: UVProcess?
    private var pipes: [ChildPipe] = []
    private var openPipes = 2
    private var isGroupGone = false

    fileprivate init(
        _ command: ChildCommand, loop: UVLoop, onLine: @escaping (ChildOutput, Bytes) -> Void,
        onExit: @escaping (ChildExit) -> Void
    ) throws(NetworkError) {
        self.loop = loop
        hasOwnGroup = command.hasOwnGroup
        let input = try PipeEnds()
        let output = try PipeEnds()
        let error = try PipeEnds()
        let process = UVProcess()
        try unsafe process.spawn(
            command, on: loop.uv, [input.reading, output.writing, error.writing])
        self.process = process
        pid = process.pid
        self.onLine = onLine
        self.onExit = onExit
        process.onExit = { [self] in exited($0) }
        for (kind, ends) in [(ChildOutput.output, output), (.error, error)] {
            let pipe = ChildPipe(maximumLine: command.maximumLine)
            pipe.onLine = { [self] in self.onLine?(kind, $0) }
            pipe.onEnd = { [self] in
                openPipes -= 1
                report()
            }
            try pipe.open(ends.takeReading(), on: loop)
            pipes.append(pipe)
        }
        let feeder = ChildInput(command.input)
        try feeder.open(input.takeWriting(), on: loop)
    }

    private func exited(_ exit: ChildExit) {
        self.exit = exit
        process = nil
        // Looked at now, while no other process can have got the number yet.
        _ = isGroupAlive
        loop.schedule(after: Self.outputPatience) { [weak self] in
            guard let self else { return }
            openPipes = 0
            report()
        }
        report()
    }

    private func report() {
        guard let exit, openPipes <= 0, let onExit else { return }
        self.onExit = nil
        for pipe in pipes { pipe.close() }
        pipes = []
        onLine = nil
        onExit(exit)
    }

    /// Whether it still runs, or anything in its group does.
    ///
    /// What has ended and is not reaped by its parent does not count. A group keeps its number as
    /// long as it has members.
    package var isGroupAlive: Bool {
        if exit == nil { return true }
        guard hasOwnGroup, !isGroupGone else { return false }
        isGroupGone = !ProcessGroup.isAlive(pid)
        return !isGroupGone
    }

    /// Sends a signal to the process, and to its group if it has its own.
    ///
    /// Nothing happens once they have ended: the number may be somebody else's then.
    package func send(signal: Int32) {
        guard pid > 0, isGroupAlive else { return }
        _ = Glibc.kill(hasOwnGroup ? -pid : pid, signal)
    }

    /// Ends the process, and its group if it has its own, at once.
    package func kill() { send(signal: SIGKILL) }

    /// Asks the process to end, and makes it do so when it has not after `patience` nanoseconds.
    package func end(patience: Int64 = 2 * nanosecondsPerSecond) {
        send(signal: SIGTERM)
        loop.schedule(after: patience) { [weak self] in self?.kill() }
    }
}

extension UVLoop {
    /// Starts a program.
    ///
    /// - Parameters:
    ///   - onLine: runs for each line of output, without its line feed.
    ///   - onExit: runs once, after the last line.
    /// - Throws: what the start failed with, such as ENOENT for a program that is not there.
    package func start(
        _ command: ChildCommand, onLine: @escaping (ChildOutput, Bytes) -> Void,
        onExit: @escaping (ChildExit) -> Void
    ) throws(NetworkError) -> ChildProcess {
        try ChildProcess(command, loop: self, onLine: onLine, onExit: onExit)
    }
}

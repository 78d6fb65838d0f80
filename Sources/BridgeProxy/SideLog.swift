package import Network
import Wire

/// A command whose lines stand in the session as notes: what happened beside the link.
///
/// A command that ends is started again, after a while that grows from `firstPause` to
/// `longestPause` as long as it never lasts: a device's log ends when the device is unplugged.
package final class SideLog {
    /// What to run, and what its lines are called.
    package struct Command: Equatable, Sendable {
        /// Stands before each line.
        package var name: String
        /// For the shell.
        package var line: String

        package init(name: String, line: String) {
            self.name = name
            self.line = line
        }
    }

    /// The code of the notes with its lines, which are `NAME: LINE`.
    package static let code = "log"
    /// The code of the notes that tell of its end.
    package static let endCode = "log_ended"

    /// Nanoseconds.
    static let firstPause = nanosecondsPerSecond
    static let longestPause = 30 * nanosecondsPerSecond
    /// Behind what ran that long, in nanoseconds, the pause is the first one again.
    private static let lasting = 10 * nanosecondsPerSecond
    /// Longer lines are cut into several notes, in bytes.
    private static let maximumLine = 8 << 10

    private let command: Command
    private let loop: UVLoop
    private let recorder: Recorder
    private let report: (RecordingRemark) -> Void
    private var state = State.waiting(nil)
    private var pause = SideLog.firstPause
    private var isTold = false

    private enum State {
        case waiting(ScheduledAction?)
        case running(ChildProcess, since: Int64)
        /// It is asked to end, and nothing is started again.
        case ending(ChildProcess, () -> Void)
        case over
    }

    /// Nothing runs before `start`.
    package init(
        _ command: Command, loop: UVLoop, recorder: Recorder,
        report: @escaping (RecordingRemark) -> Void
    ) {
        self.command = command
        self.loop = loop
        self.recorder = recorder
        self.report = report
    }

    /// Starts the command.
    package func start() {
        guard case .waiting = state else { return }
        var child = ChildCommand.shell(command.line)
        child.maximumLine = Self.maximumLine
        do {
            let process = try loop.start(child) { [weak self] _, line in
                self?.take(line)
            } onExit: { [weak self] exit in
                self?.ended(exit)
            }
            state = .running(process, since: loop.now)
        } catch {
            tell("cannot be started: \(error)")
            startAgain()
        }
    }

    /// Ends the command, and calls `completion` when it is gone, its last lines among the notes.
    package func stop(_ completion: @escaping () -> Void) {
        switch state {
        case .waiting(let timer):
            timer?.cancel()
            state = .over
            completion()
        case .running(let child, _):
            state = .ending(child, completion)
            child.end()
        case .ending, .over:
            completion()
        }
    }

    /// Ends the command at once, for a program that is about to end itself.
    package func kill() {
        switch state {
        case .running(let child, _), .ending(let child, _): child.kill()
        case .waiting, .over: break
        }
    }

    private func take(_ line: Bytes) {
        var line = line[...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        recorder.note(
            code: Self.code, text: "\(command.name): \(String(decoding: line, as: UTF8.self))")
    }

    private func ended(_ exit: ChildExit) {
        switch state {
        case .ending(_, let completion):
            state = .over
            completion()
        case .running(_, let since):
            if loop.now - since >= Self.lasting { pause = Self.firstPause }
            tell(Self.text(exit))
            startAgain()
        case .waiting, .over:
            break
        }
    }

    private static func text(_ exit: ChildExit) -> String {
        switch exit {
        case .code(let code): "ended with exit code \(code)"
        case .signal(let number): "was ended by signal \(number)"
        }
    }

    private func tell(_ text: String) {
        recorder.note(code: Self.endCode, text: "\(command.name): \(text)")
        // A device may be away for hours.
        if !isTold { report(.logEnded(command.name, text)) }
        isTold = true
    }

    private func startAgain() {
        let timer = loop.schedule(after: pause) { [weak self] in self?.start() }
        state = .waiting(timer)
        pause = min(pause * 2, Self.longestPause)
    }
}

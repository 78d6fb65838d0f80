import Foundation
import Glibc

/// Why a test could not get as far as what it tests.
struct Trouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A folder of one test, removed when the test is done with it.
final class TestFolder {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-record-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}

/// A program that a test started: bounded in time, and ended by its id at the latest when the
/// test lets go of it.
final class Child {
    /// How it ended.
    struct Outcome {
        /// 128 and the signal's number where a signal ended it.
        let exitCode: Int32
        let output: String
        let errors: String
    }

    /// The most that a program may take, in seconds.
    static let limit = 150

    private let name: String
    /// Of `timeout`, which ends the program where a test could not.
    private let guardPID: pid_t
    private var output: Int32
    private let errorsPath: String
    private var isReaped = false
    /// What it has said on standard output, and was not given out yet.
    private var unread = Data()

    /// Starts a program; a name without a slash is looked up in PATH.
    init(_ program: String, _ arguments: [String], in folder: TestFolder) throws {
        name = program.split(separator: "/").last.map(String.init) ?? program
        errorsPath = folder.file("errors-\(UUID().uuidString)")
        var ends: [Int32] = [-1, -1]
        // Not a pipe, which cannot be made closed on exec at once.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Trouble("socketpair: errno \(errno)")
        }
        output = ends[0]
        defer { close(ends[1]) }
        guardPID = try Self.spawn(
            ["timeout", "--kill-after=5", "\(Self.limit)", program] + arguments,
            output: ends[1], errors: errorsPath)
    }

    private static func spawn(
        _ words: [String], output: Int32, errors: String
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        unsafe posix_spawn_file_actions_addopen(
            &actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        // The threads that run tests block signals, and a child inherits that.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var blocked = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        var restored = sigset_t()
        unsafe sigemptyset(&restored)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { unsafe sigaddset(&restored, signal) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &restored)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var argv = unsafe words.map { unsafe strdup($0) } + [nil]
        var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            unsafe (argv + envp).forEach { unsafe free($0) }
        }
        var pid: pid_t = 0
        let result = unsafe posix_spawnp(&pid, "timeout", &actions, &attributes, &argv, &envp)
        guard result == 0 else { throw Trouble("cannot start \(words): errno \(result)") }
        return pid
    }

    deinit {
        if !isReaped {
            if let pid = try? pid { kill(pid, SIGKILL) }
            kill(guardPID, SIGKILL)
            var status: Int32 = 0
            unsafe waitpid(guardPID, &status, 0)
        }
        if output >= 0 { close(output) }
    }

    /// The program's own process id, once it runs.
    var pid: pid_t {
        get throws {
            let path = "/proc/\(guardPID)/task/\(guardPID)/children"
            let text = (try? String(contentsOfFile: path, encoding: .ascii)) ?? ""
            guard let first = text.split(whereSeparator: \.isWhitespace).first,
                let pid = pid_t(first)
            else { throw Trouble("\(name) does not run; \(errors)") }
            return pid
        }
    }

    /// What it has said on standard error so far.
    var errors: String { (try? String(contentsOfFile: errorsPath, encoding: .utf8)) ?? "" }

    /// The most memory that it has had so far, in bytes.
    var peakMemory: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(try pid)/status", encoding: .utf8)
            for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
                if let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
                {
                    return kilobytes << 10
                }
            }
            throw Trouble("no VmHWM of \(name)")
        }
    }

    /// Sends it a signal, by its process id.
    func signal(_ signal: Int32) throws {
        guard kill(try pid, signal) == 0 else { throw Trouble("kill \(name): errno \(errno)") }
    }

    /// Waits until it has ended, and gives how.
    func finish(within seconds: Double = 60) throws -> Outcome {
        let deadline = Deadline(seconds)
        while try readMore(until: deadline) {}
        let text = unread
        var status: Int32 = 0
        while unsafe waitpid(guardPID, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        let signal = status & 0x7f
        return Outcome(
            exitCode: signal == 0 ? status >> 8 & 0xff : 128 + signal,
            output: String(decoding: text, as: UTF8.self), errors: errors)
    }

    /// Waits until it has said `text` on standard output, and gives all up to there.
    func waitForOutput(_ text: String, within seconds: Double = 30) throws -> String {
        let deadline = Deadline(seconds)
        let wanted = Data(text.utf8)
        while true {
            if let range = unread.range(of: wanted) {
                let result = unread[..<range.upperBound]
                unread.removeSubrange(..<range.upperBound)
                return String(decoding: result, as: UTF8.self)
            }
            guard try readMore(until: deadline) else {
                throw Trouble("\(name) ended without \(text); \(errors)")
            }
        }
    }

    /// Takes what comes next on standard output; false at its end.
    private func readMore(until deadline: Deadline) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            guard try Self.wait(for: output, POLLIN, until: deadline) else {
                throw Trouble("\(name) took too long; \(errors)")
            }
            let count = unsafe read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            unread.append(contentsOf: buffer[..<count])
            return true
        }
    }

    /// Waits until a file is there, and gives what it says; the program must live until then.
    func waitForFile(_ path: String, within seconds: Double = 30) throws -> String {
        try watch(path, IN_MOVED_TO, within: seconds) {
            try? String(contentsOfFile: path, encoding: .utf8)
        }
    }

    /// Waits until it has said `text` on standard error; it must live until then.
    func waitForError(_ text: String, within seconds: Double = 30) throws {
        try watch(errorsPath, IN_MODIFY, within: seconds) { errors.contains(text) ? () : nil }
    }

    /// Looks again whenever something happens in the folder of a file.
    private func watch<Result>(
        _ path: String, _ events: Int32, within seconds: Double, _ look: () -> Result?
    ) throws -> Result {
        let deadline = Deadline(seconds)
        let notices = inotify_init1(Int32(IN_CLOEXEC) | O_NONBLOCK)
        guard notices >= 0 else { throw Trouble("inotify_init1: errno \(errno)") }
        defer { close(notices) }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        guard unsafe inotify_add_watch(notices, folder, UInt32(events)) >= 0 else {
            throw Trouble("inotify_add_watch \(folder): errno \(errno)")
        }
        while true {
            if let result = look() { return result }
            var waits = [
                pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
                pollfd(fd: output, events: 0, revents: 0),
            ]
            let count = unsafe poll(&waits, 2, deadline.milliseconds)
            guard count > 0 || errno == EINTR else {
                throw Trouble("\(name) did nothing of the kind within \(seconds) s; \(errors)")
            }
            if waits[1].revents != 0 { throw Trouble("\(name) has ended; \(errors)") }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while unsafe read(notices, &buffer, buffer.count) > 0 {}
        }
    }

    /// Whether a descriptor became ready in time.
    static func wait(for descriptor: Int32, _ events: Int32, until deadline: Deadline) throws
        -> Bool
    {
        while true {
            var waits = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
            let count = unsafe poll(&waits, 1, deadline.milliseconds)
            if count > 0 { return true }
            if count == 0 { return false }
            guard errno == EINTR else { throw Trouble("poll: errno \(errno)") }
        }
    }
}

/// A moment by which something has to be done.
struct Deadline {
    private let end: ContinuousClock.Instant

    /// A sanitizer makes everything several times slower.
    init(_ seconds: Double) {
        end = .now + .seconds(BuiltProgram.isSanitized ? 5 * seconds : seconds)
    }

    var isOver: Bool { end <= .now }

    /// What is left, rounded up; 0 once it is over.
    var milliseconds: Int32 {
        let left = end - .now
        guard left > .zero else { return 0 }
        return Int32(clamping: left.components.seconds * 1000)
            + Int32(left.components.attoseconds / 1_000_000_000_000_000) + 1
    }
}

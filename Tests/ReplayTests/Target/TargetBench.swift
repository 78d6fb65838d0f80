import Foundation
import Network
import Replay
import Simulator
import Testing
import Wire

/// A target on the real driver, and what came of it.
final class TargetBench {
    let loop: UVLoop
    let folder: URL
    private(set) var target: Target
    private(set) var deaths: [TargetError] = []

    /// A board that is spawned with this command, on a free port.
    init(
        spawn command: String? = nil, to url: String = "ws://127.0.0.1:0/api/phone-bridge",
        job: Int = 1, _ change: (inout TargetOptions) throws -> Void = { _ in }
    ) throws {
        loop = try UVLoop()
        folder = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-target-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var options = TargetOptions(.dial(try WebSocketURL(parsing: url)))
        if let command {
            options.launch = .spawn(try TargetTemplate(parsing: command), ready: .connection)
        }
        options.stimulus = .reference
        try change(&options)
        target = Target(options, on: loop, job: job)
        target.onDeath = { [unowned self] in deaths.append($0) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A path in a folder of this bench.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// The text of a file there.
    func text(_ name: String) -> String {
        (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
    }

    /// Runs the loop until `completion` was called, at most twenty seconds.
    func wait<Value>(
        _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
        for body: (_ completion: @escaping (Value) -> Void) -> Void
    ) throws -> Value {
        var value: Value?
        var isWithin = true
        body { [loop] in
            #expect(!isWithin, "a completion ran inside the call", sourceLocation: sourceLocation)
            #expect(value == nil, "a completion ran twice", sourceLocation: sourceLocation)
            value = $0
            loop.stop()
        }
        isWithin = false
        let limit = loop.schedule(after: 20 * nanosecondsPerSecond) { [loop] in loop.stop() }
        if value == nil { loop.run() }
        limit.cancel()
        return try #require(value, what, sourceLocation: sourceLocation)
    }

    func start(
        listeningOn port: UInt16? = nil, platform: Platform = .ios,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Result<Endpoint, TargetError> {
        try wait("it starts or fails", sourceLocation: sourceLocation) {
            target.start(listeningOn: port, platform: platform, $0)
        }
    }

    func restart() throws -> Result<Endpoint, TargetError> {
        try wait("it starts again or fails") { target.restart($0) }
    }

    @discardableResult
    func stop(
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Result<Void, TargetError> {
        try wait("it stops", sourceLocation: sourceLocation) { target.stop($0) }
    }

    func stimulate(
        _ command: JSON, timeout: Int64 = 10 * nanosecondsPerSecond
    ) throws -> Result<JSON?, TargetError> {
        try wait("the stimulus ends") { target.stimulate(command, timeout: timeout, $0) }
    }

    func setState(_ state: String) throws -> Result<Void, TargetError> {
        try wait("the state is set or not") { target.setState(state, $0) }
    }

    /// Runs the loop until `condition` holds.
    func expect(
        _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: @escaping () -> Bool
    ) {
        let deadline = loop.now + 10 * nanosecondsPerSecond
        func look() {
            if condition() || loop.now > deadline { return loop.stop() }
            loop.schedule(after: nanosecondsPerMillisecond) { look() }
        }
        loop.schedule(at: loop.now) { look() }
        loop.run()
        #expect(condition(), what, sourceLocation: sourceLocation)
    }
}

extension Result where Failure == TargetError {
    /// The error's sentence; nil for a success.
    var words: String? {
        if case .failure(let error) = self { error.description } else { nil }
    }

    /// The error; nil for a success.
    var error: TargetError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Whether a process still runs; one that nobody has reaped does not.
func isRunning(_ pid: Int32) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    else { return false }
    return !status.contains(") Z ") && !status.contains(") X ")
}

import Capture
import Glibc
import Testing

/// Very many connections at once.
@Suite struct RecordCrowdTests {
    private static let connections = 2000

    @Test func `two thousand connections at once, each complete in the file`() throws {
        try raiseDescriptorLimit()
        let folder = try TestFolder()
        let load = try EchoLoad()
        let recorder = try RunningRecorder(to: load.port, in: folder)
        try load.connect(Self.connections, through: recorder.port)
        load.limit = 0
        try load.run(within: 90) {
            load.boards.count == Self.connections && load.apps.allSatisfy(\.isUpgraded)
        }
        // All of them are open now.
        load.fill = { _ in 100 }
        load.limit = 3
        try load.run(within: 60) { load.apps.allSatisfy { $0.received == 3 } }
        try load.finish()
        #expect(load.faults == [])
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")

        let session = try recorder.session()
        #expect(session.flaws == [])
        #expect(session.connections.count == Self.connections)
        for (number, connection) in session.connections {
            let pair = number - 1
            let expected = (0..<3).map { EchoEnd.message(pair: pair, $0, fill: 100) }
            guard connection.requests.map(\.target) == ["/load?number=\(pair)"],
                connection.responses.map(\.status) == [101],
                connection.frames(from: .app) == expected,
                connection.frames(from: .board) == expected,
                connection.closes == [.app: .fin, .board: .fin]
            else {
                Issue.record("connection \(number) is incomplete: \(connection.events)")
                return
            }
        }
    }

    /// Both ends of every connection are in this process, and as many in the recorder.
    private func raiseDescriptorLimit() throws {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Trouble("getrlimit: errno \(errno)")
        }
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Trouble("setrlimit: errno \(errno)")
        }
    }
}

import BridgeProxy
import Capture
import Network
import PhoneBridge
import Synchronization
import Testing
import Wire

/// `record --ring`, in virtual time: when it writes, and what.
@Suite struct RingKeeperTests {
    /// Files in memory; one name is taken, as by an earlier recording.
    private final class Shelf: Sendable {
        let files = Mutex<[(path: String, text: String)]>([])
        let isBroken = Mutex(false)

        var writer: RingFile.Writer {
            { (session, remark, path) throws(OutputError) in
                if path == "bug-0002.ndjson" {
                    throw OutputError(errno: 17, call: "open", path: path)
                }
                if self.isBroken.withLock({ $0 }) {
                    throw OutputError(errno: 28, call: "open", path: path)
                }
                let memory = SessionMemory()
                let output = try SessionWriter(session: session.info) { (_) throws(OutputError) in
                    memory
                }
                session.write(to: output, remark: remark)
                let text = String(decoding: memory.bytes, as: UTF8.self)
                self.files.withLock { $0.append((path, text)) }
                return RingFile.Written(status: output.status)
            }
        }

        var paths: [String] { files.withLock { $0.map(\.path) } }
        var texts: [String] { files.withLock { $0.map(\.text) } }
    }

    private let shelf = Shelf()

    private func laboratory(seconds: Int64 = 60, check: Bool = false) throws -> Laboratory {
        try Laboratory(recording: { options in
            var ring = RingKeeper.Options(
                duration: seconds * nanosecondsPerSecond,
                files: [RingFile("bug.ndjson", write: shelf.writer)])
            ring.hasThread = false
            options.ring = ring
            options.outputs = []
            if check { options.check = LiveCheck(profile: .contract, today: "2026-01-01") }
        })
    }

    private func outcomes(_ lab: Laboratory) -> [RingOutcome] {
        lab.reports.compactMap { if case .ring(let outcome) = $0 { outcome } else { nil } }
    }

    private func beat(_ app: End) {
        app.stream.write([0x81, 0x80 | 18, 0, 0, 0, 0] + Bytes(#"{"id":"heartbeat"}"#.utf8))
    }

    @Test func `a trigger writes the next free file, with itself as the last event`() throws {
        let lab = try laboratory()
        let (app, _) = try lab.link()
        beat(app)
        lab.world.run(for: nanosecondsPerSecond)
        lab.recording.writeRing(.key)
        lab.recording.writeRing(.signal)
        #expect(shelf.paths == ["bug-0001.ndjson", "bug-0003.ndjson"])
        let lines = shelf.texts[0].split(separator: "\n")
        #expect(
            lines[1].contains(#""code":"ring","text":"the last 1.0 s, because of the key b; "#))
        #expect(lines.dropLast().last?.contains(#""code":"trigger","text":"the key b"}"#) == true)
        #expect(lines.contains { $0.contains("heartbeat") })
        let told = outcomes(lab)
        #expect(told.map(\.trigger) == [.key, .signal])
        #expect(told.allSatisfy { $0.isComplete && !$0.isCut })
        #expect(told[1].files.map(\.status.written) == [8])
        #expect(lab.middle.disk.files.isEmpty)
    }

    @Test func `the end of the recording writes it as well, unless nothing was recorded`() throws {
        let lab = try laboratory()
        _ = try lab.link()
        let summary = lab.recording.stop()
        #expect(shelf.paths == ["bug-0001.ndjson"])
        #expect(shelf.texts[0].contains(#""code":"trigger","text":"the end of the recording""#))
        #expect(
            summary.ring
                == {
                    var ring = RingKeeper.Summary(); ring.files = 1; return ring
                }())
        #expect(summary.isComplete)

        let other = try laboratory()
        _ = other.recording.stop(writesRing: false)
        #expect(shelf.paths.count == 1)
    }

    @Test func `a broken rule writes it once, and again when it has rested`() throws {
        let lab = try laboratory(seconds: 60, check: true)
        let (app, _) = try lab.link()
        // Nobody echoes them.
        for _ in 0..<100 {
            beat(app)
            lab.world.run(for: 5 * nanosecondsPerSecond)
        }
        let rules = outcomes(lab).filter {
            if case .rules(let ids) = $0.trigger { ids.contains("heartbeat-echoed") } else { false }
        }
        // Another rule was first; then 60, 120 and 240 s apart.
        #expect(rules.count == 4)
        #expect(outcomes(lab).count == 5)
        #expect(shelf.texts[1].contains(#""code":"rule","text":"heartbeat-echoed: "#))
        #expect(shelf.texts[1].contains(#""code":"trigger","text":"rule"#))
    }

    @Test func `a file that cannot be written is told, and the next one is tried`() throws {
        let lab = try laboratory()
        _ = try lab.link()
        shelf.isBroken.withLock { $0 = true }
        lab.recording.writeRing(.signal)
        #expect(outcomes(lab).first?.errors.map(\.name) == ["ENOSPC"])
        shelf.isBroken.withLock { $0 = false }
        let summary = lab.recording.stop()
        #expect(shelf.paths == ["bug-0003.ndjson"])
        #expect(summary.ring?.failures == 1)
        #expect(!summary.isComplete)
    }
}

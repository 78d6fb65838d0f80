import Capture
import Inspector
import Testing
import Wire

@Suite struct PageOutputTests {
    private let info = SessionInfo(
        id: "live", startedAt: "2026-06-10T03:20:00.000000000Z", tool: "bridgetap", source: "proxy")

    @Test func `a recording's events go into the page, and so does silence`() throws {
        let output = PageOutput(info, name: "lab.ndjson", replay: "bridgetap replay lab.ndjson")
        var batch = EventBatch(gathersFrames: true)
        for event in try FedSession.events(of: "errors").dropFirst() { batch.append(event) }
        output.receive(batch)
        output.flush(now: 999_999_999)
        output.flush(now: 2_000_000_000)
        output.flush(now: 2_000_000_001)
        #expect(output.nextDeadline == 3_000_000_000)
        output.admit(dropped: 3)
        #expect(output.status.isComplete)
        let metrics = String(
            decoding: output.metrics(now: 20_000_000_000, isPaused: true, tool: "bridgetap 9"),
            as: UTF8.self)
        #expect(metrics.contains("\nbridgetap_events_dropped_total 3\n"))
        #expect(metrics.contains("\nbridgetap_recording_paused 1\n"))
        #expect(metrics.contains("\nbridgetap_session_seconds 20\n"))
        #expect(
            metrics.contains(
                "\nbridgetap_rule_breaches_total{rule=\"command-url-scheme\",counts=\"true\"} 1\n"))
        _ = output.close(now: 3_000_000_000)
        #expect(output.log.isFinished && output.pending == .array([]))
        let text = String(
            decoding: try output.log.records(from: 0, maximum: 64 << 20), as: UTF8.self)
        #expect(text.hasPrefix("[\"i\",{\"name\":\"lab.ndjson\""))
        #expect(text.contains("\n[\"e\",2000000000]\n") && !text.contains("[\"e\",999"))
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("[\"r\"") }
        #expect(lines.count > 20)
    }
}

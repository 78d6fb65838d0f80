import BridgeProxy
import Network
import PhoneBridge
import Testing
import Wire

/// `record --check`, in virtual time.
@Suite struct LiveCheckTests {
    private let request =
        "GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: 192.168.42.1:8080\r\n"
        + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    private let response =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

    /// A recording of an app whose heartbeats nobody echoes, or a clean one.
    private func record(
        profile: Profile = .contract, echoes: Bool = false, beats: Int = 1
    ) throws -> (lab: Laboratory, app: End, board: End) {
        let lab = try Laboratory(recording: { options in
            options.check = LiveCheck(profile: profile, today: "2026-01-01")
        })
        let app = try lab.dial()
        app.send(request)
        lab.expect("the board has the request") { lab.arrivals.first?.text == request }
        let board = try #require(lab.arrivals.first)
        board.send(response)
        lab.expect("the app has the answer") { app.text == response }
        let beat = Bytes(#"{"id":"heartbeat"}"#.utf8)
        for _ in 0..<beats {
            // A mask of zeros leaves the text as it is.
            app.stream.write([0x81, 0x80 | 18, 0, 0, 0, 0] + beat)
            if echoes { board.stream.write([0x81, 18] + beat) }
            lab.world.run(for: 1_000_000_000)
        }
        return (lab, app, board)
    }

    private func findings(_ lab: Laboratory) -> [LiveCheck.Finding] {
        lab.reports.compactMap { if case .found(let finding) = $0 { finding } else { nil } }
            .filter { $0.breach.rule.id == "heartbeat-echoed" }
    }

    private func notes(_ lab: Laboratory) -> [JSON] {
        lab.lines("note").compactMap { try? JSON(parsing: $0) }
            .filter { $0["text"]?.stringValue?.hasPrefix("heartbeat-echoed: ") == true }
    }

    @Test func `what does not come is a note and a report, while there is silence`() throws {
        let (lab, _, _) = try record()
        #expect(findings(lab).isEmpty)
        lab.world.run(for: 20_000_000_000)
        let found = findings(lab)
        #expect(found.count == 1)
        #expect(found.first?.standing == .counted)
        let note = try #require(notes(lab).first)
        #expect(notes(lab).count == 1)
        #expect(note["code"] == "rule")
        #expect(note["conn"] == 1)
        #expect(note["from"] == "board")
        // The heartbeat's own line.
        let to = try #require(note["to"]?.integerValue)
        let beat = try #require(lab.lines("frame").first)
        #expect(try JSON(parsing: beat)["seq"] == .integer(to))
        let summary = lab.recording.stop()
        #expect(summary.check?.broken["heartbeat-echoed"] == 1)
        #expect((summary.check?.exercised ?? 0) > 0)
    }

    @Test func `a link that keeps the rules has no notes`() throws {
        let (lab, _, _) = try record(echoes: true, beats: 30)
        #expect(findings(lab).isEmpty)
        let summary = lab.recording.stop()
        #expect(summary.check?.broken["heartbeat-echoed"] == nil)
        #expect(notes(lab).isEmpty)
    }

    @Test func `what the profile knows is noted with its words and does not count`() throws {
        var profile = Profile.contract
        profile.deviations["heartbeat-echoed"] = "this one never echoes"
        let (lab, _, _) = try record(profile: profile)
        lab.world.run(for: 20_000_000_000)
        #expect(findings(lab).map(\.standing) == [.excused("this one never echoes")])
        #expect(
            notes(lab).first?["text"]?.stringValue?
                .hasSuffix("(does not count: this one never echoes)") == true)
        let summary = lab.recording.stop()
        #expect(summary.check?.broken.isEmpty == true)
        #expect(summary.check?.excused == 1)
    }

    @Test func `a rule that is broken all the time is noted so often and no more`() throws {
        let (lab, _, _) = try record(beats: LiveCheck.maximumNotes + 50)
        #expect(findings(lab).count > LiveCheck.maximumNotes)
        #expect(notes(lab).count == LiveCheck.maximumNotes)
        #expect(
            notes(lab).last?["text"]?.stringValue?.hasSuffix("further ones are counted only")
                == true)
        let summary = lab.recording.stop()
        #expect((summary.check?.broken["heartbeat-echoed"] ?? 0) > LiveCheck.maximumNotes)
    }
}

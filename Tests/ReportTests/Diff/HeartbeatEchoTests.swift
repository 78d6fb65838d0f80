import Capture
import Report
import Testing
import Wire

/// Heartbeats that the board owed an echo.
@Suite struct HeartbeatEchoTests {
    private func missing(_ body: (inout SessionSketch) -> Void) throws -> Int {
        try DiffProbe.read(DiffProbe.session(body), "a").heartbeatsWithoutEcho
    }

    private static let close: Bytes = [0x03, 0xe8]

    @Test func `one that comes back is not missed`() throws {
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1)
                sketch.heartbeat(5_000, 1)
                sketch.heartbeat(30_000, 1)
            } == 0)
    }

    @Test func `one that does not come back in ten seconds is missed`() throws {
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.heartbeat(9_000, 2)
            } == 0)
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.heartbeat(11_000, 2)
            } == 1)
    }

    @Test func `one before another that came back is missed at once`() throws {
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.text(20, 1, .app, #"{"id":"ping"}"#)
                sketch.text(21, 1, .board, #"{"id":"ping"}"#)
            } == 1)
        // The echo has another id: nobody asked for it.
        #expect(
            try missing { sketch in
                sketch.text(20, 1, .app, #"{"id":"ping"}"#)
                sketch.text(21, 1, .board, #"{"id":"heartbeat"}"#)
                sketch.frame(30, 1, .app, .close, Self.close)
                sketch.frame(31, 1, .board, .close, Self.close)
            } == 1)
    }

    @Test func `a board that answers the app's close frame has read all before it`() throws {
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.frame(20, 1, .app, .close, Self.close)
                sketch.frame(21, 1, .board, .close, Self.close)
            } == 1)
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.frame(20, 1, .board, .close, Self.close)
            } == 0)
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.close(20, 1, .app, .reset)
            } == 0)
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.close(2_000, 1, .app, .reset)
            } == 1)
    }

    @Test func `nobody is blamed for what was not seen`() throws {
        #expect(
            try missing { sketch in
                sketch.heartbeat(10, 1, echo: nil)
                sketch.add(20, 1, .board, .gap(Event.Gap(length: nil, why: "missing_packets")))
                sketch.heartbeat(30_000, 2)
            } == 0)
    }

    @Test func `echoes that are missing now are a difference, numbers are not`() throws {
        let good = DiffProbe.session { sketch in
            sketch.heartbeat(10, 1)
            sketch.heartbeat(5_000, 1)
            sketch.frame(7_000, 1, .app, .close, Self.close)
            sketch.frame(7_001, 1, .board, .close, Self.close)
        }
        let deaf = DiffProbe.session { sketch in
            sketch.heartbeat(10, 1, echo: nil)
            sketch.heartbeat(5_000, 1)
            sketch.heartbeat(6_000, 1)
            sketch.frame(7_000, 1, .app, .close, Self.close)
            sketch.frame(7_001, 1, .board, .close, Self.close)
        }
        #expect(try DiffProbe().isDifferent(good, deaf))
        #expect(try !DiffProbe().isDifferent(deaf, good))
        #expect(try DiffProbe(SessionPairing(judged: .board)).isDifferent(good, deaf))
        #expect(try !DiffProbe(SessionPairing(judged: .app)).isDifferent(good, deaf))
        #expect(
            try DiffProbe().text(good, deaf).contains(
                "changed        heartbeats without an echo: 0 → 1\n"))
    }
}

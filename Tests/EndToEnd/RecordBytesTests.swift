import Capture
import Foundation
import Glibc
import Testing

/// Nothing is altered: what one end sends, legal or not, the other end gets, and the file holds.
@Suite struct RecordBytesTests {
    private struct Run {
        let app: PeerReport
        let board: PeerReport
        let session: RecordedSession
        let connection: RecordedSession.Connection
    }

    /// Lets two raw ends play their parts through a recorder.
    private func play(
        app: [String], board: [String], flags: [String] = []
    ) throws -> Run {
        let folder = try TestFolder()
        let server = try Peer(
            listening: "raw_peer", ["--role", "server"] + scenario(board) + flags, in: folder)
        let recorder = try RunningRecorder(to: server.port, in: folder)
        let client = try Peer(
            "raw_peer", to: recorder.port, ["--role", "client"] + scenario(app) + flags,
            in: folder)
        let appReport = try client.finish()
        let boardReport = try server.finish()
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let session = try recorder.session()
        #expect(session.flaws == [])
        return Run(
            app: appReport, board: boardReport, session: session,
            connection: try #require(session.onlyConnection))
    }

    /// A scenario's name, and what else is to be said.
    private func scenario(_ words: [String]) -> [String] {
        ["--scenario"] + words
    }

    private func expectAllBytes(_ run: Run) {
        #expect(run.board.received == run.app.sent)
        #expect(run.app.received == run.board.sent)
        #expect(run.connection.sent(by: .app) == run.app.sent)
        #expect(run.connection.sent(by: .board) == run.board.sent)
    }

    @Test(arguments: [
        "invalid-utf8", "reserved-opcodes", "reserved-bits", "odd-control", "long-forms",
        "wrong-mask", "odd-fragments", "odd-close", "huge-length", "impossible-length", "garbage",
        "byte-by-byte", "fin-in-frame",
    ])
    func `frames of every kind pass as they are, from both sides at once`(name: String) throws {
        let run = try play(
            app: [name], board: [name, "--answer", "upgrade"], flags: ["--end-first"])
        expectAllBytes(run)
        #expect((run.app.sent?.bytes ?? 0) > 100)
        #expect(run.app.end == "fin" && run.board.end == "fin")
        #expect(run.connection.closes == [.app: .fin, .board: .fin])
    }

    @Test(arguments: [
        ("garbage-first", "none", "data"), ("tls-hello", "none", "data"),
        ("http2-preface", "none", "data"), ("odd-http", "none", "request"),
        ("bare-fin-in-head", "none", "data"), ("early-frames", "upgrade", "frame"),
        ("garbage-first", "echo", "data"), ("http2-preface", "echo", "data"),
    ])
    func `what is no handshake passes as it is and is recorded as what it is`(
        name: String, answer: String, kind: String
    ) throws {
        let run = try play(
            app: [name, "--end-first"], board: ["silent", "--answer", answer])
        expectAllBytes(run)
        let isThere = run.connection.events.contains {
            switch $0.kind {
            case .data: kind == "data"
            case .frame: kind == "frame"
            case .request: kind == "request"
            default: false
            }
        }
        #expect(isThere, "no \(kind) event")
    }

    @Test func `half a connection goes on: the answer to a request with a FIN comes through`()
        throws
    {
        let run = try play(app: ["half-close"], board: ["silent", "--answer", "http"])
        expectAllBytes(run)
        #expect((run.app.received?.bytes ?? 0) > 0)
        #expect(run.app.end == "fin" && run.board.end == "fin")
    }

    @Test(arguments: [
        (app: ["half-close-websocket"], board: ["flood", "--flood", "3000000"]),
        (app: ["flood", "--flood", "3000000"], board: ["half-close-websocket"]),
    ])
    func `one side goes on after the FIN of the other`(app: [String], board: [String]) throws {
        let run = try play(
            app: app + ["--end-first"], board: board + ["--answer", "upgrade", "--end-first"])
        expectAllBytes(run)
        #expect(run.connection.closes == [.app: .fin, .board: .fin])
    }

    @Test(arguments: ["reset", "reset-in-frame"])
    func `a reset of the app reaches the board, behind all that was sent before`(
        name: String
    ) throws {
        let run = try play(app: [name], board: ["silent", "--answer", "upgrade"])
        #expect(run.app.end == "closed")
        #expect(run.board.end == "reset")
        #expect(run.board.received == run.app.sent)
        #expect(run.connection.sent(by: .app) == run.app.sent)
        #expect(run.connection.closes[.app] == .reset)
    }

    @Test func `a reset before the first byte is a reset`() throws {
        let run = try play(app: ["reset-first"], board: ["silent"])
        #expect(run.board.end == "reset")
        #expect(run.connection.closes[.app] == .reset)
    }

    @Test(arguments: ["reset", "reset-in-frame"])
    func `a reset of the board reaches the app, behind all that was sent before`(
        name: String
    ) throws {
        let run = try play(app: ["wrong-mask"], board: [name, "--answer", "upgrade"])
        #expect(run.app.end == "reset")
        #expect(run.app.received == run.board.sent)
        #expect(run.connection.sent(by: .board) == run.board.sent)
        #expect(run.connection.closes[.board] == .reset)
    }

    @Test func `a reader that is stuck holds up the other side, and nothing is lost`() throws {
        let folder = try TestFolder()
        let flood = 96 << 20
        let server = try Peer(
            listening: "raw_peer",
            ["--role", "server", "--answer", "upgrade", "--end-first"]
                + scenario(["flood", "--flood", "\(flood)"]), in: folder)
        // Only the memory matters here: what is recorded goes nowhere.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("lab.ndjson"), withDestinationPath: "/dev/null")
        let recorder = try RunningRecorder(to: server.port, in: folder)
        let client = try Peer(
            "raw_peer", to: recorder.port,
            ["--role", "client", "--receive-buffer", "4096"] + scenario(["stuck", "--pause", "1"]),
            in: folder)
        let app = try client.finish()
        let board = try server.finish()
        #expect(app.received == board.sent)
        #expect((board.sent?.bytes ?? 0) > flood)
        #expect(try BuiltProgram.isSanitized || recorder.child.peakMemory < 64 << 20)
        #expect(try recorder.stop().exitCode == 0)
    }
}

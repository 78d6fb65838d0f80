import BridgeProxy
import Capture
import Network
import Testing
import Wire

/// Faults that the proxy injects: what reaches the other side, and what the session says of it.
@Suite struct FaultTests {
    /// A phone and a board with a WebSocket between them through a proxy with these faults.
    private final class Link {
        let lab: Laboratory
        let app: End
        let board: End
        private var appStart = 0
        private var boardStart = 0

        init(_ faults: String) throws {
            let spec = try FaultSpec(parsing: faults)
            lab = try Laboratory(options: { $0.faults = spec })
            (app, board) = try lab.link()
            appStart = app.received.count
            boardStart = board.received.count
        }

        /// What the app got over the WebSocket.
        var atApp: Bytes { Bytes(app.received[appStart...]) }
        /// What the board got over the WebSocket.
        var atBoard: Bytes { Bytes(board.received[boardStart...]) }

        func say(_ end: End, _ text: String, fin: Bool = true, opcode: Opcode = .text) -> Bytes {
            let bytes = Frame(fin: fin, opcode: opcode, payload: Bytes(text.utf8)).encoded()
            end.stream.write(bytes)
            return bytes
        }

        func run(_ seconds: Double) {
            lab.world.run(for: Int64(seconds * 1e9))
        }

        var notes: [String] { lab.lines("note").filter { $0.contains(#""code":"fault""#) } }
    }

    private static let result = #"{"id":"c1","data":{"text":"x"}}"#
    private static let command = #"{"id":"c1","type":"clipboard_read"}"#

    @Test func `a fault strikes what its filter chooses, and nothing else`() throws {
        let link = try Link("drop[result]")
        let command = link.say(link.board, Self.command)
        _ = link.say(link.app, Self.result)
        let beat = link.say(link.app, #"{"id":"heartbeat"}"#)
        link.run(1)
        #expect(link.atApp == command)
        #expect(link.atBoard == beat)
        #expect(link.notes.count == 1)
        #expect(link.notes[0].contains("result c1 of the app: dropped"))
        // The file has what was sent.
        #expect(
            link.lab.lines("frame").contains {
                $0.contains(#""from":"app""#) && $0.contains("c1")
            })
    }

    @Test func `a message is sent twice, split, or together with the next one`() throws {
        let twice = try Link("duplicate")
        let frame = twice.say(twice.app, Self.result)
        twice.run(1)
        #expect(twice.atBoard == frame + frame)
        for faults in ["split", "merge"] {
            let link = try Link(faults)
            let sent = link.say(link.app, "one") + link.say(link.app, "two")
            link.run(1)
            #expect(link.atBoard == sent)
        }
    }

    @Test func `messages change places`() throws {
        let link = try Link("reorder[result]")
        let result = link.say(link.app, Self.result)
        let beat = link.say(link.app, #"{"id":"heartbeat"}"#)
        link.run(0.5)
        #expect(link.atBoard == beat + result)
        // One behind which nothing comes leaves all the same.
        let last = link.say(link.app, Self.result)
        link.run(0.5)
        #expect(link.atBoard == beat + result)
        link.run(1)
        #expect(link.atBoard == beat + result + last)
    }

    @Test func `a delay holds back what follows on the same way, and not the other way`() throws {
        let link = try Link("delay=6s[command]")
        let command = link.say(link.board, Self.command)
        let echo = link.say(link.board, #"{"id":"heartbeat"}"#)
        let result = link.say(link.app, Self.result)
        link.run(5.9)
        #expect(link.atApp == [])
        #expect(link.atBoard == result)
        link.run(0.3)
        #expect(link.atApp == command + echo)
    }

    @Test func `a cut frame says how long it is, and a corrupt one differs in one bit`() throws {
        let cut = try Link("truncate")
        let whole = cut.say(cut.app, Self.result)
        cut.run(1)
        #expect(cut.atBoard.count < whole.count && cut.atBoard.count >= 2)
        #expect(Int(cut.atBoard[1]) == cut.atBoard.count - 2)
        #expect(
            Array(cut.atBoard.dropFirst(2))
                == Array(whole.dropFirst(2).prefix(cut.atBoard.count - 2)))
        let corrupt = try Link("corrupt")
        let sent = corrupt.say(corrupt.app, Self.result)
        corrupt.run(1)
        let bits = zip(sent, corrupt.atBoard).map { ($0 ^ $1).nonzeroBitCount }
        #expect(bits.reduce(0, +) == 1)
        #expect(bits[0] == 0 && bits[1] == 0, "what frames it stays")
    }

    @Test func `a body that is cut has a length that fits`() throws {
        let spec = try FaultSpec(parsing: "truncate[event=request]")
        let lab = try Laboratory(options: { $0.faults = spec })
        let app = try lab.dial()
        app.send(
            "POST /api/phone-bridge/results HTTP/1.1\r\nHost: b\r\nContent-Length: 12\r\n\r\n"
                + #"{"id":"abc"}"#)
        lab.expect("it arrives") { lab.arrivals.first?.text.contains("\r\n\r\n") == true }
        let text = try #require(lab.arrivals.first?.text)
        let body = text.split(separator: "\r\n\r\n").dropFirst().first ?? ""
        #expect(body.utf8.count < 12)
        #expect(text.contains("Content-Length: \(body.utf8.count)\r\n"))
    }

    @Test func `a reset reaches both sides and the file`() throws {
        let link = try Link("reset[result]")
        _ = link.say(link.app, Self.result)
        link.run(1)
        #expect(link.app.hasReset)
        #expect(link.board.hasReset)
        #expect(link.lab.lines("close").contains { $0.contains("injected by a fault") })
    }

    @Test func `a slow line takes its time, and the end comes behind everything`() throws {
        let link = try Link("throttle=9600bps")
        // 1,200 bytes are a second.
        let sent = link.say(link.app, String(repeating: "x", count: 12_000 - 4))
        link.app.stream.shutdown()
        link.run(5)
        #expect((4000...8000).contains(link.atBoard.count), "\(link.atBoard.count)")
        #expect(!link.board.hasFin)
        link.run(6)
        #expect(link.atBoard == sent)
        #expect(link.board.hasFin)
    }

    @Test func `who sends more than a fault lets through is not read meanwhile`() throws {
        let link = try Link("stall=20s[heartbeat]")
        _ = link.say(link.app, #"{"id":"heartbeat"}"#)
        for _ in 0..<40 { _ = link.say(link.app, String(repeating: "x", count: 60_000)) }
        link.run(10)
        #expect(link.atBoard == [])
        // 256 KiB may wait, and what a turn reads; the rest stays with the app.
        #expect(link.app.stream.bufferedBytes > 500_000)
        link.run(15)
        #expect(link.atBoard.count > 40 * 60_000)
    }

    @Test func `a fragmented message is struck as one`() throws {
        let link = try Link("drop[result]")
        _ = link.say(link.app, #"{"id":"c1","#, fin: false)
        let ping = link.say(link.app, "p", opcode: .ping)
        _ = link.say(link.app, #""data":{}}"#, opcode: .continuation)
        let other =
            link.say(link.app, #"{"id":"#, fin: false)
            + link.say(link.app, #""heartbeat"}"#, opcode: .continuation)
        link.run(1)
        #expect(link.atBoard == ping + other)
    }

    @Test func `a fault that never comes leaves every byte as it was`() throws {
        let link = try Link("drop[result]:0.000001,corrupt[poll]")
        var sent = Bytes()
        for number in 0..<200 { sent += link.say(link.app, "message \(number)") }
        sent += Bytes([0x8f, 0x00])
        link.app.stream.write(Bytes([0x8f, 0x00]))
        link.run(1)
        #expect(link.atBoard == sent)
        #expect(link.notes == [])
    }
}

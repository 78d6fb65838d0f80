import BridgeProxy
import Capture
import Network
import Testing
import Wire

/// What a striker does to messages on their way.
@Suite struct MessageStrikerTests {
    /// Does what it is told to each message of the app with a word in it.
    private final class Striker: MessageStriker {
        var steps: (Bytes) -> [MessageStrike.Step]
        private(set) var seen: [String] = []

        init(_ steps: @escaping (Bytes) -> [MessageStrike.Step]) {
            self.steps = steps
        }

        func strike(_ message: CarriedMessage) -> MessageStrike? {
            guard case .frame(let frame) = message.event.kind,
                case .whole(let content) = frame.content
            else { return nil }
            let text = String(decoding: content, as: UTF8.self)
            seen.append("\(message.conn) \(message.event.from?.rawValue ?? "") \(text)")
            return text.contains("strike")
                ? MessageStrike(steps(message.bytes), note: "struck") : nil
        }
    }

    /// A phone and a board with a WebSocket between them through a proxy that strikes.
    private final class Link {
        let lab: Laboratory
        let app: End
        let board: End
        private let start: Int

        init(_ striker: Striker) throws {
            lab = try Laboratory(striker: striker)
            (app, board) = try lab.link()
            start = board.received.count
        }

        var atBoard: Bytes { Bytes(board.received[start...]) }

        func say(_ text: String) -> Bytes {
            let bytes = Frame(opcode: .text, payload: Bytes(text.utf8)).encoded()
            app.stream.write(bytes)
            return bytes
        }

        func run(_ seconds: Double) {
            lab.world.run(for: Int64(seconds * 1e9))
        }
    }

    @Test func `a message is dropped, changed or sent on with others, and a note says so`() throws {
        let extra = Frame(opcode: .text, payload: Bytes("extra".utf8)).encoded()
        for (steps, expected) in [
            ([], []), ([.init(.send(extra))], extra),
        ] as [([MessageStrike.Step], Bytes)] {
            let striker = Striker { _ in steps }
            let link = try Link(striker)
            let before = link.say("a")
            _ = link.say("strike")
            let after = link.say("b")
            link.run(1)
            #expect(link.atBoard == before + expected + after)
            #expect(striker.seen == ["1 app a", "1 app strike", "1 app b"])
            let notes = link.lab.lines("note")
            #expect(notes.count == 1)
            #expect(notes[0].contains("struck") && notes[0].contains(#""code":"fault""#))
            // The file has what was sent.
            #expect(link.lab.lines("frame").count == 3)
        }
    }

    @Test func `what is done later lets others pass`() throws {
        let striker = Striker { bytes in
            [
                .init(.send(bytes), delay: nanosecondsPerSecond),
                .init(.send(bytes), delay: 3 * nanosecondsPerSecond),
            ]
        }
        let link = try Link(striker)
        let struck = link.say("strike")
        let next = link.say("b")
        link.run(0.5)
        #expect(link.atBoard == next)
        link.run(1)
        #expect(link.atBoard == next + struck)
        link.run(2)
        #expect(link.atBoard == next + struck + struck)
    }

    @Test func `a connection is torn down, and nothing follows`() throws {
        let striker = Striker { bytes in [.init(.send(bytes)), .init(.reset)] }
        let link = try Link(striker)
        _ = link.say("strike")
        _ = link.say("b")
        link.run(1)
        #expect(link.board.hasReset)
        #expect(link.lab.lines("close").allSatisfy { $0.contains("injected by a fault") })
    }

    @Test func `nothing is put between the parts of something large`() throws {
        let striker = Striker { bytes in [.init(.send(bytes), delay: nanosecondsPerSecond)] }
        let link = try Link(striker)
        _ = link.say("strike")
        let large = link.say(String(repeating: "x", count: 12 << 20))
        let last = link.say("strike again")
        link.run(30)
        #expect(link.atBoard == large + last)
        #expect(link.lab.lines("note").contains { $0.contains("something large") })
    }
}

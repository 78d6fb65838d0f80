import Capture
import Foundation
import Glibc
import Testing

/// A recorder that dies, however it dies, has on file what it had passed on (capture format,
/// promise 2).
@Suite struct RecordCrashTests {
    @Test(arguments: [("lab.ndjson", 34), ("lab.ndjson.gz", 33), ("lab.ndjson.zst", 33)])
    func `each message that a receiver has, the file of a killed recorder has`(
        file: String, rounds: Int
    ) throws {
        var chance = Chance(seed: UInt64(rounds) &* 31 &+ UInt64(file.count))
        var messages = 0
        for round in 0..<rounds {
            let folder = try TestFolder()
            let load = try EchoLoad()
            let recorder = try RunningRecorder(to: load.port, in: folder, files: [file])
            try load.connect(3, through: recorder.port)
            let moment = chance.next(below: 400)
            try load.run { load.received > moment }
            // Somewhere within the turn that follows.
            var spin = chance.next(below: 20_000)
            while spin > 0 { spin -= 1 }
            try recorder.child.signal(SIGKILL)
            try load.run { (load.apps + load.boards).allSatisfy { $0.end != nil } }
            #expect(try recorder.child.finish().exitCode == 128 + SIGKILL)

            #expect(load.faults == [])
            let session = try recorder.session()
            #expect(session.faults == [])
            #expect(session.remarks.count <= 1, "\(session.remarks)")
            for board in load.boards where board.received > 0 {
                let app = load.apps[board.number]
                let connection = try #require(
                    session.connections.values.first {
                        $0.open?.app == "127.0.0.1:\(app.localPort)"
                    })
                for (side, count) in [(Side.app, board.received), (.board, app.received)] {
                    let frames = connection.frames(from: side)
                    #expect(frames.count >= count, "round \(round): \(side) of \(board.number)")
                    for (n, frame) in frames.prefix(count).enumerated() {
                        guard frame != EchoEnd.message(pair: board.number, n, fill: load.fill(n))
                        else { continue }
                        Issue.record("round \(round): message \(n) of \(side) is another")
                    }
                    messages += count
                }
            }
        }
        #expect(messages > rounds * 100)
    }
}

/// The same numbers for the same seed (xorshift).
private struct Chance {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    mutating func next(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % bound
    }
}

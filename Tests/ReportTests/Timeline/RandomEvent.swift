import Capture
import Wire

/// Seeded random numbers that are the same on every machine.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Event {
    /// Any event at all, with numbers from the ends of their ranges.
    static func random(using random: inout SplitMix) -> Event {
        let times: [Int64] = [.min, -1, 0, 1, 5_000_000_000, .max]
        let sizes: [UInt64] = [0, 1, 126, 1 << 32, .max]
        let texts = ["", "a", "heartbeat", "GET", "\u{0}", "张", String(repeating: "x", count: 300)]
        func pick<T>(_ values: [T]) -> T {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        func flag() -> Bool { Bool.random(using: &random) }
        func bytes() -> Bytes {
            pick([
                [], [0], [3, 232, 0xff], Bytes(#"{"id":"a","data":{"x":1e999}}"#.utf8),
                Bytes("{\"commands\":[1]}".utf8), Bytes(repeating: 0xe5, count: 2000),
            ])
        }
        func content() -> Content { flag() ? .whole(bytes()) : .pieces }
        let number = pick([Int.min, -1, 0, 1, 2, 200, 101, .max])
        let body = Body(
            content: content(), framing: pick([.none, .chunked, .close, .length(pick(sizes))]),
            incomplete: flag())
        let kinds: [Kind] = [
            .session(SessionInfo(id: pick(texts), startedAt: "", tool: "", source: "proxy")),
            .open(Open(app: pick(texts), board: pick(texts))),
            .request(Request(exchange: number, method: pick(texts), target: "/", body: body)),
            .response(Response(exchange: number, status: number, reason: pick(texts), body: body)),
            .frame(
                FrameRecord(
                    header: FrameHeader(
                        fin: flag(), rsv: UInt8.random(in: 0...7, using: &random),
                        opcode: Opcode(rawValue: UInt8.random(in: 0...15, using: &random)),
                        payloadLength: pick(sizes)),
                    content: content(), incomplete: flag(), raw: flag() ? bytes() : nil)),
            .message(
                Message(
                    opcode: .text, content: content(), frames: number, compressed: flag(),
                    incomplete: flag())),
            .piece(
                Piece(
                    of: number, offset: pick(sizes), content: bytes(), last: flag(),
                    incomplete: flag())),
            .data(Data(bytes: bytes(), why: pick(texts))),
            .gap(Gap(length: flag() ? pick(sizes) : nil, why: pick(texts))),
            .close(Close(how: pick([.fin, .reset, .timeout, .refused, .error]))),
            .note(Note(code: pick(texts), text: pick(texts), to: number)),
            .end(End(events: number, bytesApp: pick(sizes), bytesBoard: 0, dropped: number)),
        ]
        let words = ["heartbeat", "command", "result", "app_event", "poll", "enqueue", "x"]
        let meaning: JSON = [
            "kind": .string(pick(words)), "id": .string(pick(["a", "b", ""])), "type": "t",
            "timeout_ms": .integer(pick([Int64.min, -1, 0, 5000, .max])), "ok": .bool(flag()),
            "late": .bool(flag()), "route": .string(pick(["queue", "websocket"])),
            "latency_ms": .number(pick(["0.001", "1e400", "-1e300", "5"])),
        ]
        return Event(
            seq: number, time: pick(times), firstTime: flag() ? pick(times) : nil,
            conn: Int.random(in: 0...3, using: &random), from: pick([nil, .app, .board]),
            kind: pick(kinds), bridge: flag() ? [meaning] : [])
    }
}

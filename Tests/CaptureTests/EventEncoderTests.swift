import Capture
import Foundation
import GoldenFiles
import Testing
import Wire

@Suite struct EventEncoderTests {
    private func line(_ event: Event) -> Bytes {
        var line = Bytes()
        EventEncoder().encode(event, into: &line)
        return line
    }

    @Test func `each kind is a line that a person can read`() {
        var text = Bytes()
        for event in ExampleEvents.all { EventEncoder().encode(event, into: &text) }
        let golden = GoldenFile("kinds.ndjson")
        #expect(golden.difference(from: String(decoding: text, as: UTF8.self)) == nil)
    }

    @Test func `the documentation shows each kind as it is written`() throws {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../docs/capture-format.md"), encoding: .utf8)
        for event in ExampleEvents.all {
            let line = String(decoding: line(event), as: UTF8.self)
            #expect(page.contains("```json\n\(line)```"), "\(line)")
        }
    }

    @Test func `what is encoded is decoded to the same event`() throws {
        var random = SeededRandom(1)
        for index in 0..<5_000 {
            let event = random.event()
            let line = line(event)
            guard case .event(let decoded) = try EventDecoder().decode(line.span) else {
                Issue.record("case \(index): \(event)")
                return
            }
            guard decoded == event else {
                Issue.record(
                    "case \(index): \(String(decoding: line, as: UTF8.self)) reads as \(decoded)")
                return
            }
        }
    }

    @Test func `a number of any size is written as it is`() {
        var numbers: [Int64] = [0, .max, .min, -1]
        var power: Int64 = 1
        for _ in 0..<19 {
            numbers += [power - 1, power, power + 1, power / 9 * 7, -power]
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        for number in numbers {
            let event = Event(time: number, kind: .note(Event.Note(code: "x", text: "")))
            let text = String(decoding: line(event), as: UTF8.self)
            #expect(text.contains("\"t\":\(number),\"code\""))
        }
    }

    @Test func `a line is one line of strict JSON`() throws {
        var random = SeededRandom(2)
        for _ in 0..<2_000 {
            let event = random.event()
            let line = line(event)
            #expect(line.last == UInt8(ascii: "\n"))
            #expect(!line.dropLast().contains(UInt8(ascii: "\n")))
            guard case .object(let members) = try JSON(parsing: Bytes(line.dropLast())) else {
                Issue.record("no object")
                return
            }
            #expect(members.first?.name == "event")
            #expect(Set(members.map(\.name)).count == members.count)
            if !event.bridge.isEmpty { #expect(members.last?.name == "bridge") }
        }
    }

    @Test func `text is used exactly when the bytes are UTF-8`() throws {
        for (payload, name) in [
            (Bytes("张".utf8), "text"), ([], "text"), ([0], "text"), ([0xe5, 0xbc], "base64"),
            ([0xff], "base64"), ([0xed, 0xa0, 0x80], "base64"),
        ] {
            let event = Event(
                seq: 1, time: 0, conn: 1, from: .app,
                kind: .frame(
                    Event.FrameRecord(
                        header: FrameHeader(
                            opcode: .text, payloadLength: UInt64(payload.count)),
                        content: .whole(payload))))
            let text = String(decoding: line(event), as: UTF8.self)
            #expect(text.contains("\"\(name)\":"))
            #expect(!text.contains("\"\(name == "text" ? "base64" : "text")\":"))
        }
    }

    @Test func `a header that is not minimal is kept as raw`() throws {
        let header = FrameHeader(opcode: .text, payloadLength: 2, lengthForm: .long)
        let event = Event(
            seq: 1, time: 0, conn: 1, from: .board,
            kind: .frame(Event.FrameRecord(header: header, content: .whole([0x68, 0x69]))))
        let text = String(decoding: line(event), as: UTF8.self)
        #expect(text.contains(#""raw":"gX8AAAAAAAAAAg==""#))
    }

    @Test func `numbers of every length are written digit by digit`() {
        var power: Int64 = 1
        while power < Int64.max / 10 {
            for time in [power - 1, power, power + 1, power * 7 + power / 3] {
                let text = String(
                    decoding: line(Event(time: time, kind: .note(Event.Note(code: "c", text: "")))),
                    as: UTF8.self)
                #expect(text.contains("\"t\":\(time),"), "\(time): \(text)")
            }
            power *= 10
        }
    }

    @Test func `a mask is eight hex digits`() {
        for (key, text) in [(UInt32(0), "00000000"), (0x09af_10f9, "09af10f9"), (.max, "ffffffff")]
        {
            let header = FrameHeader(
                opcode: .text, maskingKey: MaskingKey(rawValue: key), payloadLength: 0)
            let event = Event(
                time: 1, conn: 1, from: .app,
                kind: .frame(Event.FrameRecord(header: header, content: .whole([]))))
            #expect(String(decoding: line(event), as: UTF8.self).contains("\"mask\":\"\(text)\""))
        }
    }

    @Test func `a number given to the encoder stands in for the event's own`() {
        var line = Bytes()
        let event = Event(
            seq: 7, time: 0, kind: .note(Event.Note(code: "mark", text: "here")))
        EventEncoder().encode(event, seq: 3, into: &line)
        #expect(
            String(decoding: line, as: UTF8.self)
                == "{\"event\":\"note\",\"seq\":3,\"t\":0,\"code\":\"mark\",\"text\":\"here\"}\n")
    }
}

/// One event of each kind, with what it can carry.
enum ExampleEvents {
    static let all: [Event] = [
        Event(
            time: 0,
            kind: .session(
                SessionInfo(
                    id: "0f8a2c51", startedAt: "2026-03-01T09:30:00.000000000Z",
                    tool: "bridgetap 0.1", source: "proxy", listen: "192.168.42.1:8080",
                    upstream: "127.0.0.1:18080", labels: [FieldLine("bench", "3")]))),
        Event(
            seq: 1, time: 1_204_113, conn: 1,
            kind: .open(
                Event.Open(
                    app: "192.168.42.129:50312", board: "192.168.42.1:8080",
                    via: "127.0.0.1:41822 127.0.0.1:18080"))),
        Event(
            seq: 2, time: 2_310_554, conn: 1, from: .app,
            kind: .request(
                Event.Request(
                    exchange: 1, method: "GET", target: "/api/phone-bridge?platform=ios",
                    headers: [
                        FieldLine("Host", "192.168.42.1:8080"), FieldLine("Upgrade", "websocket"),
                    ]))),
        Event(
            seq: 3, time: 2_904_310, conn: 1, from: .board,
            kind: .response(
                Event.Response(
                    exchange: 1, status: 101, reason: "Switching Protocols",
                    headers: [FieldLine("Upgrade", "websocket")]))),
        Event(
            seq: 4, time: 5_118_002, firstTime: 5_001_117, conn: 1, from: .board,
            kind: .frame(
                Event.FrameRecord(
                    header: FrameHeader(opcode: .text, payloadLength: 33),
                    content: .whole(Bytes(#"{"id":"c1","type":"get_location"}"#.utf8)))),
            bridge: [
                .object([
                    JSON.Member("kind", .string("command")), JSON.Member("id", .string("c1")),
                    JSON.Member("type", .string("get_location")),
                    JSON.Member("timeout_ms", .number("5000")),
                    JSON.Member("route", .string("websocket")),
                ])
            ]),
        Event(
            seq: 5, time: 6_000_000, conn: 1, from: .app,
            kind: .frame(
                Event.FrameRecord(
                    header: FrameHeader(
                        rsv: 4, opcode: .text, maskingKey: MaskingKey(rawValue: 0x1a2b_3c4d),
                        payloadLength: 7),
                    content: .whole([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00])))),
        Event(
            seq: 6, time: 6_000_000, conn: 1, from: .app,
            kind: .message(
                Event.Message(
                    opcode: .text, content: .whole(Bytes("Hello".utf8)), frames: 1,
                    compressed: true))),
        Event(
            seq: 7, time: 7_000_000, conn: 2,
            kind: .open(
                Event.Open(
                    app: "[fd00::2]:50314", board: "[fd00::1]:8080",
                    continued: Event.Continued(
                        extensions: "permessage-deflate", upgraded: true)))),
        Event(
            seq: 8, time: 8_000_000, conn: 3, from: .board,
            kind: .response(
                Event.Response(
                    exchange: 2, status: 200, reason: "OK",
                    headers: [FieldLine("Transfer-Encoding", "chunked")],
                    body: Event.Body(
                        content: .whole(Bytes(#"{"commands":[]}"#.utf8)), framing: .chunked,
                        chunks: Event.Chunks(
                            sizes: [9, 6],
                            lines: [
                                Bytes("9;x=1\r\n".utf8), Bytes("\r\n6\r\n".utf8),
                                Bytes("\r\n0\r\n".utf8),
                            ]),
                        trailers: [FieldLine("Checksum", "1f")])))),
        Event(
            seq: 9, time: 9_000_000, conn: 3, from: .app,
            kind: .request(
                Event.Request(
                    exchange: 3, method: "POST", target: "/upload",
                    headers: [FieldLine("Content-Length", "1048581")],
                    body: Event.Body(content: .pieces, framing: .length(1_048_581))))),
        Event(
            seq: 10, time: 9_000_000, conn: 3, from: .app,
            kind: .piece(
                Event.Piece(of: 9, offset: 1_048_576, content: Bytes("pqrst".utf8), last: true))),
        Event(
            seq: 11, time: 9_500_000, conn: 1, from: .app,
            kind: .frame(
                Event.FrameRecord(
                    header: FrameHeader(
                        opcode: .close, maskingKey: MaskingKey(rawValue: 1), payloadLength: 6),
                    content: .whole([0x03, 0xe8] + Bytes("done".utf8))))),
        Event(
            seq: 12, time: 10_000_000, conn: 3, from: .app,
            kind: .data(
                Event.Data(bytes: [0x16, 0x03, 0x01], why: "not HTTP: a TLS client hello"))),
        Event(
            seq: 13, time: 11_000_000, packetTime: 10_500_000, conn: 3, from: .app,
            kind: .gap(Event.Gap(length: 1448, why: "missing_packets"))),
        Event(
            seq: 14, time: 12_000_000, conn: 3, from: .board,
            kind: .close(Event.Close(how: .reset, detail: "ECONNRESET"))),
        Event(
            seq: 15, time: 13_000_000,
            kind: .note(Event.Note(code: "mark", text: "the phone was locked here", to: 5))),
        Event(
            seq: 16, time: 14_000_000,
            kind: .end(Event.End(events: 15, bytesApp: 1_049_004, bytesBoard: 412, dropped: 0))),
    ]
}

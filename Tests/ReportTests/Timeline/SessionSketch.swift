import Capture
import Wire

/// A session written down in a few lines: each call is one event, with its time in milliseconds.
struct SessionSketch {
    private(set) var events: [Event] = []

    mutating func add(
        _ milliseconds: Int64, _ conn: Int, _ from: Side?, _ kind: Event.Kind, bridge: Meanings = []
    ) {
        events.append(
            Event(
                seq: events.count + 1, time: milliseconds * 1_000_000, conn: conn, from: from,
                kind: kind, bridge: bridge))
    }

    mutating func session() {
        events.append(
            Event(
                time: 0,
                kind: .session(
                    SessionInfo(
                        id: "7f3a", startedAt: "2026-06-10T03:20:00.000000000Z",
                        tool: "bridgetap 0.1.0", source: "proxy", listen: "127.0.0.1:8080",
                        upstream: "192.168.42.1:8080", labels: [FieldLine("build", "412")]))))
    }

    mutating func open(_ milliseconds: Int64, _ conn: Int) {
        add(
            milliseconds, conn, nil,
            .open(Event.Open(app: "192.168.42.2:5000\(conn)", board: "192.168.42.1:8080")))
    }

    mutating func upgrade(_ milliseconds: Int64, _ conn: Int, extensions: String? = nil) {
        add(
            milliseconds, conn, .app,
            .request(
                Event.Request(
                    exchange: 1, method: "GET", target: "/api/phone-bridge?platform=ios",
                    headers: [FieldLine("Upgrade", "websocket")])))
        add(
            milliseconds + 2, conn, .board,
            .response(
                Event.Response(
                    exchange: 1, status: 101, reason: "Switching Protocols",
                    headers: extensions.map { [FieldLine("Sec-Websocket-Extensions", $0)] } ?? [])))
    }

    mutating func text(
        _ milliseconds: Int64, _ conn: Int, _ from: Side, _ text: String, bridge: Meanings = []
    ) {
        let key = from == .app ? MaskingKey(rawValue: 0x37fa_213d) : nil
        let bytes = Bytes(text.utf8)
        add(
            milliseconds, conn, from,
            .frame(
                Event.FrameRecord(
                    header: FrameHeader(
                        opcode: .text, maskingKey: key, payloadLength: UInt64(bytes.count)),
                    content: .whole(bytes))),
            bridge: bridge)
    }

    mutating func frame(
        _ milliseconds: Int64, _ conn: Int, _ from: Side, _ opcode: Opcode, fin: Bool = true,
        rsv: UInt8 = 0, _ payload: Bytes = []
    ) {
        add(
            milliseconds, conn, from,
            .frame(
                Event.FrameRecord(
                    header: FrameHeader(
                        fin: fin, rsv: rsv, opcode: opcode,
                        maskingKey: from == .app ? MaskingKey(rawValue: 7) : nil,
                        payloadLength: UInt64(payload.count)),
                    content: .whole(payload))))
    }

    mutating func heartbeat(_ milliseconds: Int64, _ conn: Int, echo: Int64? = 1) {
        let bridge: Meanings = [["kind": "heartbeat", "id": "heartbeat"]]
        text(milliseconds, conn, .app, #"{"id":"heartbeat"}"#, bridge: bridge)
        if let echo {
            text(milliseconds + echo, conn, .board, #"{"id":"heartbeat"}"#, bridge: bridge)
        }
    }

    mutating func command(
        _ milliseconds: Int64, _ conn: Int, _ id: String, _ type: String, timeout: Int64? = nil,
        payload: String? = nil
    ) {
        var bridge: [JSON.Member] = [
            .init("kind", "command"), .init("id", .string(id)), .init("type", .string(type)),
            .init("route", "websocket"),
        ]
        if let timeout { bridge.append(.init("timeout_ms", .integer(timeout))) }
        let tail = payload.map { #","payload":\#($0)"# } ?? ""
        text(
            milliseconds, conn, .board, #"{"id":"\#(id)","type":"\#(type)"\#(tail)}"#,
            bridge: [.object(bridge)])
    }

    mutating func result(
        _ milliseconds: Int64, _ conn: Int, _ id: String, _ type: String?, latency: String? = nil,
        error: String? = nil, data: String? = nil, late: Bool = false, duplicate: Bool = false
    ) {
        var bridge: [JSON.Member] = [
            .init("kind", "result"), .init("id", .string(id)), .init("ok", .bool(error == nil)),
            .init("route", "websocket"),
        ]
        if let type { bridge.append(.init("type", .string(type))) }
        if let error { bridge.append(.init("code", .string(error))) }
        if let latency { bridge.append(.init("latency_ms", .number(latency))) }
        if late { bridge.append(.init("late", true)) }
        if duplicate { bridge.append(.init("duplicate", true)) }
        var body = #"{"id":"\#(id)""#
        if let error {
            body +=
                #","error":{"category":"c","code":"\#(error)","message":"It failed: \#(error)"}"#
        }
        if let data { body += #","data":\#(data)"# }
        text(milliseconds, conn, .app, body + "}", bridge: [.object(bridge)])
    }

    mutating func poll(
        _ milliseconds: Int64, _ conn: Int, exchange: Int = 1, commands: [(String, String)] = []
    ) {
        add(
            milliseconds, conn, .app,
            .request(
                Event.Request(
                    exchange: exchange, method: "GET",
                    target: "/api/phone-bridge/commands?platform=ios&app_state=background")),
            bridge: [["kind": "poll", "platform": "ios", "app_state": "background"]])
        let bodies = commands.map { #"{"id":"\#($0.0)","type":"\#($0.1)","payload":{"limit":3}}"# }
        let body = #"{"commands":[\#(bodies.joined(separator: ","))],"server_time":"x"}"#
        let bytes = Bytes(body.utf8)
        add(
            milliseconds + 3, conn, .board,
            .response(
                Event.Response(
                    exchange: exchange, status: 200, reason: "OK",
                    body: Event.Body(
                        content: .whole(bytes), framing: .length(UInt64(bytes.count))))),
            bridge: Meanings(
                [["kind": "poll", "commands": .integer(commands.count)]]
                    + commands.map {
                        [
                            "kind": "command", "id": .string($0.0), "type": .string($0.1),
                            "route": "queue",
                        ]
                    }))
    }

    mutating func end(_ milliseconds: Int64, dropped: Int = 0) {
        add(
            milliseconds, 0, nil,
            .end(
                Event.End(
                    events: events.count, bytesApp: 123_456, bytesBoard: 789, dropped: dropped)))
    }

    mutating func close(
        _ milliseconds: Int64, _ conn: Int, _ from: Side, _ how: Event.Ending = .fin,
        detail: String? = nil
    ) {
        add(milliseconds, conn, from, .close(Event.Close(how: how, detail: detail)))
    }
}

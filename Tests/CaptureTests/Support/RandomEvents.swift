import Capture
import Wire

extension SeededRandom {
    /// Text that is hard on whoever writes it into a line.
    mutating func text() -> String {
        pick([
            "", "a", "heartbeat", "张伟", "e\u{301}", "\u{0}\u{1f}\u{7f}", "\"\\/",
            "\u{2028}\u{2029}",
            "line\nline\r\n", "\u{fffd}", "🙂👩‍👩‍👧", "</script>", "\\u0041", "\u{10ffff}",
            String(repeating: "x\"", count: 40), "1234567", "12345678", "123456789\"",
        ])
    }

    mutating func bytes() -> Bytes {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: return []
        case 1: return Bytes(#"{"id":"cmd_1","type":"open_app","payload":{"name":"地图"}}"#.utf8)
        case 2: return Bytes(text().utf8)
        case 3: return [0xc3]
        case 4: return Bytes(text().utf8) + [0xff, 0x00]
        default:
            return (0..<Int.random(in: 0..<200, using: &self)).map { _ in
                UInt8.random(in: 0...255, using: &self)
            }
        }
    }

    mutating func size() -> UInt64 {
        pick([0, 1, 125, 126, 65535, 65536, 1 << 32, .max])
    }

    mutating func number() -> Int {
        pick([0, 1, 9, 10, 99, 100, 12345, .max])
    }

    mutating func content() -> Event.Content {
        Int.random(in: 0..<8, using: &self) == 0 ? .pieces : .whole(bytes())
    }

    mutating func fieldLines() -> [FieldLine] {
        (0..<Int.random(in: 0..<4, using: &self)).map { _ in FieldLine(text(), text()) }
    }

    mutating func chunks() -> Event.Chunks? {
        guard flag() else { return nil }
        return Event.Chunks(
            sizes: (0..<Int.random(in: 0..<3, using: &self)).map { _ in size() },
            lines: maybe((0..<Int.random(in: 0..<3, using: &self)).map { _ in bytes() }))
    }

    mutating func body() -> Event.Body {
        let content = content()
        return Event.Body(
            content: content, framing: pick([.none, .length(size()), .chunked, .close]),
            chunks: chunks(), trailers: fieldLines(), rawTrailers: maybe(bytes()),
            incomplete: flag())
    }

    mutating func json(depth: Int = 0) -> JSON {
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &self) {
        case 0: return .null
        case 1: return .bool(flag())
        case 2: return .number(pick(["0", "-1", "1e400", "5000.0", "12.345E-7"]))
        case 3, 4: return .string(text())
        case 5:
            return .array(
                (0..<Int.random(in: 0..<3, using: &self)).map { _ in json(depth: depth + 1) })
        default:
            return .object(
                (0..<Int.random(in: 0..<3, using: &self)).map { _ in
                    JSON.Member(text(), json(depth: depth + 1))
                })
        }
    }

    mutating func frame() -> Event.FrameRecord {
        let form = pick([LengthForm.short, .medium, .long])
        let length = size()
        let minimal = LengthForm(minimalFor: length)
        let header = FrameHeader(
            fin: flag(), rsv: UInt8.random(in: 0...7, using: &self),
            opcode: Opcode(rawValue: UInt8.random(in: 0...15, using: &self)),
            maskingKey: maybe(
                MaskingKey(rawValue: UInt32.random(in: 0...UInt32.max, using: &self))),
            payloadLength: length,
            lengthForm: form.rawValue < minimal.rawValue ? minimal : form)
        return Event.FrameRecord(header: header, content: content(), incomplete: flag())
    }

    /// Any event that a line can hold.
    mutating func event() -> Event {
        let kind: Event.Kind
        var conn = pick([1, 2, 300, Int.max])
        var from: Side? = pick([.app, .board])
        switch Int.random(in: 0..<12, using: &self) {
        case 0:
            kind = .session(
                SessionInfo(
                    id: text(), startedAt: text(), tool: text(), source: text(),
                    listen: maybe(text()), upstream: maybe(text()), interface: maybe(text()),
                    linkType: maybe(text()), part: maybe(number()),
                    redacted: maybe(.object([JSON.Member("rules", json())])),
                    labels: fieldLines()))
            return Event(time: pick([0, 5, .max]), kind: kind)
        case 1:
            kind = .open(
                Event.Open(
                    app: text(), board: text(), via: maybe(text()),
                    continued: maybe(
                        Event.Continued(extensions: maybe(text()), upgraded: flag()))))
            from = nil
        case 2:
            kind = .request(
                Event.Request(
                    exchange: number(), method: text(), target: text(), version: text(),
                    headers: fieldLines(), raw: maybe(bytes()), body: body()))
        case 3:
            kind = .response(
                Event.Response(
                    exchange: number(), status: number(), reason: text(), version: text(),
                    headers: fieldLines(), raw: maybe(bytes()), body: body()))
        case 4:
            kind = .frame(frame())
        case 5:
            kind = .message(
                Event.Message(
                    opcode: Opcode(rawValue: UInt8.random(in: 0...15, using: &self)),
                    content: content(), frames: number(), compressed: flag(), incomplete: flag()))
        case 6:
            kind = .piece(
                Event.Piece(
                    of: number(), offset: size(), content: bytes(), last: flag(),
                    chunks: chunks(), trailers: fieldLines(), rawTrailers: maybe(bytes()),
                    incomplete: flag(), ofPart: maybe(number())))
        case 7:
            kind = .data(Event.Data(bytes: bytes(), why: text()))
        case 8:
            kind = .gap(Event.Gap(length: maybe(size()), why: text()))
        case 9:
            kind = .close(
                Event.Close(
                    how: pick([.fin, .reset, .timeout, .refused, .error]), detail: maybe(text())))
        case 10:
            kind = .note(
                Event.Note(
                    code: text(), text: text(), to: maybe(number()), toPart: maybe(number())))
            if flag() {
                conn = 0
                from = nil
            }
        default:
            kind = .end(
                Event.End(
                    events: number(), bytesApp: size(), bytesBoard: size(), dropped: number()))
            conn = 0
            from = nil
        }
        return Event(
            seq: number(), time: pick([0, 1, -7, .max, .min, 1_234_567_890_123]),
            firstTime: maybe(pick([0, -1, .max])), packetTime: maybe(pick([0, .min])),
            conn: conn, from: from, kind: kind,
            bridge: flag()
                ? []
                : Meanings((0..<Int.random(in: 1..<3, using: &self)).map { _ in json() }))
    }
}

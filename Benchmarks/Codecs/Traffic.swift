import Capture
import Wire

/// Messages as a phone and a board exchange them: commands, answers, heartbeats and events.
///
/// The payloads are about 170 bytes in the mean, as in the sessions of `captures/`.
struct Traffic {
    /// What one side sends, as a frame of its own.
    struct Message {
        var from: Side
        var payload: Bytes
    }

    let messages: [Message]

    init(count: Int) {
        messages = (0..<count).map { number in
            switch number % 8 {
            case 0, 3, 6:
                Message(
                    from: .board,
                    payload: Bytes(
                        #"{"id":"cmd-\#(number)","type":"calendar.create","phone_id":"7f3a","payload":{"title":"Zahnarzt \"Dr. Müller\"","start":"2026-05-04T09:30:00Z","end":"2026-05-04T10:00:00Z","notes":"line\nline"},"timeout_ms":5000}"#
                            .utf8))
            case 1, 4, 7:
                Message(
                    from: .app,
                    payload: Bytes(
                        #"{"id":"cmd-\#(number - 1)","method":"calendar.create","result":{"event_id":"3C1B2F\#(number)","calendar":"Home","created":true,"modified":"2026-05-03T22:14:09.123Z"}}"#
                            .utf8))
            case 2:
                Message(from: .board, payload: Bytes(#"{"id":"ping","type":"ping"}"#.utf8))
            default:
                Message(
                    from: .app,
                    payload: Bytes(
                        #"{"id":"notification.received","method":"notification.received","params":{"app":"org.example.mail","title":"Neue Nachricht","text":"Guten Tag, 你好, \u00fcbrigens: der Termin steht.","time":\#(1_777_800_000 + number)}}"#
                            .utf8))
            }
        }
    }

    /// What the load tool sends and gets back: 200 bytes, most of them one long string.
    init(load count: Int) {
        let filler = String(
            repeating: "temp=21.5;hum=40;rssi=-61;led=on;mode=auto;err=none;", count: 3)
        messages = (0..<count).map { number in
            let digits = String(number / 2)
            let seq = String(repeating: "0", count: 12 - digits.count) + digits
            let head = "{\"type\":\"state\",\"seq\":\"\(seq)\",\"data\":\""
            let text = head + filler.prefix(200 - head.utf8.count - 2) + "\"}"
            return Message(from: number % 2 == 0 ? .app : .board, payload: Bytes(text.utf8))
        }
    }

    /// The bytes of all messages of one side, as frames; the app's are masked.
    func wire(from side: Side) -> Bytes {
        var bytes = Bytes()
        var key: UInt32 = 0x9e37_79b9
        for message in messages where message.from == side {
            key = key &* 1_664_525 &+ 1_013_904_223
            let mask = side == .app ? MaskingKey(rawValue: key) : nil
            Frame(opcode: .text, maskingKey: mask, payload: message.payload).encode(into: &bytes)
        }
        return bytes
    }

    /// The messages as events of one connection, a tenth of a millisecond apart.
    var events: [Event] {
        var key: UInt32 = 0x9e37_79b9
        return messages.enumerated().map { index, message in
            key = key &* 1_664_525 &+ 1_013_904_223
            let header = FrameHeader(
                opcode: .text,
                maskingKey: message.from == .app ? MaskingKey(rawValue: key) : nil,
                payloadLength: UInt64(message.payload.count))
            return Event(
                seq: index + 1, time: Int64(index + 1) * 100_000, conn: 1, from: message.from,
                kind: .frame(Event.FrameRecord(header: header, content: .whole(message.payload))))
        }
    }
}

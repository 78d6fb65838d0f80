import Capture
import PhoneBridge
import Wire

/// Events written as a conversation; each is read by one reader, as a session's are.
struct Conversation {
    var reader: MeaningReader
    /// Milliseconds of the session, for the next event.
    var now: Double = 0

    init(_ reader: MeaningReader = MeaningReader()) {
        self.reader = reader
    }

    /// The `bridge` of a whole text frame, as JSON text.
    mutating func frame(_ from: Side, _ text: String, at time: Double? = nil, conn: Int = 1)
        -> [String]
    {
        read(
            .frame(
                .init(
                    header: FrameHeader(opcode: .text, payloadLength: UInt64(text.utf8.count)),
                    content: .whole(Bytes(text.utf8)))),
            from, at: time, conn: conn)
    }

    mutating func app(_ text: String, at time: Double? = nil) -> [String] {
        frame(.app, text, at: time)
    }

    mutating func board(_ text: String, at time: Double? = nil) -> [String] {
        frame(.board, text, at: time)
    }

    mutating func request(
        _ method: String, _ target: String, _ body: String = "", at time: Double? = nil,
        conn: Int = 1, exchange: Int = 1
    ) -> [String] {
        read(
            .request(
                .init(
                    exchange: exchange, method: method, target: target,
                    body: .init(
                        content: .whole(Bytes(body.utf8)), framing: .length(UInt64(body.utf8.count))
                    )
                )), .app, at: time, conn: conn)
    }

    mutating func response(
        _ status: Int, _ body: String = "", at time: Double? = nil, conn: Int = 1,
        exchange: Int = 1
    ) -> [String] {
        read(
            .response(
                .init(
                    exchange: exchange, status: status, reason: "",
                    body: .init(
                        content: .whole(Bytes(body.utf8)), framing: .length(UInt64(body.utf8.count))
                    )
                )), .board, at: time, conn: conn)
    }

    mutating func read(_ kind: Event.Kind, _ from: Side?, at time: Double? = nil, conn: Int = 1)
        -> [String]
    {
        if let time { now = time }
        var event = Event(time: Int64(now * 1_000_000), conn: conn, from: from, kind: kind)
        reader.annotate(&event)
        return event.bridge.map(\.description)
    }
}

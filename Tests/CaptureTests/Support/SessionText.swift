import Capture
import Wire

/// Writes events with a session writer, a batch for each `batchSize` of them.
func write(
    _ events: [Event], compression: SessionCompression = .none, batchSize: Int = 3,
    into output: MemoryOutput = MemoryOutput(), closes: Bool = true
) throws -> MemoryOutput {
    let writer = try SessionWriter(session: SampleSession.info, compression: compression) {
        _ in output
    }
    for (index, event) in events.enumerated() {
        writer.receive(event)
        if index % batchSize == batchSize - 1 { writer.flush(now: event.time) }
    }
    let end = events.last?.time ?? 0
    if closes { writer.close(now: end) } else { writer.flush(now: end) }
    return output
}

/// Reads everything: events, and remarks.
func read(_ bytes: Bytes) throws -> (events: [Event], remarks: [SessionRemark.Kind]) {
    var reader = SessionReader(MemorySource(bytes))
    var events: [Event] = []
    var remarks: [SessionRemark.Kind] = []
    while let item = try reader.next() {
        switch item {
        case .event(let event): events.append(event)
        case .remark(let remark): remarks.append(remark.kind)
        }
    }
    return (events, remarks)
}

/// Puts the bytes of each connection and direction together again.
func rebuild(_ events: [Event]) -> [SampleSession.Key: Bytes] {
    var encoders: [Int: ConnectionEncoder] = [:]
    var sent: [SampleSession.Key: Bytes] = [:]
    for event in events {
        guard let from = event.from else { continue }
        var bytes = Bytes()
        _ = encoders[event.conn, default: ConnectionEncoder()].encode(event, into: &bytes)
        if !bytes.isEmpty {
            sent[SampleSession.Key(conn: event.conn, from: from), default: []] += bytes
        }
    }
    return sent
}

extension Event {
    /// Whether the writer made the line, and not the session.
    var isOfWriter: Bool {
        switch kind {
        case .session, .end: true
        default: false
        }
    }
}

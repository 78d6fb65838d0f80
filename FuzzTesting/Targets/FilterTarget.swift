import Capture
import Wire

/// Any text is a filter or an error that points into it; a filter in brackets is the same filter,
/// and with `not` in front it chooses the other events.
func checkFilter(_ input: Bytes) throws(BrokenInvariant) {
    let source = String(decoding: input, as: UTF8.self)
    let filter: Filter
    do throws(FilterError) {
        filter = try Filter(parsing: source)
    } catch {
        try expect(
            (0...source.count).contains(error.position), "\(error) of \(source.count) characters")
        try expect(!error.description.contains("\n") || source.contains("\n"), "\(error)")
        return
    }
    // Deeper by one than what was asked for may be too deep.
    let bracketed = try? Filter(parsing: "(\(source))")
    let negated = try? Filter(parsing: "not (\(source))")
    for event in filterEvents {
        let matches = filter.matches(event)
        if let bracketed { try expect(bracketed.matches(event) == matches, "brackets: \(event)") }
        if let negated { try expect(negated.matches(event) != matches, "not: \(event)") }
    }
}

/// One event of each kind, with meanings.
private let filterEvents: [Event] = {
    let command = Bytes(#"{"id":"c1","type":"open_app","timeout_ms":5000}"#.utf8)
    let meaning = JSON.object([
        JSON.Member("kind", .string("command")), JSON.Member("id", .string("c1")),
        JSON.Member("type", .string("open_app")),
    ])
    let header = FrameHeader(opcode: .text, payloadLength: UInt64(command.count))
    let kinds: [Event.Kind] = [
        .session(
            SessionInfo(id: "7", startedAt: "2026-03-01T09:30:00Z", tool: "t", source: "proxy")),
        .open(Event.Open(app: "10.0.0.2:1", board: "10.0.0.1:2")),
        .request(Event.Request(exchange: 1, method: "GET", target: "/x?a=b")),
        .response(Event.Response(exchange: 1, status: 200, reason: "OK")),
        .frame(Event.FrameRecord(header: header, content: .whole(command))),
        .message(
            Event.Message(opcode: .text, content: .whole(command), frames: 2, compressed: true)),
        .piece(Event.Piece(of: 3, offset: 0, content: [0xff], last: true)),
        .data(Event.Data(bytes: [1, 2], why: "noise")),
        .gap(Event.Gap(length: 7, why: "snaplen")),
        .close(Event.Close(how: .reset, detail: "ECONNRESET")),
        .note(Event.Note(code: "mark", text: "here", to: 3)),
        .end(Event.End(events: 11, bytesApp: 1, bytesBoard: 2, dropped: 0)),
    ]
    return kinds.enumerated().map { index, kind in
        Event(
            seq: index, time: Int64(index) * 1_000_000, conn: 1,
            from: index % 2 == 0 ? .app : .board, kind: kind,
            bridge: index == 4 ? [meaning, .object([])] : [])
    }
}()

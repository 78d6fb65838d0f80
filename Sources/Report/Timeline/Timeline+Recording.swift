import Capture

/// What is told about the recording rather than about the link: gaps, notes, bytes without a
/// decoder, pieces.
extension Timeline {
    mutating func undecoded(_ data: Event.Data, _ event: Event) {
        show(
            TimelineLine(
                isBroken: true, time: event.time, conn: event.conn, direction: event.direction,
                label: Styled("data", .bad),
                text: [
                    Styled("\(byteCount(data.bytes.count)) · \(visible(data.why)) · "),
                    Styled(hexPreview(data.bytes), .dim, isValue: true),
                ]))
    }

    mutating func gap(_ gap: Event.Gap, _ event: Event) {
        let size = gap.length.map { byteCount($0) } ?? "an unknown number of bytes"
        show(
            TimelineLine(
                isBroken: true, time: event.time, conn: event.conn, direction: event.direction,
                label: Styled("gap", .bad),
                text: [Styled("\(size) not in the file · \(visible(gap.why))")]))
    }

    mutating func note(_ note: Event.Note, _ event: Event) {
        // Marks and outcomes are remarks; what is missing from the recording is a break of it.
        let isBroken = note.code == "recording_gap"
        var text = [Styled(visible(note.code), .warning)]
        if !note.text.isEmpty {
            text.append(Styled(" · " + visible(note.text), isValue: true))
        }
        if let to = note.to { text.append(Styled(" · about event \(to)", .dim)) }
        show(
            TimelineLine(
                isBroken: isBroken, time: event.time, conn: event.conn,
                direction: event.direction, label: Styled("note", .warning), text: text))
    }

    mutating func piece(_ piece: Event.Piece, _ event: Event) {
        guard piece.last || piece.incomplete else { return }
        let size = piece.offset.addingReportingOverflow(UInt64(piece.content.count)).partialValue
        let what = piece.incomplete ? "cut off after" : "complete,"
        show(
            TimelineLine(
                isBroken: piece.incomplete, time: event.time, conn: event.conn,
                direction: event.direction, label: "pieces",
                text: [Styled("of event \(piece.of) \(what) \(byteCount(size))")]))
    }
}

extension Event {
    /// Which way it went.
    var direction: TimelineLine.Direction { from.map { .from($0) } ?? .none }
}

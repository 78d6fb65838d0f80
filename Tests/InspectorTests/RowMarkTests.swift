import Capture
import Inspector
import Report
import Testing
import Wire

@Suite struct RowMarkTests {
    private func mark(_ kind: Event.Kind, broken: Bool = false, label: String = "x") -> RowMark? {
        let line = TimelineLine(isBroken: broken, time: 1, label: Styled(label), seq: 5)
        return RowMark(line, of: Event(seq: 5, time: 1, kind: kind))
    }

    private func mark(_ step: TimelineLine.Command.Step) -> RowMark? {
        RowMark(
            TimelineLine(
                time: 1, label: "x", command: .init(number: 1, type: "clipboard_read", step: step)),
            of: nil)
    }

    @Test func `each kind of trouble has its mark`() {
        let header = FrameHeader(opcode: .text, payloadLength: 0)
        let rows: [(RowMark?, RowMark?)] = [
            (mark(.answered(code: nil, isLate: true, isDuplicate: false)), .late),
            (mark(.answered(code: nil, isLate: true, isDuplicate: true)), .duplicate),
            (mark(.answered(code: "denied", isLate: false, isDuplicate: false)), nil),
            (mark(.sent(deadline: 5, isAgain: false)), nil),
            (mark(.unanswered), .unanswered),
            (mark(.gap(.init(length: nil, why: "snaplen"))), .gap),
            (mark(.data(.init(bytes: [0], why: "not_http"))), .invalid),
            (mark(.end(.init(events: 1, bytesApp: 0, bytesBoard: 0, dropped: 0))), nil),
            (mark(.end(.init(events: 1, bytesApp: 0, bytesBoard: 0, dropped: 2))), .drop),
            (mark(.note(.init(code: "fault", text: "drop"))), .fault),
            (mark(.note(.init(code: "dropped_packets", text: "3"))), .drop),
            (mark(.note(.init(code: "mark", text: "here"))), .note),
            (
                mark(
                    .frame(.init(header: header, content: .whole([]))), broken: true, label: "frame"
                ),
                .invalid
            ),
            (mark(.close(.init(how: .reset)), broken: true, label: "reset"), .broken),
            (mark(.close(.init(how: .fin))), nil),
        ]
        for (index, row) in rows.enumerated() { #expect(row.0 == row.1, "row \(index)") }
    }

    @Test func `a line about another event does not take this one's mark`() {
        let line = TimelineLine(time: 1, label: "alive", counted: 1...4)
        let gap = Event(seq: 5, time: 1, kind: .gap(.init(length: nil, why: "snaplen")))
        #expect(RowMark(line, of: gap) == nil)
    }
}

package import Capture
package import Report

/// What makes a line stand out, in a word that the page has a badge for.
package enum RowMark: String, Sendable, CaseIterable {
    /// A rule that counts is broken.
    case rule
    /// A rule is broken that does not count.
    case doubt
    /// A result behind its time-out.
    case late
    case unanswered
    case duplicate
    /// A frame or bytes that their protocol does not allow.
    case invalid
    /// Bytes that are not in the session.
    case gap
    /// Events or packets that were not recorded.
    case drop
    /// Anything else that broke.
    case broken
    /// A fault that was injected.
    case fault
    /// A remark of a person or of the tool.
    case note

    /// Looks at a line, and at the event that it tells of; nil for an ordinary one.
    package init?(_ line: TimelineLine, of event: Event?) {
        if let step = line.command?.step {
            switch step {
            case .unanswered:
                self = .unanswered
                return
            case .answered(_, _, isDuplicate: true):
                self = .duplicate
                return
            case .answered(_, isLate: true, _):
                self = .late
                return
            case .answered, .sent: break
            }
        }
        if let event, line.seq == event.seq, let mark = Self.mark(of: event) {
            self = mark
            return
        }
        guard line.isBroken else { return nil }
        // Frames that no message came of, and those that break the rules of RFC 6455.
        self = ["frame", "frames"].contains(line.label.text) ? .invalid : .broken
    }

    private static func mark(of event: Event) -> RowMark? {
        switch event.kind {
        case .gap: .gap
        case .data: .invalid
        case .end(let end): end.dropped > 0 ? .drop : nil
        case .note(let note):
            switch note.code {
            case "fault": .fault
            case "recording_gap", "dropped_packets": .drop
            default: .note
            }
        case .session, .open, .request, .response, .frame, .message, .piece, .close: nil
        }
    }
}

package import Capture
package import PhoneBridge
package import Report
package import Wire

/// One thing that a page is told; the page is what all of them together say.
///
/// Times are nanoseconds since the session began. The first element of its JSON says which it is.
package enum PageRecord: Sendable {
    /// What the whole is about.
    case about(SessionInfo?, name: String, replay: String)
    /// A line of the timeline, with what makes it stand out.
    case row(TimelineLine, RowMark?)
    case opened(conn: Int, time: Int64, Event.Open)
    /// From here on it is a WebSocket.
    case upgraded(conn: Int, time: Int64)
    /// It serves the queue.
    case queued(conn: Int, time: Int64)
    case closed(conn: Int, time: Int64, Event.Ending, side: Side)
    /// What the app of a phone said about itself.
    case appState(String, phone: String, time: Int64)
    /// The app sent a heartbeat.
    case heartbeat(conn: Int, time: Int64)
    /// A rule is broken; its row follows.
    case breach(Breach, Profile.Standing)
    /// A block of events is complete.
    case block(number: Int, first: Int, last: Int)
    /// So much time has passed.
    case time(Int64)
    /// The session in a sentence, at its end.
    case summary(String)

    /// The record as it is sent.
    package var json: JSON {
        switch self {
        case .about(let info, let name, let replay):
            .array(["i", Self.about(info, name, replay)])
        case .row(let line, let mark): Self.row(line, mark)
        case .opened(let conn, let time, let open):
            .array([
                "c", .integer(conn), .integer(time), text(open.app), text(open.board),
                open.via.map { text($0) } ?? .null, .bool(open.continued?.upgraded ?? false),
            ])
        case .upgraded(let conn, let time): .array(["u", .integer(conn), .integer(time)])
        case .queued(let conn, let time): .array(["k", .integer(conn), .integer(time)])
        case .closed(let conn, let time, let how, let side):
            .array([
                "x", .integer(conn), .integer(time), .string(how.rawValue),
                .string(side.rawValue),
            ])
        case .appState(let state, let phone, let time):
            .array(["a", .integer(time), text(phone), text(state)])
        case .heartbeat(let conn, let time): .array(["h", .integer(conn), .integer(time)])
        case .breach(let breach, let standing): Self.breach(breach, standing)
        case .block(let number, let first, let last):
            .array(["d", .integer(number), .integer(first), .integer(last)])
        case .time(let time): .array(["e", .integer(time)])
        case .summary(let words): .array(["f", .string(words)])
        }
    }

    private static func about(_ info: SessionInfo?, _ name: String, _ replay: String) -> JSON {
        var members: [JSON.Member] = [
            .init("name", text(name)), .init("replay", text(replay)),
        ]
        guard let info else { return .object(members) }
        let words = [
            ("id", info.id), ("startedAt", info.startedAt), ("source", info.source),
            ("listen", info.listen), ("upstream", info.upstream), ("interface", info.interface),
            ("contract", info.contract), ("tool", info.tool), ("part", info.part.map { "\($0)" }),
        ]
        for (name, word) in words {
            if let word { members.append(.init(name, text(word))) }
        }
        if info.redacted != nil { members.append(.init("redacted", true)) }
        members.append(
            .init(
                "labels", .array(info.labels.map { .array([text($0.name), text($0.value)]) })))
        return .object(members)
    }

    /// seq, time, connection, direction, label with its style, whether it is broken, mark, runs of
    /// text with their styles, command, and the first and last of the events that it counts.
    private static func row(_ line: TimelineLine, _ mark: RowMark?) -> JSON {
        let runs = line.text.filter { !$0.text.isEmpty }
            .flatMap { [JSON.string(letter($0.style)), text($0.text)] }
        var elements: [JSON] = [
            "r", .integer(line.seq ?? 0), .integer(line.time ?? 0), .integer(line.conn),
            .integer(line.direction.number), text(line.label.text),
            .string(letter(line.label.style)),
            .bool(line.isBroken), mark.map { .string($0.rawValue) } ?? .null, .array(runs),
            line.command.map(command) ?? .null,
        ]
        if let counted = line.counted {
            elements += [.integer(counted.lowerBound), .integer(counted.upperBound)]
        }
        return .array(elements)
    }

    private static func letter(_ style: Styled.Style) -> String {
        switch style {
        case .plain: "p"
        case .dim: "d"
        case .strong: "s"
        case .good: "g"
        case .bad: "b"
        case .warning: "w"
        }
    }

    private static func command(_ command: TimelineLine.Command) -> JSON {
        let start: [JSON] = [.integer(command.number), text(command.type)]
        switch command.step {
        case .sent(let deadline, let isAgain):
            return .array(
                start + ["sent", deadline.map { .integer($0) } ?? .null, .bool(isAgain)])
        case .answered(let code, let isLate, let isDuplicate):
            return .array(
                start + [
                    "answered", code.map { text($0) } ?? .null, .bool(isLate),
                    .bool(isDuplicate),
                ])
        case .unanswered: return .array(start + ["unanswered"])
        }
    }

    private static func breach(_ breach: Breach, _ standing: Profile.Standing) -> JSON {
        let (word, words): (String, JSON) =
            switch standing {
            case .counted: ("counted", .null)
            case .remark: ("remark", .null)
            case .excused(let words): ("excused", text(words))
            }
        return .array([
            "b", .integer(breach.time), .integer(breach.conn), .string(breach.side.rawValue),
            .string(breach.rule.id), .string(breach.rule.rating.rawValue),
            .string(breach.rule.section), .string(breach.rule.demand), text(breach.text),
            .string(word), words, .array(breach.events.map { .integer($0) }),
        ])
    }
}

/// Text of the link without what would turn, hide or move its neighbours.
private func text(_ text: String) -> JSON { .string(visible(text, escapingBackslash: false)) }

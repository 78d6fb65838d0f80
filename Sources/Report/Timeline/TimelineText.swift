import Capture

/// Lays the lines of a timeline out in columns, with colours where they are wanted.
///
///     ! 00:12.522   1  app →    result     #3 calendar_create late · 9.21 s
///
/// A mark in front shows that something broke. Lines are cut at the width of the terminal;
/// without one, nothing is.
package struct TimelineText: Sendable {
    private let isColoured: Bool
    private let width: Int?

    /// Lays out for a terminal of `width` columns, or for a file where it is nil.
    package init(isColoured: Bool, width: Int?) {
        self.isColoured = isColoured
        self.width = width
    }

    /// The line with what stands below it, each ending in a line feed.
    package func text(_ line: TimelineLine) -> String {
        var runs: [Styled] = []
        if let time = line.time {
            runs.append(Styled(line.isBroken ? "! " : "  ", .bad))
            runs.append(Styled(right(clockTime(time), 9) + "  ", .dim))
            runs.append(Styled(right(line.conn == 0 ? "" : "\(line.conn)", 2) + "  ", .dim))
            runs.append(arrow(line.direction))
            runs.append(Styled("  "))
            runs.append(Styled(left(line.label.text, 9) + "  ", line.label.style))
        } else {
            runs.append(Styled(line.label.text + (line.text.isEmpty ? "" : " "), line.label.style))
        }
        runs += line.text
        var result = painted(runs) + "\n"
        for row in line.body {
            result += painted([Styled("      " + row, .dim)]) + "\n"
        }
        return result
    }

    private func arrow(_ direction: TimelineLine.Direction) -> Styled {
        switch direction {
        case .none: Styled("       ")
        case .from(.app): Styled("app →  ", .strong)
        case .from(.board): Styled("← board", .strong)
        case .both: Styled("   ⇄   ", .dim)
        }
    }

    /// The runs as one text without spaces at its end, cut and coloured.
    private func painted(_ runs: [Styled]) -> String {
        var result = ""
        var room = width ?? .max
        var runs = runs
        while let last = runs.last, last.text.allSatisfy({ $0 == " " }) { runs.removeLast() }
        if let last = runs.indices.last {
            let text = runs[last].text
            runs[last].text = String(
                text.prefix(text.count - text.reversed().prefix { $0 == " " }.count))
        }
        for (index, run) in runs.enumerated() where room > 0 {
            let isLast = index == runs.count - 1
            var text = run.text
            let size = columns(text)
            if size > room || (size == room && !isLast) {
                text = cut(text + (isLast ? "" : "  "), toColumns: room)
                room = 0
            } else if width != nil {
                room -= size
            }
            result += coloured(text, run.style)
        }
        return result
    }

    private func coloured(_ text: String, _ style: Styled.Style) -> String {
        guard isColoured, text.contains(where: { $0 != " " }), let code = code(style) else {
            return text
        }
        return "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }

    private func code(_ style: Styled.Style) -> String? {
        switch style {
        case .plain: nil
        case .dim: "2"
        case .strong: "36"
        case .good: "32"
        case .bad: "31"
        case .warning: "33"
        }
    }

    private func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(text)))
    }

    private func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - columns(text))) + text
    }
}

package import PhoneBridge
package import Report

/// What is told of a replay on a terminal: a line where all is well, and what differs elsewhere.
///
///     same       captures/errors.ndjson  8 of 8 commands in 4.35 s
///     different  captures/pip-queue.ndjson  4 of 4 commands in 2.29 s
///       unanswered     clipboard_read q2 1  (recorded event 14, live event 20)
///           was answered, is unanswered now
///       recorded
///           00:01.250   1  ← board  command    #1 clipboard_read q2
///         > 00:01.301   1  app →    result     #1 clipboard_read ok · 51 ms
///       again: bridgetap replay captures/pip-queue.ndjson …
package struct ReplayText: Sendable {
    private let isColoured: Bool
    private let showsSame: Bool
    private let lines: TimelineText

    private static let indent = 6

    /// - Parameters:
    ///   - showsSame: names what is the same too.
    ///   - width: the columns of the terminal, where lines of a session are cut.
    package init(isColoured: Bool, showsSame: Bool = false, width: Int? = nil) {
        self.isColoured = isColoured
        self.showsSame = showsSame
        lines = TimelineText(
            isColoured: isColoured, width: width.map { max(1, $0 - Self.indent - 1) })
    }

    /// What came of a session.
    ///
    /// - Parameters:
    ///   - again: the command that does it again.
    ///   - remaining: what is left on the phone.
    package func text(
        _ verdict: ReplayVerdict, minimumExercised: Int, again: String,
        remaining: [EffectGate.Remainder] = []
    ) -> String {
        let isThin = !verdict.isExercised(percent: minimumExercised)
        var text = head(verdict, isThin: isThin)
        if let loss = verdict.loss {
            text += "  \(painted("the target was lost", .bad)): \(visible("\(loss)"))\n"
            for line in loss.output.lines.suffix(10) { text += "      | \(visible(line.text))\n" }
        }
        for (index, item) in verdict.items.enumerated()
        where item.outcome.counts || item.outcome == .skipped {
            text += self.text(item)
            text +=
                verdict.surroundings[index]?.text(
                    lines, names: ("recorded", "live"), indent: Self.indent) ?? ""
        }
        if showsSame {
            for item in verdict.items where item.outcome == .same { text += self.text(item) }
        }
        if !verdict.unplayable.isEmpty {
            let first = verdict.unplayable[0]
            text +=
                "  not played: \(counted(verdict.unplayable.count, "event")), such as event "
                + "\(first.seq), \(visible(first.why))\n"
        }
        if !remaining.isEmpty {
            text +=
                "  left on the phone: "
                + remaining.map { "\($0.type) \(visible($0.id ?? "of \($0.command)"))" }
                .joined(separator: ", ") + "\n"
        }
        if verdict.isDifferent || isThin { text += "  again: \(again)\n" }
        return text
    }

    private func head(_ verdict: ReplayVerdict, isThin: Bool) -> String {
        let word: String
        if verdict.isDifferent {
            word = painted("different", .bad)
        } else if isThin {
            word = painted("untested ", .open)
        } else {
            word = painted("same     ", .good)
        }
        return "\(word)  \(visible(verdict.name))  \(verdict.summary)\n"
    }

    private func text(_ item: ReplayVerdict.Item) -> String {
        let word = item.outcome.word
        let padded = word + String(repeating: " ", count: max(0, 13 - word.count))
        let kind: Paint =
            item.outcome.counts ? .bad : item.outcome == .skipped ? .open : .good
        let places = [
            item.recordedSeq.map { "recorded event \($0)" },
            item.liveSeq.map { "live event \($0)" },
        ].compactMap { $0 }
        let place = places.isEmpty ? "" : "  (\(places.joined(separator: ", ")))"
        return "  \(painted(padded, kind))  \(visible(item.group)) \(visible(item.name))\(place)\n"
            + item.details.map { "      \($0)\n" }.joined()
    }

    private enum Paint: String {
        case good = "32"
        case bad = "31"
        case open = "33"
    }

    private func painted(_ text: String, _ paint: Paint) -> String {
        isColoured ? "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// What a session's script does and waits for (`--explain`).
    package func explanation(
        of script: ReplayScript, rules: ComparisonRules = ComparisonRules(), name: String
    ) -> String {
        var text =
            "\(visible(name)): \(counted(script.commands.count, "command")), "
            + "\(counted(script.links.count, "WebSocket connection")), "
            + "\(counted(script.exchanges.count, "HTTP exchange")); "
            + "\(counted(script.steps.count, "step"))\n"
        if let description = rules.description { text += "  \(visible(description))\n" }
        for precondition in rules.preconditions {
            text += "  needs: \(visible(precondition)), by the rules file\n"
        }
        for precondition in script.preconditions {
            let command = script.commands[precondition.command]
            let state = precondition.state.map { " (--on-state \($0))" } ?? ""
            text +=
                "  needs: \(precondition.text), for \(visible(command.type)) "
                + "\(visible(command.id))\(state)\n"
        }
        for link in ValueLinks.find(in: script, rules: rules) {
            text +=
                "  value: \(visible(link.name)) \(visible(link.bornText)) of \(visible(link.born)) is used by "
                + link.uses.map { visible($0) }.joined(separator: ", ") + "\n"
        }
        for step in script.steps {
            guard let wait = step.wait else { continue }
            text += "  wait: \(timeSpan(wait.duration)) before event \(step.seq): \(wait.why)\n"
        }
        for entry in script.unplayable {
            text += "  not played: event \(entry.seq), \(visible(entry.why))\n"
        }
        return text
    }
}

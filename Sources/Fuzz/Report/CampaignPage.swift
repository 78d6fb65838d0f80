import Capture
import PhoneBridge
package import Report
package import Wire

/// The report as one page that needs no network: findings ranked, the worst first, and all that was
/// checked.
///
/// Its policy lets it load nothing, and it has no script but what opens the sessions of findings
/// that lie within it. Whatever came from the link is escaped.
package struct CampaignPage {
    /// Gives the page that shows a finding's session, part by part.
    package typealias SessionPage = (FuzzFinding, (Bytes) throws -> Void) throws -> Void

    private let summary: CampaignSummary
    private let inside: InsidePage?
    private let sessionPage: SessionPage?

    /// So many findings are shown at once; the others unfold.
    private static let maximumRows = 20

    /// - Parameters:
    ///   - inside: what the pages of sessions run; nil for a page without them, and none has them
    ///     that hides what messages say.
    package init(
        _ summary: CampaignSummary, inside: InsidePage? = nil, sessionPage: SessionPage? = nil
    ) {
        self.summary = summary
        self.inside = summary.showsValues ? inside : nil
        self.sessionPage = summary.showsValues && inside != nil ? sessionPage : nil
    }

    /// Writes the page, part by part.
    package func write(to output: (Bytes) throws -> Void) throws {
        let script = inside == nil ? nil : InsidePage.script
        var page = PageFrame.head(
            title: "bridgetap fuzz", style: CampaignPageStyle.text, script: script, inside: inside)
        page += header + findings + known + apart + figures + checks
        try output(Bytes(page.utf8))
        if let sessionPage {
            for (index, entry) in summary.ranked.prefix(Self.maximumRows).enumerated() {
                let finding = entry.record.finding
                try InsidePage.write(
                    id: "session-\(index)", page: { try sessionPage(finding, $0) }, to: output)
            }
        }
        if let script { try output(Bytes("<script>\(script)</script>\n".utf8)) }
        try output(Bytes("</body>\n</html>\n".utf8))
    }

    private func shown(_ text: String) -> String {
        xmlText(visible(text, escapingBackslash: false))
    }

    private var header: String {
        let last = CampaignText(isColoured: false).text(summary).split(separator: "\n").last ?? ""
        return "<header><h1>bridgetap fuzz: the \(summary.judged.rawValue)</h1>"
            + "<p class=\"\(summary.isRed ? "bad" : "good")\">\(shown(String(last)))</p></header>\n"
    }

    // MARK: Findings

    private var findings: String {
        let ranked = summary.ranked
        guard !ranked.isEmpty else { return "" }
        var text = "<section><h2>Findings</h2>\n"
        for (index, entry) in ranked.prefix(Self.maximumRows).enumerated() {
            text += finding(entry, isOpen: index == 0, session: index)
        }
        let rest = ranked.dropFirst(Self.maximumRows)
        if !rest.isEmpty {
            text += "<details><summary>\(grouped(rest.count)) more</summary>\n"
            for entry in rest { text += finding(entry, isOpen: false, session: nil) }
            text += "</details>\n"
        }
        return text + "</section>\n"
    }

    /// - Parameter session: the number of the block with its session's page; nil for none.
    private func finding(
        _ entry: CampaignSummary.Entry, isOpen: Bool, session: Int?
    ) -> String {
        let record = entry.record
        let finding = record.finding
        let observation = finding.observation
        let mark = entry.excuse == nil ? "<b class=\"bad\">!</b>" : "<b class=\"warning\">~</b>"
        var text = "<details class=\"finding\"\(isOpen ? " open" : "")><summary>\(mark) "
        text += "<strong>\(shown(finding.name))</strong> "
        text += "<span>\(shown(observation.text))</span></summary>\n<dl>\n"
        text += row("demanded", "\(shown(observation.demand)) (\(shown(observation.section)))")
        text += row("rating", shown(VerdictText.rating(observation.rating)))
        text += row("seen", shown(observation.text))
        text += row("verdict", shown(VerdictText.verdict(finding)))
        if let excuse = entry.excuse { text += row("does not count", shown(excuse)) }
        if !finding.isFresh {
            text += row("not fresh", "the target could not be started anew for each run")
        }
        text += row("seen in", counted(finding.count, "case"))
        let also = Set(finding.signals.map(\.check)).subtracting([observation.check]).sorted()
        if !also.isEmpty { text += row("also seen by", shown(also.joined(separator: ", "))) }
        if !finding.related.isEmpty {
            text += row("is like", shown(finding.related.joined(separator: ", ")))
        }
        let path = "\(summary.folder)/\(finding.name)"
        let again = FindingFolder.again(record, path: path)
        text += row("again", "<code>\(shown(again))</code>") + "</dl>\n"
        if let session, sessionPage != nil {
            text +=
                "<button type=\"button\" data-inside=\"session-\(session)\">"
                + "Look at the session</button>\n"
        }
        text += block("script", finding.script.description.split(separator: "\n").map(String.init))
        text += block("what took place", timeline(finding), marking: observation.events)
        if summary.showsValues, !finding.evidence.output.isEmpty {
            text += block("the target's last lines", finding.evidence.output)
        }
        return text + "</details>\n"
    }

    /// The end of the timeline, each line with its event's number.
    private func timeline(_ finding: FuzzFinding) -> [(seq: Int?, text: String)] {
        let layout = TimelineText(isColoured: false, width: nil)
        let lines = VerdictText.timeline(finding.evidence.session)
        return lines.suffix(VerdictText.timelineLines).map { line in
            var text = layout.text(summary.showsValues ? line : line.withoutValues)
            if text.hasSuffix("\n") { text.removeLast() }
            return (line.seq, text)
        }
    }

    private func row(_ name: String, _ markup: String) -> String {
        "<dt>\(name)</dt><dd>\(markup)</dd>\n"
    }

    private func block(_ title: String, _ lines: [String]) -> String {
        block(title, lines.map { (nil, $0) }, marking: [])
    }

    private func block(
        _ title: String, _ lines: [(seq: Int?, text: String)], marking events: [Int]
    ) -> String {
        guard !lines.isEmpty else { return "" }
        var text = "<h3>\(title)</h3>\n<pre>"
        for line in lines {
            let isMarked = line.seq.map(events.contains) ?? false
            text += isMarked ? "<mark>\(shown(line.text))</mark>\n" : "\(shown(line.text))\n"
        }
        return text + "</pre>\n"
    }

    // MARK: The rest

    private var known: String {
        guard !summary.known.isEmpty else { return "" }
        var text = "<section><h2>Known findings</h2>\n<table>\n"
        for known in summary.known {
            let fate: String
            switch known.fate {
            case .stillThere(let rate): fate = "still there, \(rate)"
            case .fixed: fate = "does not come any more"
            case .changed(let seen): fate = "has changed: \(seen.check), \(seen.text)"
            case .undecided: fate = "could not be run"
            }
            let words = known.excuse.map { "does not count: \($0)" } ?? ""
            text += line([known.record.finding.name, fate, words], isBad: known.counts)
        }
        return text + "</table></section>\n"
    }

    private var apart: String {
        guard !summary.apart.isEmpty else { return "" }
        var text = "<section><h2>Seen, and no finding</h2>\n<table>\n"
        for signal in summary.apart.prefix(100) {
            text += line(
                [
                    signal.observation.check, "\(signal.verdict.word), \(signal.rate)",
                    signal.observation.text,
                ], isBad: signal.verdict == .withoutMutation)
        }
        return text + "</table></section>\n"
    }

    private var figures: String {
        let figures = summary.status.figures
        var rows = [
            ["ended by", summary.end?.words ?? "it goes on"],
            ["cases", grouped(figures.cases)], ["runs", grouped(figures.runs)],
            ["time", timeSpan(summary.status.elapsed)],
            ["time on the link", timeSpan(figures.protocolTime)],
            ["states and shapes of answers", grouped(figures.edges)],
            ["deaths of the target", grouped(figures.deaths)],
            ["runs without a target", grouped(figures.lost)],
            ["faults of the harness", grouped(figures.troubles)],
            ["profile", summary.judge.profile.name], ["tool", summary.tool],
        ]
        let missed = Set(summary.missed.map { "reached: \($0.rawValue)" })
        for word in Sometimes.reachable(judging: summary.judged) {
            rows.append(["reached: \(word.rawValue)", grouped(figures.reached[word] ?? 0)])
        }
        let table = rows.map { line($0, isBad: missed.contains($0[0])) }
        return "<section><h2>Figures</h2>\n<table>\n" + table.joined() + "</table></section>\n"
    }

    private var checks: String {
        let cases = summary.results.suites.flatMap(\.cases)
        var text =
            "<section><details><summary>\(counted(cases.count, "check"))</summary>\n<table>\n"
        for item in cases {
            text += line(
                [item.name, item.outcome.rawValue, item.message ?? item.rule?.demand ?? ""],
                isBad: item.outcome == .failed || item.outcome == .error)
        }
        return text + "</table></details></section>\n"
    }

    private func line(_ cells: [String], isBad: Bool) -> String {
        "<tr\(isBad ? " class=\"bad\"" : "")>"
            + cells.map { "<td>\(shown($0))</td>" }.joined() + "</tr>\n"
    }
}

/// How the page looks, in light and dark.
enum CampaignPageStyle {
    static let text =
        PageFrame.colours + """
            body {
              margin: 0 auto; max-width: 1100px; padding: 0 16px 40px; background: var(--back);
              color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif;
            }
            header { border-bottom: 1px solid var(--edge); padding: 12px 0; }
            h1 { font-size: 18px; margin: 0; }
            h2 { font-size: 15px; margin: 22px 0 8px; }
            h3 { font-size: 12px; margin: 10px 0 2px; color: var(--dim); font-weight: normal; }
            header p { margin: 4px 0 0; }
            .good { color: var(--good); } .bad { color: var(--bad); } .warning { color: var(--warning); }
            details.finding {
              border: 1px solid var(--edge); border-radius: 6px; margin: 6px 0; padding: 6px 12px;
            }
            summary { cursor: pointer; }
            summary span { color: var(--dim); }
            button { font: inherit; padding: 2px 10px; margin: 4px 0; }
            dl { display: grid; grid-template-columns: 9em 1fr; gap: 2px 12px; margin: 8px 0; }
            dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
            pre, code { font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
            pre {
              background: var(--panel); padding: 8px; margin: 2px 0; overflow: auto; max-height: 30em;
            }
            mark { background: var(--red); color: inherit; }
            table { border-collapse: collapse; }
            td {
              padding: 2px 16px 2px 0; vertical-align: top; border-bottom: 1px solid var(--edge);
              overflow-wrap: anywhere;
            }

            """
}

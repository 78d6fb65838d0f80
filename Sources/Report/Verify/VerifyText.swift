package import Capture

/// What is told of a file that was verified.
///
///     lab.ndjson: 117 events, 1 warning
///       warning  line 118  torn_line  the last line is cut short; the 117 lines before it are used
package struct VerifyText: Sendable {
    private let isColoured: Bool

    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// The lines of one file, each ending in a line feed.
    package func text(name: String, _ verifier: SessionVerifier) -> String {
        var parts = [counted(verifier.events, "event")]
        if verifier.dropped > 0 { parts.append("\(grouped(verifier.dropped)) not recorded") }
        for severity in SessionFinding.Severity.allCases.reversed() {
            let count = verifier.counts[severity, default: 0]
            guard count > 0 else { continue }
            parts.append(
                severity == .info ? counted(count, "remark") : counted(count, severity.rawValue))
        }
        if verifier.worst == nil { parts.append("whole") }
        var result = "\(visible(name)): \(parts.joined(separator: ", "))\n"
        let findings = verifier.findings
        let width = findings.reduce(0) { max($0, $1.code.count) }
        let lineWidth = findings.reduce(0) { max($0, "\($1.position.line)".count) }
        for finding in findings {
            result += "  " + painted(finding.severity)
            result += "  \(finding.position.unit) " + padded("\(finding.position.line)", lineWidth)
            result += "  " + padded(finding.code, width) + "  " + visible(finding.text) + "\n"
        }
        let total = verifier.counts.values.reduce(0, +)
        if total > findings.count {
            result += "  and \(grouped(total - findings.count)) more\n"
        }
        return result
    }

    /// Hints of a file's findings, each once, in the order in which they came.
    package func hints(_ verifier: SessionVerifier) -> [String] {
        var seen: Set<String> = []
        return verifier.findings.compactMap(\.hint).filter { seen.insert($0).inserted }
    }

    private func painted(_ severity: SessionFinding.Severity) -> String {
        let word = padded(severity == .info ? "remark" : severity.rawValue, 7)
        guard isColoured else { return word }
        let colour = severity == .error ? 31 : severity == .warning ? 33 : 2
        return "\u{1b}[\(colour)m\(word)\u{1b}[0m"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

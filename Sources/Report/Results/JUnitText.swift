import PhoneBridge

/// Writes results as JUnit XML: a suite for each suite, a case for each case.
///
/// The dialect is the one that Jenkins, GitLab and GitHub's actions read. Names are the same from
/// run to run. What does not count is skipped, with the reason.
package struct JUnitText: Sendable {
    private let results: Results

    /// So many bytes of text a case may have; CI servers choke on more.
    package static let maximumText = 16_384

    package init(_ results: Results) {
        self.results = results
    }

    /// The whole document.
    package var text: String {
        let cases = results.suites.flatMap(\.cases)
        let duration = results.suites.reduce(0.0) { $0 + Double($1.duration) }
        var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"
        xml += xmlAttribute("name", "bridgetap \(results.command)")
        xml += counts(cases) + xmlAttribute("time", seconds(duration)) + ">\n"
        for suite in results.suites { xml += text(of: suite) }
        return xml + "</testsuites>\n"
    }

    private func counts(_ cases: [Results.Case]) -> String {
        func count(_ outcome: Results.Outcome) -> String {
            "\(cases.reduce(0) { $0 + ($1.outcome == outcome ? 1 : 0) })"
        }
        return xmlAttribute("tests", "\(cases.count)")
            + xmlAttribute("failures", count(.failed)) + xmlAttribute("errors", count(.error))
            + xmlAttribute("skipped", count(.skipped))
    }

    private func text(of suite: Results.Suite) -> String {
        var xml = "  <testsuite" + xmlAttribute("name", visible(suite.name))
        xml += counts(suite.cases) + xmlAttribute("time", seconds(Double(suite.duration)))
        // The schema wants a local time without a zone: `2026-06-10T03:20:00`.
        if let start = suite.startedAt {
            xml += xmlAttribute("timestamp", visible(String(start.prefix(19))))
        }
        xml += ">\n    <properties>\n"
        var properties = [("tool", results.tool)]
        if let profile = results.profile { properties.append(("profile", profile)) }
        if let session = suite.session { properties.append(("session", session)) }
        properties += suite.figures.map { ($0.name, "\($0.value)") }
        for (name, value) in properties {
            xml += "      <property" + xmlAttribute("name", name)
            xml += xmlAttribute("value", visible(value)) + "/>\n"
        }
        xml += "    </properties>\n"
        let className = className(of: suite)
        for item in suite.cases { xml += text(of: item, className: className) }
        return xml + "  </testsuite>\n"
    }

    /// A name in which no dot of a file's name makes a package.
    private func className(of suite: Results.Suite) -> String {
        let name = visible(suite.name).map { $0 == "." ? "_" : $0 }
        return "bridgetap.\(results.command)." + String(name)
    }

    private func text(of item: Results.Case, className: String) -> String {
        var xml = "    <testcase"
        xml += xmlAttribute("classname", item.group.map { visible($0) } ?? className)
        xml += xmlAttribute("name", visible(item.name)) + xmlAttribute("time", "0.000")
        let message = xmlAttribute("message", visible(cut(item.message ?? "", toColumns: 1000)))
        let body = body(of: item)
        var inner = ""
        switch item.outcome {
        case .passed: break
        case .failed:
            let type = xmlAttribute("type", item.rule.map { "rated \($0.rating.rawValue)" } ?? "")
            inner = "      <failure" + message + type + ">\(xmlText(body))</failure>\n"
        case .error:
            inner = "      <error" + message + xmlAttribute("type", "error") + "/>\n"
        case .skipped:
            inner = "      <skipped" + message + "/>\n"
        }
        if item.outcome != .failed, !body.isEmpty {
            inner += "      <system-out>\(xmlText(body))</system-out>\n"
        }
        return inner.isEmpty ? xml + "/>\n" : xml + ">\n" + inner + "    </testcase>\n"
    }

    /// What was seen, a line each, behind what is demanded.
    private func body(of item: Results.Case) -> String {
        guard !item.findings.isEmpty else { return lines(item.details) }
        var text = ""
        if let rule = item.rule {
            if item.outcome == .passed { text += "seen, and not counted: " }
            text += "\(rule.demand) (\(rule.section))\n"
        }
        var told = 0
        for finding in item.findings {
            let line = findingText(finding) + "\n"
            guard text.utf8.count + line.utf8.count <= Self.maximumText else { break }
            text += line
            told += 1
        }
        if item.tally.total > told { text += "and \(grouped(item.tally.total - told)) more\n" }
        return text
    }

    private func lines(_ details: [String]) -> String {
        var text = ""
        for (told, line) in details.enumerated() {
            guard text.utf8.count + line.utf8.count < Self.maximumText else {
                return text + "and \(grouped(details.count - told)) more\n"
            }
            text += line + "\n"
        }
        return text
    }

    private func seconds(_ nanoseconds: Double) -> String {
        let milliseconds = max(0, nanoseconds / 1e6).rounded()
        guard milliseconds < 9e15 else { return "0.000" }
        let whole = Int64(milliseconds)
        let rest = String(whole % 1000)
        return "\(whole / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

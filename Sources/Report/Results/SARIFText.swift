import Capture
import PhoneBridge
import Wire

/// Writes results as SARIF 2.1.0, which code hosts and editors show beside the files.
///
/// A rule is a rule of the contract; the place of a result is the line of its first event in the
/// session's file. What the profile knows of is there with its words, as suppressed.
package struct SARIFText: Sendable {
    private let results: Results
    private let rules: [Rule]
    private let ruleIndex: [String: Int]

    package init(_ results: Results) {
        self.results = results
        rules = results.rules
        ruleIndex = Dictionary(
            results.rules.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The whole document, a line a value.
    package var text: String { document.prettyPrinted + "\n" }

    private var document: JSON {
        [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        ]
    }

    private var run: JSON {
        let parts = results.tool.split(separator: " ", maxSplits: 1).map(String.init)
        var driver: [JSON.Member] = [.init("name", .string(parts.first ?? "bridgetap"))]
        if parts.count > 1 { driver.append(.init("version", .string(parts[1]))) }
        driver.append(.init("rules", .array(rules.map(rule))))
        var ordinals: [String: Int] = [:]
        let found = results.suites.flatMap { suite in
            suite.cases.flatMap { item in
                item.findings.compactMap { finding in
                    item.rule.map { result($0, finding, in: suite, &ordinals) }
                }
            }
        }
        return [
            "tool": ["driver": .object(driver)],
            "automationDetails": ["id": .string("bridgetap/\(results.command)/")],
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": .array(found),
        ]
    }

    /// What could not be looked at is said here: it is no property of a session.
    private var invocation: JSON {
        let errors = results.suites.flatMap { suite in
            suite.cases.filter { $0.outcome == .error }.map { (suite, $0) }
        }
        var members: [JSON.Member] = [.init("executionSuccessful", .bool(errors.isEmpty))]
        if !errors.isEmpty {
            members.append(
                .init(
                    "toolExecutionNotifications",
                    .array(
                        errors.map { suite, item in
                            [
                                "level": "error",
                                "message": [
                                    "text": .string(
                                        "\(visible(suite.name)): "
                                            + visible(item.message ?? item.name))
                                ],
                            ]
                        })))
        }
        return .object(members)
    }

    private func rule(_ rule: Rule) -> JSON {
        var properties: [JSON.Member] = [
            .init("rating", .string(rule.rating.rawValue)),
            .init("section", .string(rule.section)),
        ]
        if let side = rule.obliged { properties.append(.init("obliged", .string(side.rawValue))) }
        let who = rule.obliged.map { " The \($0.rawValue) has to comply." } ?? ""
        return [
            "id": .string(rule.id),
            "shortDescription": ["text": .string(rule.demand + ".")],
            "help": ["text": .string("\(rule.demand). See \(rule.section).\(who)")],
            "defaultConfiguration": ["level": .string(level(rule.rating))],
            "properties": .object(properties),
        ]
    }

    private func level(_ rating: Rule.Rating) -> String {
        switch rating {
        case .sure: "error"
        case .likely: "warning"
        case .weak: "note"
        }
    }

    private func result(
        _ rule: Rule, _ finding: Results.Finding, in suite: Results.Suite,
        _ ordinals: inout [String: Int]
    ) -> JSON {
        let level = finding.standing == .counted ? level(finding.rating) : "note"
        var members: [JSON.Member] = [.init("ruleId", .string(rule.id))]
        if let index = ruleIndex[rule.id] { members.append(.init("ruleIndex", .integer(index))) }
        members.append(.init("level", .string(level)))
        members.append(.init("message", ["text": .string(findingText(finding))]))
        let places =
            finding.places.isEmpty
            ? [EventPlace(file: suite.name, line: nil)] : finding.places
        var locations = places.prefix(1).map(location)
        if finding.fingerprint != nil, case .object(let first)? = locations.first {
            // Where the demand stands, for who looks for the fault and not for the session.
            let section: JSON = [["name": .string(rule.section), "kind": "section"]]
            locations[0] = .object(first + [.init("logicalLocations", section)])
        }
        members.append(.init("locations", .array(locations)))
        if places.count > 1 {
            members.append(
                .init("relatedLocations", .array(places.dropFirst().map(location))))
        }
        let key =
            finding.fingerprint ?? Fingerprint.text(rule: rule, finding, suite: suite.name)
        let ordinal = (ordinals[key] ?? 0) + 1
        ordinals[key] = ordinal
        members.append(
            .init("partialFingerprints", ["bridgetap/v1": .string("\(key):\(ordinal)")]))
        if case .excused(let words) = finding.standing {
            members.append(
                .init(
                    "suppressions",
                    [["kind": "external", "status": "accepted", "justification": .string(words)]]
                ))
        }
        members.append(.init("properties", properties(finding)))
        return .object(members)
    }

    private func properties(_ finding: Results.Finding) -> JSON {
        var members: [JSON.Member] = [
            .init("standing", .string(finding.standing.word)),
            .init("t", .integer(finding.time)),
        ]
        if let side = finding.side { members.append(.init("side", .string(side.rawValue))) }
        if finding.conn > 0 { members.append(.init("conn", .integer(finding.conn))) }
        members.append(.init("events", .array(finding.events.map { .integer($0) })))
        if let command = finding.command {
            members.append(.init("commandId", .string(command.id)))
            if let type = command.type { members.append(.init("commandType", .string(type))) }
        }
        return .object(members)
    }

    private func location(_ place: EventPlace) -> JSON {
        var physical: [JSON.Member] = [
            .init("artifactLocation", ["uri": .string(Self.uri(place.file))])
        ]
        if let line = place.line {
            physical.append(.init("region", ["startLine": .integer(line)]))
        }
        return ["physicalLocation": .object(physical)]
    }

    /// A path as a URI reference (RFC 3986): absolute ones as `file:`, others as they are.
    static func uri(_ path: String) -> String {
        var result = path.hasPrefix("/") ? "file://" : ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return result
    }
}

extension Profile.Standing {
    /// The word for it in reports for programs.
    var word: String {
        switch self {
        case .counted: "counted"
        case .remark: "remark"
        case .excused: "excused"
        }
    }
}

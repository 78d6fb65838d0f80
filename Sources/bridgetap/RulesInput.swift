import Capture
import Report
import Wire

/// The rules file that a command line names.
enum RulesInput {
    /// Reads it; no rules where none is named.
    static func load(_ path: String?) throws -> ComparisonRules {
        guard let path else { return ComparisonRules() }
        return try JSON5Input.load(
            path, for: "--rules", hint: "docs/comparison-rules.md lists what a rules file says"
        ) { (bytes) throws(JSON5FieldError) in try ComparisonRulesText.parse(bytes) }
    }

    /// Tells of rules that were of no use, or let too much pass.
    static func warn(_ remarks: [ComparisonRules.Remark], of path: String) {
        for remark in remarks { ProcessStreams.remark(.warning, "\(path), \(remark)") }
    }
}

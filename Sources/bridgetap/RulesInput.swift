import Capture
import Report
import Wire

/// The rules file that a command line names.
enum RulesInput {
    /// Reads it; no rules where none is named.
    static func load(_ path: String?) throws -> ComparisonRules {
        guard let path else { return ComparisonRules() }
        let bytes: Bytes
        do throws(SourceError) {
            bytes = try WrittenFile.read(path)
        } catch {
            throw Failure(
                .badInput,
                "--rules: cannot read \(path): \(SystemError(error.errno, call: error.call))")
        }
        do throws(JSON5FieldError) {
            return try ComparisonRulesText.parse(bytes)
        } catch {
            throw Failure(
                .badInput, "\(path), \(error)",
                hint: "docs/comparison-rules.md lists what a rules file says")
        }
    }

    /// Tells of rules that were of no use, or let too much pass.
    static func warn(_ remarks: [ComparisonRules.Remark], of path: String) {
        for remark in remarks { ProcessStreams.remark(.warning, "\(path), \(remark)") }
    }
}

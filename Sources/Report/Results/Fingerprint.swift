import Capture
package import PhoneBridge
import Wire

/// What tells one fault from another and is the same in the next run: the rule, the side, the
/// kind of command, and what was seen without its ids, times and numbers.
package enum Fingerprint {
    /// Sixteen hexadecimal digits; equal faults of one suite have the same.
    package static func text(
        rule: Rule, _ finding: Results.Finding, suite: String
    ) -> String {
        var parts = [
            rule.id, finding.side?.rawValue ?? "", finding.command?.type ?? "",
            // The folder differs from machine to machine.
            suite.split(separator: "/").last.map(String.init) ?? suite,
        ]
        parts.append(normalised(finding.text, id: finding.command?.id))
        var hash = FNVHash()
        for part in parts {
            hash.combine(part)
            // A byte that no text has.
            hash.combine(0xff as UInt8)
        }
        return hash.text
    }

    /// The text with each quotation and number blanked.
    package static func normalised(_ text: String, id: String?) -> String {
        var result = ""
        var isQuoted = false
        var isNumber = false
        for character in id.map({ blanking($0, in: text) }) ?? text {
            if character == "\"" {
                isQuoted.toggle()
                isNumber = false
                result.append(character)
                continue
            }
            guard !isQuoted else { continue }
            let isDigit = character.isASCII && character.isNumber
            if isDigit || (isNumber && (character == "," || character == ".")) {
                if !isNumber { result.append("#") }
                isNumber = true
                continue
            }
            isNumber = false
            result.append(character)
        }
        return result
    }

    /// The text with an id blanked, where it is a word by itself.
    private static func blanking(_ id: String, in text: String) -> String {
        guard !id.isEmpty else { return text }
        func isPart(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" } ?? false
        }
        var result = ""
        var position = text.startIndex
        for range in text.ranges(of: id) {
            let before =
                range.lowerBound > text.startIndex
                ? text[text.index(before: range.lowerBound)] : nil
            let after = range.upperBound < text.endIndex ? text[range.upperBound] : nil
            guard !isPart(before), !isPart(after) else { continue }
            result += text[position..<range.lowerBound] + "*"
            position = range.upperBound
        }
        return result + text[position...]
    }
}

package import Network
package import Wire

/// What the command of `--probe` prints.
///
///     pid=712 rss=48128 fds=23
///     {"pid": 712, "rss": 48128, "fds": 23}
///
/// A name, then `=`, a colon or a space, then a number; other words are let be. `rss` is in
/// kibibytes, as `ps -o rss` prints it, unless `B`, `kB`, `MB` or `GB` stands behind it.
package enum ProbeAnswer {
    private static let names = ["pid", "rss", "fds"]
    private static let units: [String: Int64] = [
        "b": 1, "kb": 1 << 10, "k": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "m": 1 << 20,
        "mib": 1 << 20, "gb": 1 << 30, "g": 1 << 30, "gib": 1 << 30,
    ]

    /// Reads it; nil where none of the three is there.
    package static func read(_ output: Bytes) -> ProcessMeasure? {
        let words = words(output.prefix(maximum))
        var values: [String: Int64] = [:]
        for (index, word) in words.enumerated() {
            guard names.contains(word), index + 1 < words.count,
                let (number, rest) = number(words[index + 1])
            else { continue }
            var value = number
            if word == "rss" {
                let unit = rest.isEmpty ? (index + 2 < words.count ? words[index + 2] : "") : rest
                let (product, overflow) = number.multipliedReportingOverflow(
                    by: units[unit] ?? 1 << 10)
                guard !overflow else { continue }
                value = product
            } else if !rest.isEmpty {
                continue
            }
            values[word] = value
        }
        guard !values.isEmpty else { return nil }
        return ProcessMeasure(
            memory: values["rss"], handles: values["fds"],
            pid: values["pid"].flatMap { Int32(exactly: $0) })
    }

    /// No probe has to print more, in bytes.
    private static let maximum = 4096

    /// Words in lower case; signs that stand between them are none.
    private static func words(_ output: Bytes.SubSequence) -> [String] {
        String(decoding: output, as: UTF8.self).lowercased()
            .split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".")) }.map(String.init)
    }

    /// A whole number at the beginning of a word, and what is behind it.
    private static func number(_ word: String) -> (Int64, rest: String)? {
        let digits = word.prefix { $0.isNumber }
        guard let number = Int64(digits) else { return nil }
        return (number, String(word.dropFirst(digits.count)))
    }
}

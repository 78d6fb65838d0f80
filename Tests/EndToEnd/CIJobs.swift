import Foundation

/// The jobs of docs/ci.md, as far as they are shell: read as a CI reads them, from YAML as simple
/// as that page has it.
struct CIJobs {
    /// What a job runs, one after the other: a script a step.
    var scripts: [String] = []
    /// The paths that it keeps when it is over.
    var artifacts: [String] = []

    /// Reads the first block of YAML below a heading.
    init?(of heading: String, in page: String) {
        let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) }
        guard
            let block = section?.components(separatedBy: "```yaml\n").dropFirst().first?
                .components(separatedBy: "```").first
        else { return nil }
        let lines = block.components(separatedBy: "\n")
        var index = 0
        while index < lines.count {
            let line = lines[index]
            index += 1
            guard let (key, value) = Self.entry(line) else { continue }
            switch key {
            case "run", "path":
                let text = value == "|" ? Self.block(lines, &index, deeper: line) : value
                if key == "run" {
                    scripts.append(text)
                } else {
                    artifacts += text.split(separator: "\n").map(String.init)
                }
            case "before_script", "script":
                scripts.append(Self.list(lines, &index, deeper: line).joined(separator: "\n"))
            case "junit": artifacts.append(value)
            case "paths":
                artifacts += value.trimmingCharacters(in: ["[", "]"]).split(separator: ",")
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            default: break
            }
        }
    }

    private static func indent(_ line: String) -> Int { line.prefix { $0 == " " }.count }

    /// A key and its value, without a comment.
    private static func entry(_ line: String) -> (key: String, value: String)? {
        guard let match = line.firstMatch(of: #/^ *(?:- )?([a-z_]+):(?: (.*))?$/#) else {
            return nil
        }
        let value = withoutComment(String(match.output.2 ?? ""))
        return (String(match.output.1), value.trimmingCharacters(in: .whitespaces))
    }

    private static func withoutComment(_ text: String) -> String {
        text.components(separatedBy: " #").first ?? text
    }

    /// The lines of a literal block.
    private static func block(_ lines: [String], _ index: inout Int, deeper than: String) -> String
    {
        var found: [String] = []
        var depth: Int?
        while index < lines.count, lines[index].isEmpty || indent(lines[index]) > indent(than) {
            depth = depth ?? indent(lines[index])
            found.append(String(lines[index].dropFirst(depth ?? 0)))
            index += 1
        }
        return found.joined(separator: "\n")
    }

    /// The items of a list; what stands deeper than its dash goes on with an item.
    private static func list(_ lines: [String], _ index: inout Int, deeper than: String) -> [String]
    {
        var found: [String] = []
        while index < lines.count, indent(lines[index]) > indent(than) {
            let text = withoutComment(lines[index]).trimmingCharacters(in: .whitespaces)
            index += 1
            if text.hasPrefix("- ") {
                found.append(String(text.dropFirst(2)))
            } else if let last = found.popLast() {
                found.append(last + " " + text)
            }
        }
        return found
    }
}

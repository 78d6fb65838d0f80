/// What a help page says about one argument.
struct HelpRow: Sendable {
    let isOperand: Bool
    /// `-o, --output FILE`.
    let term: String
    /// How it stands in the usage line; nil for what is optional and not an operand.
    let usage: String?
    let help: String
}

extension Argument {
    var helpRow: HelpRow {
        let value = placeholder.isEmpty ? "" : " " + placeholder
        switch form {
        case .operand:
            let word = placeholder + (isRepeatable ? "..." : "")
            return HelpRow(
                isOperand: true, term: placeholder, usage: isRequired ? word : "[\(word)]",
                help: help)
        case .flag, .option:
            let names = [short.map { "-" + String($0) }, long.map { "--" + $0 }]
            let indent = short == nil ? "    " : ""
            let repeated = isRepeatable ? " (may be given more than once)" : ""
            return HelpRow(
                isOperand: false,
                term: indent + names.compactMap(\.self).joined(separator: ", ") + value,
                usage: isRequired ? name + value : nil, help: help + repeated)
        }
    }
}

/// The help page of a command.
struct CommandPage: Sendable {
    let name: String
    let summary: String
    let details: String
    let rows: [HelpRow]
    let examples: [Example]

    /// The page as text, ending in a line feed.
    func text(program: String) -> String {
        var flags = rows.filter { !$0.isOperand }
        flags.append(
            HelpRow(isOperand: false, term: "-h, --help", usage: nil, help: "this page"))
        let operands = rows.filter(\.isOperand)
        let words = flags.compactMap(\.usage) + ["[FLAGS]"] + operands.compactMap(\.usage)
        var page = "\(program) \(name): \(summary)\n\n"
        page += wrapped(
            "usage: \(program) \(name) " + words.joined(separator: " "), indent: 4, first: 0)
        if !operands.isEmpty { page += "\narguments:\n" + table(operands) }
        page += "\nflags:\n" + table(flags)
        if !details.isEmpty { page += "\n" + paragraphs(details) }
        if !examples.isEmpty {
            page += "\nexamples:\n"
            for example in examples {
                page += wrapped("# \(example.meaning)", indent: 4, first: 4)
                page += "    \(example.line)\n"
            }
        }
        return page
    }

    private func table(_ rows: [HelpRow]) -> String {
        rows.map { tableRow($0.term, $0.help) }.joined()
    }
}

/// How wide a help page is: what a terminal is at the least.
private let pageWidth = 80
/// Where the second column of a help page begins.
private let helpColumn = 26

/// A line of a two-column table; a long term gets a line of its own.
func tableRow(_ term: String, _ help: String) -> String {
    let head = "  " + term
    let body = wrapped(help, indent: helpColumn, first: helpColumn)
    guard head.count < helpColumn - 1 else { return head + "\n" + body }
    return head + body.dropFirst(head.count)
}

/// Fits a text to the page: lines that follow each other are one paragraph and are broken anew,
/// indented ones stay as they are.
func paragraphs(_ text: String) -> String {
    var result = ""
    var paragraph: [Substring] = []
    func end() {
        guard !paragraph.isEmpty else { return }
        result += wrapped(paragraph.joined(separator: " "), indent: 0, first: 0)
        paragraph = []
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.isEmpty || line.hasPrefix(" ") {
            end()
            result += line + "\n"
        } else {
            paragraph.append(line)
        }
    }
    end()
    return result
}

/// Breaks a text at its spaces.
func wrapped(_ text: String, indent: Int, first: Int) -> String {
    var result = ""
    var line = String(repeating: " ", count: first)
    var isEmpty = true
    for word in text.split(separator: " ") {
        if !isEmpty, line.count + 1 + word.count > pageWidth {
            result += line + "\n"
            line = String(repeating: " ", count: indent)
            isEmpty = true
        }
        line += (isEmpty ? "" : " ") + word
        isEmpty = false
    }
    return result + line + "\n"
}

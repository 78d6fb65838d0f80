/// What is wrong with a command line.
///
/// `message` and `hint` word every case; nothing else does.
package enum UsageError: Error, Equatable, Sendable {
    case noCommand
    case unknownCommand(String, nearest: String?)
    case unknownFlag(String, nearest: String?)
    /// An option stands at the end or before another flag.
    case missingValue(name: String, placeholder: String, found: String?)
    /// A flag that takes none was given one, as in `--follow=yes`.
    case needlessValue(name: String, value: String)
    case invalidValue(name: String, ValueError)
    /// Given twice where once is meant.
    case repeated(name: String)
    case missingOption(name: String, placeholder: String)
    case missingOperand(placeholder: String)
    case tooManyOperands(String)
    /// Two that exclude each other.
    case conflict(String, String)
    /// One that means nothing without another.
    case missingCompanion(name: String, needs: String)
    /// A rule of the command's own.
    case rule(message: String, hint: String?)

    /// One line: what was wrong, and where.
    package var message: String {
        switch self {
        case .noCommand: "no command is given"
        case .unknownCommand(let word, let nearest):
            "unknown command \(quoted(word))" + suggestion(nearest)
        case .unknownFlag(let flag, let nearest):
            "unknown flag \(printable(flag))" + suggestion(nearest)
        case .missingValue(let name, let placeholder, nil):
            "\(name): its value \(placeholder) is missing"
        case .missingValue(let name, let placeholder, let found?):
            "\(name): its value \(placeholder) is missing before \(printable(found))"
        case .needlessValue(let name, let value):
            "\(name) takes no value, but \(quoted(value)) was given"
        case .invalidValue(let name, let error): "\(name): \(error.sentence)"
        case .repeated(let name): "\(name) is given more than once"
        case .missingOption(let name, let placeholder): "\(name) \(placeholder) is missing"
        case .missingOperand(let placeholder): "\(placeholder) is missing"
        case .tooManyOperands(let word): "\(quoted(word)) is one argument too many"
        case .conflict(let first, let second): "\(first) and \(second) exclude each other"
        case .missingCompanion(let name, let needs): "\(name) needs \(needs)"
        case .rule(let message, _): message
        }
    }

    /// What to try, where the case itself knows better than the help page.
    package var hint: String? {
        switch self {
        case .missingValue(let name, _, let found?):
            "if it is meant as the value, write \(name)=\(printable(found))"
        case .rule(_, let hint): hint
        case .noCommand, .unknownCommand, .unknownFlag, .missingValue, .needlessValue,
            .invalidValue, .repeated, .missingOption, .missingOperand, .tooManyOperands,
            .conflict, .missingCompanion:
            nil
        }
    }

    private func suggestion(_ nearest: String?) -> String {
        nearest.map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// A word of the command line without quotes where it is plain, with them where it is not.
    private func printable(_ word: String) -> String {
        let text = quoted(word)
        return text == "\"\(word)\"" && !word.contains(" ") ? word : text
    }
}

/// A wrong command line: the command it was meant for, if one was found, and what is wrong.
package struct UsageFailure: Error, Equatable, Sendable {
    package let program: String
    package let command: String?
    package let error: UsageError

    package init(program: String, command: String?, error: UsageError) {
        self.program = program
        self.command = command
        self.error = error
    }

    /// What to try next: the error's own hint, or the help page to read.
    package var hint: String {
        if let hint = error.hint { return hint }
        return "see \"\(command.map { "\(program) \($0)" } ?? program) --help\""
    }
}

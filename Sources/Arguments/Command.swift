/// A subcommand: its arguments, its help page, and what a good command line turns into.
///
/// `Result` is whatever the program runs; the options behind it are of any type.
package struct Command<Result>: Sendable {
    /// The word on the command line.
    package let name: String
    /// One line for the list of commands, in lower case without a full stop.
    package let summary: String
    let page: CommandPage
    private let parseWords: @Sendable ([String]) throws(UsageError) -> Result

    /// Declares a command.
    ///
    /// `exclusive` lists groups of which one at most is given, `companions` pairs of which the
    /// first needs the second (names as on the command line). `check` looks at the whole
    /// before anything runs.
    package init<Options: Sendable>(
        _ name: String, summary: String, details: String = "", options: Options,
        arguments: [Argument<Options>], exclusive: [[String]] = [],
        companions: [(name: String, needs: String)] = [],
        examples: [Example] = [],
        check: @escaping @Sendable (Options) throws(UsageError) -> Void = { _ in },
        action: @escaping @Sendable (Options) -> Result
    ) {
        self.name = name
        self.summary = summary
        page = CommandPage(
            name: name, summary: summary, details: details, rows: arguments.map(\.helpRow),
            examples: examples)
        parseWords = { (words) throws(UsageError) in
            var parse = ArgumentParse(arguments: arguments, options: options)
            try parse.read(words)
            try parse.requireAll()
            try parse.checkGroups(exclusive: exclusive, companions: companions)
            try check(parse.options)
            return action(parse.options)
        }
    }

    /// Turns the words behind the command's name into what is to be run.
    func parse(_ words: [String]) throws(UsageError) -> Result {
        try parseWords(words)
    }
}

/// A command line worth showing, with what it does.
package struct Example: Sendable, Equatable {
    package let line: String
    /// In lower case without a full stop.
    package let meaning: String

    package init(_ line: String, _ meaning: String) {
        self.line = line
        self.meaning = meaning
    }
}

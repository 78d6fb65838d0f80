/// A program of subcommands.
package struct Program<Result>: Sendable {
    package let name: String
    /// One line, in lower case without a full stop.
    package let summary: String
    package let commands: [Command<Result>]
    /// What stands below the list of commands.
    package let details: String

    package init(
        _ name: String, summary: String, details: String = "", commands: [Command<Result>]
    ) {
        self.name = name
        self.summary = summary
        self.details = details
        self.commands = commands
    }

    /// What a command line asks for.
    package enum Request {
        case run(Result)
        /// A help page, to be printed as it is.
        case help(String)
        case version
    }

    /// Reads a command line, the program's own name not included.
    ///
    /// Nothing has run when it throws. `--help` is answered whatever else stands there.
    package func parse(_ words: [String]) throws(UsageFailure) -> Request {
        guard let first = words.first else { throw failure(.noCommand) }
        switch first {
        case "--version": return .version
        case "-h", "--help": return .help(page)
        case "help":
            guard let topic = words.dropFirst().first else { return .help(page) }
            return .help(try command(topic).page.text(program: name))
        default: break
        }
        if first.hasPrefix("-") {
            let bare = String(first.drop { $0 == "-" })
            let near = nearest(to: bare, among: ["help", "version"]).map { "--" + $0 }
            throw failure(.unknownFlag(first, nearest: near))
        }
        let command = try command(first)
        let rest = words.dropFirst()
        let flags = rest.prefix { $0 != "--" }
        if flags.contains("--help") || flags.contains("-h") {
            return .help(command.page.text(program: name))
        }
        do {
            return .run(try command.parse(Array(rest)))
        } catch {
            throw UsageFailure(program: name, command: command.name, error: error)
        }
    }

    private func command(_ word: String) throws(UsageFailure) -> Command<Result> {
        if let command = commands.first(where: { $0.name == word }) { return command }
        let near = nearest(to: word, among: commands.map(\.name) + ["help"])
        throw failure(.unknownCommand(word, nearest: near))
    }

    private func failure(_ error: UsageError) -> UsageFailure {
        UsageFailure(program: name, command: nil, error: error)
    }

    /// The page of the whole program.
    package var page: String {
        var text = "\(name): \(summary)\n\nusage: \(name) COMMAND [FLAGS] [ARGUMENTS]\n"
        text += "\ncommands:\n"
        for command in commands { text += tableRow(command.name, command.summary) }
        text += tableRow("help COMMAND", "the page of a command")
        text += "\nflags:\n" + tableRow("-h, --help", "this page")
        text += tableRow("    --version", "the version")
        return details.isEmpty ? text : text + "\n" + paragraphs(details)
    }
}

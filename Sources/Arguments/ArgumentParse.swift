/// Reads the words of one command line into options.
struct ArgumentParse<Options: Sendable> {
    let arguments: [Argument<Options>]
    var options: Options
    /// Indexes of `arguments` that were given.
    private var given: Set<Int> = []
    private var operands: [String] = []

    init(arguments: [Argument<Options>], options: Options) {
        self.arguments = arguments
        self.options = options
    }

    /// Reads all words; flags and operands may stand in any order.
    mutating func read(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            } else if word.hasPrefix("--") {
                try readLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word, &rest)
            } else {
                operands.append(word)
            }
        }
        try assignOperands()
    }

    private mutating func readLong(
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let (name, value) = splitValue(word.dropFirst(2))
        guard let index = arguments.firstIndex(where: { $0.long == name }) else {
            throw unknown("--" + name)
        }
        try apply(index, value, &rest)
    }

    /// `-f`, `-o FILE`, `-o=FILE`, or several flags in one word.
    private mutating func readShort(
        _ word: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let (letters, value) = splitValue(word.dropFirst())
        var indexes: [Int] = []
        for letter in letters {
            guard let index = arguments.firstIndex(where: { $0.short == letter }),
                letters.count == 1 || arguments[index].form == .flag
            else { throw unknown("-" + letters) }
            indexes.append(index)
        }
        guard let last = indexes.popLast() else { throw unknown(word) }
        for index in indexes { try apply(index, nil, &rest) }
        try apply(last, value, &rest)
    }

    private func splitValue(_ text: Substring) -> (name: String, value: String?) {
        guard let equals = text.firstIndex(of: "=") else { return (String(text), nil) }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    private func unknown(_ flag: String) -> UsageError {
        let bare = String(flag.drop { $0 == "-" })
        let names = arguments.compactMap(\.long) + ["help"]
        return .unknownFlag(flag, nearest: nearest(to: bare, among: names).map { "--" + $0 })
    }

    private mutating func apply(
        _ index: Int, _ value: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        let argument = arguments[index]
        if given.contains(index), !argument.isRepeatable, argument.form == .option {
            throw .repeated(name: argument.name)
        }
        given.insert(index)
        guard argument.form == .option else {
            if let value { throw .needlessValue(name: argument.name, value: value) }
            return try store(argument, "")
        }
        if let value { return try store(argument, value) }
        guard let next = rest.first else {
            throw .missingValue(
                name: argument.name, placeholder: argument.placeholder, found: nil)
        }
        // A word that begins with a dash is a flag, but for `-` itself and negative numbers.
        if next.hasPrefix("-"), next != "-", Double(next) == nil {
            throw .missingValue(
                name: argument.name, placeholder: argument.placeholder, found: next)
        }
        rest.removeFirst()
        try store(argument, next)
    }

    private mutating func assignOperands() throws(UsageError) {
        var rest = operands[...]
        for (index, argument) in arguments.enumerated() where argument.form == .operand {
            repeat {
                guard let word = rest.popFirst() else { break }
                given.insert(index)
                try store(argument, word)
            } while argument.isRepeatable
        }
        if let word = rest.first { throw .tooManyOperands(word) }
    }

    private mutating func store(
        _ argument: Argument<Options>, _ text: String
    ) throws(UsageError) {
        do {
            try argument.store(&options, text)
        } catch {
            throw .invalidValue(name: argument.name, error)
        }
    }

    /// Throws for the first required argument that was not given.
    func requireAll() throws(UsageError) {
        for (index, argument) in arguments.enumerated()
        where argument.isRequired && !given.contains(index) {
            throw argument.form == .operand
                ? .missingOperand(placeholder: argument.placeholder)
                : .missingOption(name: argument.name, placeholder: argument.placeholder)
        }
    }

    /// Throws where two of one group were given, or one without its companion.
    func checkGroups(
        exclusive: [[String]], companions: [(name: String, needs: String)]
    ) throws(UsageError) {
        let names = Set(given.map { arguments[$0].name })
        for group in exclusive {
            let together = group.filter(names.contains)
            if together.count > 1 { throw .conflict(together[0], together[1]) }
        }
        for (name, needs) in companions where names.contains(name) && !names.contains(needs) {
            throw .missingCompanion(name: name, needs: needs)
        }
    }
}

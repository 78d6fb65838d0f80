package import Wire

/// Reads the text of a rules file, JSON5 (docs/comparison-rules.md).
package enum ComparisonRulesText {
    /// Parses a text; throws at the first thing that is wrong with it.
    package static func parse(_ text: Bytes) throws(JSON5FieldError) -> ComparisonRules {
        let value = try JSON5(written: text)
        var rules = ComparisonRules()
        let fields = try value.fields(
            of: "a rules file",
            keys: ["version", "description", "rules", "states", "preconditions"],
            required: ["version"])
        if let version = fields["version"], version.value.json.integerValue != 1 {
            throw version.wrong("1, the only version that there is")
        }
        rules.description = try fields["description"]?.text()
        for element in try fields["rules"]?.elements() ?? [] {
            rules.rules.append(try rule(element))
        }
        for element in try fields["states"]?.elements() ?? [] {
            rules.states.append(try state(element))
        }
        for element in try fields["preconditions"]?.elements() ?? [] {
            let item = JSON5.Member("preconditions", at: element.place, element)
            rules.preconditions.append(try item.text("a list of texts"))
        }
        return rules
    }

    // MARK: Rules

    /// The key that an action takes, and whether it must be there.
    private static let parameters: [String: (key: String, isRequired: Bool)] = [
        "pattern": ("pattern", true), "tolerance": ("tolerance", true),
        "unordered": ("by", false), "bind": ("bind", true),
    ]

    private static func rule(_ value: JSON5) throws(JSON5FieldError) -> ComparisonRules.Rule {
        let keys = parameters.values.map(\.key).sorted()
        let fields = try value.fields(
            of: "a rule", keys: ["on", "path", "do", "why"] + keys,
            required: ["on", "path", "do"])
        let words = ComparisonRules.Action.words
        let word = try fields["do"]?.text() ?? ""
        guard words.contains(word) else {
            throw JSON5FieldError(
                unknown: word, among: words, at: fields["do"]?.value.place ?? value.place)
        }
        for key in keys where key != parameters[word]?.key {
            if let field = fields[key] {
                throw JSON5FieldError(
                    .badText(key, why: "has no meaning where a rule does \"\(word)\""),
                    at: field.place)
            }
        }
        if let (key, isRequired) = parameters[word], isRequired, fields[key] == nil {
            throw JSON5FieldError(.missingKey(key), at: value.place)
        }
        return ComparisonRules.Rule(
            on: try fields["on"]?.text() ?? "*", path: try path(fields["path"], value.place),
            action: try action(word, fields), why: try fields["why"]?.text(), place: value.place)
    }

    private static func path(
        _ field: JSON5.Member?, _ place: JSON5.Place
    ) throws(JSON5FieldError) -> PathPattern {
        let text = try field?.text() ?? ""
        do throws(PathPattern.Fault) {
            return try PathPattern(text)
        } catch {
            throw JSON5FieldError(
                .badText(text, why: "is no path: \(error.why)"),
                at: field?.value.place ?? place)
        }
    }

    private static func action(
        _ word: String, _ fields: [String: JSON5.Member]
    ) throws(JSON5FieldError) -> ComparisonRules.Action {
        switch word {
        case "type": return .type
        case "pattern":
            guard let field = fields["pattern"] else { return .type }
            let pattern = try field.text("a regular expression")
            do {
                _ = try Regex(pattern)
            } catch {
                throw JSON5FieldError(
                    .badText(pattern, why: "is no regular expression: \(error)"),
                    at: field.value.place)
            }
            return .pattern(pattern)
        case "tolerance":
            guard let field = fields["tolerance"] else { return .type }
            return try tolerance(field)
        case "unordered": return .unordered(by: try fields["by"]?.text("the name of a field"))
        case "bind": return .bind(try fields["bind"]?.text("a name") ?? "")
        default: return .ignore
        }
    }

    private static let units: [(name: String, nanoseconds: Double)] = [
        ("ms", 1e6), ("min", 60e9), ("s", 1e9), ("h", 3_600e9), ("d", 86_400e9),
    ]

    /// A number, or for instants a text such as `2s`.
    private static func tolerance(_ field: JSON5.Member) throws(JSON5FieldError)
        -> ComparisonRules.Action
    {
        let expected = "a number that is not negative, or a time such as \"500ms\" or \"2s\""
        switch field.value.content {
        case .number(let text):
            guard let number = Double(text), number >= 0, number.isFinite else {
                throw field.wrong(expected)
            }
            return .numberTolerance(number)
        case .string(let text):
            for unit in units where text.hasSuffix(unit.name) {
                guard let number = Double(text.dropLast(unit.name.count)), number >= 0,
                    number * unit.nanoseconds < 9e18
                else { continue }
                return .timeTolerance(Int64(number * unit.nanoseconds))
            }
            throw field.wrong(expected)
        case .null, .bool, .array, .object: throw field.wrong(expected)
        }
    }

    // MARK: States

    private static func state(_ value: JSON5) throws(JSON5FieldError) -> ComparisonRules.State {
        let fields = try value.fields(
            of: "a state", keys: ["before", "is"], required: ["before", "is"])
        let state = try fields["is"]?.text() ?? ""
        let parts = state.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw fields["is"]?.wrong("a name and a value, such as \"contacts=denied\"")
                ?? JSON5FieldError(.missingKey("is"), at: value.place)
        }
        let name = try fields["before"]?.text() ?? ""
        var command = name[...]
        var ordinal: Int?
        if let hash = name.lastIndex(of: "#"), let number = Int(name[name.index(after: hash)...]),
            number >= 1, hash > name.startIndex
        {
            command = name[..<hash]
            ordinal = number
        }
        return ComparisonRules.State(
            command: String(command), ordinal: ordinal, state: state, place: value.place)
    }
}

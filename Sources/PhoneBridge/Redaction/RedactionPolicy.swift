package import Wire

/// What a user wants redacted otherwise than the contract's tables say (docs/redaction.md).
package struct RedactionPolicy: Sendable, Equatable {
    /// One rule: what becomes of the values at a path.
    struct Rule: Sendable, Equatable {
        var path: [String]
        var treatment: RedactionFields.Treatment
    }

    /// Whether addresses of machines are replaced as well.
    package var changesAddresses = false
    var rules: [Rule] = []
    /// What tells policies apart in a session's first line; nil for none.
    package internal(set) var digest: String?

    package init() {}

    /// Whether nothing is said about fields.
    var isEmpty: Bool { rules.isEmpty }

    /// What the first rule that fits says of the values at a path; nil for none.
    func treatment(of path: [Bytes]) -> RedactionFields.Treatment? {
        guard !rules.isEmpty else { return nil }
        let names = path.map { String(decoding: $0, as: UTF8.self) }
        return rules.first { Self.matches($0.path[...], names[...]) }?.treatment
    }

    private static func matches(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            return path.indices.contains { matches(pattern.dropFirst(), path[$0...]) }
                || matches(pattern.dropFirst(), [])
        }
        guard let name = path.first, first == "*" || first.hasSameScalars(as: name) else {
            return false
        }
        return matches(pattern.dropFirst(), path.dropFirst())
    }
}

extension RedactionPolicy {
    /// Steps that a path may have.
    private static let maximumSteps = 32

    /// Parses the text of a policy file, JSON5; throws at the first thing that is wrong with it.
    package init(parsing text: Bytes) throws(JSON5FieldError) {
        let value = try JSON5(written: text)
        let fields = try value.fields(
            of: "a policy", keys: ["version", "description", "addresses", "rules"],
            required: ["version"])
        if let version = fields["version"], version.value.json.integerValue != 1 {
            throw version.wrong("1, the only version that there is")
        }
        _ = try fields["description"]?.text()
        if let addresses = fields["addresses"] {
            guard case .bool(let isOn) = addresses.value.content else {
                throw addresses.wrong("true or false")
            }
            changesAddresses = isOn
        }
        for element in try fields["rules"]?.elements() ?? [] {
            rules.append(try Self.rule(element))
        }
        guard let code = sha256(JSON.array([value.json]).encoded) else { return }
        var digits: Bytes = []
        appendHex(code.span.extracting(0..<8), to: &digits)
        digest = String(decoding: digits, as: UTF8.self)
    }

    private static func rule(_ value: JSON5) throws(JSON5FieldError) -> Rule {
        let fields = try value.fields(
            of: "a rule", keys: ["path", "as", "why"], required: ["path", "as"])
        let text = try fields["path"]?.text("a path such as payload.notes") ?? ""
        let path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard path.count <= maximumSteps, path.allSatisfy({ !$0.isEmpty }),
            path.count(where: { $0 == "**" }) <= 2
        else {
            throw JSON5FieldError(
                .badText(
                    text,
                    why: "is no path: names with points between them, * for one, ** for any number"),
                at: fields["path"]?.value.place ?? value.place)
        }
        _ = try fields["why"]?.text()
        let word = try fields["as"]?.text() ?? ""
        guard let treatment = treatments[word] else {
            throw JSON5FieldError(
                unknown: word, among: treatments.keys.sorted(),
                at: fields["as"]?.value.place ?? value.place)
        }
        return Rule(path: path, treatment: treatment)
    }

    /// The words that a rule's `as` takes.
    private static let treatments: [String: RedactionFields.Treatment] = [
        "keep": .kept, "name": .text(.name), "phone": .text(.phone), "email": .text(.email),
        "place": .text(.place), "note": .text(.note), "title": .text(.title),
        "clipboard": .text(.clipboard), "url": .url, "id": .id, "phone_id": .phoneID,
        "instant": .instant, "sentence": .sentence,
    ]
}

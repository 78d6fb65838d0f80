import Wire

/// The fields of an object in the form in which messages are held against them.
///
/// Unknown members are additive and no fault (contract, "Version Compatibility"); `null` is taken
/// for an absent field.
struct FieldTable: Sendable {
    private let names: [String]
    private let entries: [Entry]

    private struct Entry: Sendable {
        var field: Contract.Field
        /// The table of the object, or of each object in the array.
        var inner: [FieldTable] = []
    }

    init(_ fields: [Contract.Field]) {
        names = fields.map(\.name)
        entries = fields.map { field in
            switch field.type {
            case .object(let inner), .array(.object(let inner)):
                Entry(field: field, inner: [FieldTable(inner)])
            default: Entry(field: field)
            }
        }
    }

    /// Whether there is nothing to hold an object against.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether a field must be there.
    var hasRequired: Bool { entries.contains { $0.field.isRequired } }

    /// Holds the members of the object at `index` against the fields.
    ///
    /// - Parameter path: where the object stands, for people: `payload`, `data.events[2]`.
    func check(
        _ index: Int, of tape: JSONTape, in text: Span<UInt8>, path: String,
        into check: inout FieldCheck
    ) {
        // The last of equal names counts, as JavaScript and Go take it.
        var values = [Int](repeating: -1, count: entries.count)
        tape.forEachChild(of: index) { name in
            let place =
                tape.position(of: name, among: names, in: text)
                ?? (tape.hasEscapes(name) ? decodedPosition(of: name, tape, in: text) : nil)
            if let place { values[place] = name + 1 }
        }
        for (entry, value) in zip(entries, values) {
            if value < 0 || tape.kind(value) == .null {
                if entry.field.isRequired {
                    check.faults.append(
                        .init(.missing, path, entry.field.name, isNested: check.isNested))
                }
                continue
            }
            self.check(value, entry, of: tape, in: text, path: path, into: &check)
        }
    }

    private func decodedPosition(
        of name: Int, _ tape: JSONTape, in text: Span<UInt8>
    ) -> Int? {
        let name = tape.string(name, in: text)
        return names.firstIndex { $0.hasSameScalars(as: name) }
    }

    private func check(
        _ value: Int, _ entry: Entry, of tape: JSONTape, in text: Span<UInt8>, path: String,
        into check: inout FieldCheck
    ) {
        let kind = tape.kind(value)
        func wrong(_ expected: String) {
            check.faults.append(
                .init(
                    .type(expected: expected, found: kind.words), path, entry.field.name,
                    isNested: check.isNested))
        }
        switch entry.field.type {
        case .string: if kind != .string { wrong("a string") }
        case .boolean: if kind != .bool { wrong("a boolean") }
        case .number: if kind != .number { wrong("a number") }
        case .integer:
            if kind != .number || tape.integer(value, in: text) == nil { wrong("an integer") }
        case .anyObject: if kind != .object { wrong("an object") }
        case .instant: instant(value, entry, of: tape, in: text, path, &check)
        case .url(let schemes):
            guard kind == .string else { return wrong("a string") }
            url(tape.string(value, in: text), schemes, entry, path, &check)
        case .choice(let choices):
            guard kind == .string else { return wrong("a string") }
            check.choices += 1
            let found = tape.string(value, in: text)
            if !choices.contains(where: { $0.hasSameScalars(as: found) }) {
                check.faults.append(
                    .init(
                        .choice(found: found, choices), path, entry.field.name,
                        isNested: check.isNested))
            }
        case .object:
            guard kind == .object else { return wrong("an object") }
            check.isNested = true
            entry.inner.first?.check(
                value, of: tape, in: text, path: "\(path).\(entry.field.name)", into: &check)
            check.isNested = false
        case .array(let element):
            guard kind == .array else { return wrong("an array") }
            elements(of: value, element, entry, of: tape, in: text, path, &check)
        }
    }

    private func elements(
        of value: Int, _ element: Contract.FieldType, _ entry: Entry, of tape: JSONTape,
        in text: Span<UInt8>, _ path: String, _ check: inout FieldCheck
    ) {
        guard var child = tape.first(in: value) else { return }
        let end = tape.next(value)
        let wasNested = check.isNested
        check.isNested = true
        defer { check.isNested = wasNested }
        var position = 0
        // The first faults say it: a list of thousands is not told to its end.
        while child < end, check.faults.count < FieldCheck.maximumFaults {
            let name = "\(entry.field.name)[\(position)]"
            let kind = tape.kind(child)
            if let inner = entry.inner.first, kind == .object {
                inner.check(child, of: tape, in: text, path: "\(path).\(name)", into: &check)
            } else if let expected = element.mismatch(kind) {
                check.faults.append(
                    .init(.type(expected: expected, found: kind.words), path, name, isNested: true))
            }
            position += 1
            child = tape.next(child)
        }
    }

    private func instant(
        _ value: Int, _ entry: Entry, of tape: JSONTape, in text: Span<UInt8>, _ path: String,
        _ check: inout FieldCheck
    ) {
        check.instants += 1
        let found = tape.string(value, in: text)
        if tape.kind(value) == .string, Timestamp(found) != nil { return }
        // RFC 3339 §5.6 lets applications write a space for the "T".
        var spaced = Bytes(found.utf8)
        if spaced.count > 10, spaced[10] == UInt8(ascii: " ") { spaced[10] = UInt8(ascii: "T") }
        let isSpaced = Timestamp(String(decoding: spaced, as: UTF8.self)) != nil
        check.faults.append(
            .init(
                .instant(found: tape.kind(value) == .string ? found : tape.kind(value).words),
                path, entry.field.name, isNested: check.isNested, isDoubtful: isSpaced))
    }

    private func url(
        _ found: String, _ schemes: [String], _ entry: Entry, _ path: String,
        _ check: inout FieldCheck
    ) {
        check.urls += 1
        // RFC 3986 §3.1: a scheme matches without regard to case.
        let scheme = found.prefix { $0 != ":" }
        if scheme.count < found.count, schemes.contains(scheme.lowercased()) { return }
        check.faults.append(
            .init(.scheme(found: found), path, entry.field.name, isNested: check.isNested))
    }
}

extension Contract.FieldType {
    /// What an element of an array should be, where `kind` is not that; nil where it is.
    fileprivate func mismatch(_ kind: JSONKind) -> String? {
        switch self {
        case .string, .instant, .choice, .url: kind == .string ? nil : "a string"
        case .integer, .number: kind == .number ? nil : "a number"
        case .boolean: kind == .bool ? nil : "a boolean"
        case .array: kind == .array ? nil : "an array"
        case .object, .anyObject: kind == .object ? nil : "an object"
        }
    }
}

extension JSONKind {
    /// The kind with its article.
    var words: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

import Wire

/// Replaces texts in JSON and leaves every other byte as it is: numbers, order, white space,
/// members that stand twice.
///
/// What a text becomes depends on the field that it stands in; see `RedactionFields`.
struct JSONRedactor: Sendable {
    private var scanner = JSONScanner()
    private let fields: RedactionFields
    private let policy: RedactionPolicy
    /// Where the walk is, for a policy and for the manifest; kept only where a policy asks.
    private var path: [Bytes] = []
    /// What the names of members say that the contract does not know: they come again and again.
    private var unknownNames: [Bytes: RedactionFields.UnknownName] = [:]
    private static let maximumNames = 1000

    init(fields: RedactionFields, policy: RedactionPolicy) {
        self.fields = fields
        self.policy = policy
    }

    /// The text with stand-ins; nil where it is no JSON.
    mutating func redacted(_ source: Bytes, _ text: TextRedactor) -> Bytes? {
        var start = 0
        while start < source.count, [0x20, 0x09, 0x0a, 0x0d].contains(source[start]) { start += 1 }
        guard start < source.count, Self.begins(source[start]) else { return nil }
        do {
            try scanner.scan(source.span)
        } catch {
            return nil
        }
        let tape = scanner.tape
        var walk = Walk(source: source, text: text)
        var data = fields.root
        if isEvent(tape, source) { data = fields.eventData }
        value(tape, 0, at: fields.root, name: [], data: data, &walk)
        guard walk.copied > 0 else { return source }
        return walk.output + source[walk.copied...]
    }

    private static func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
            UInt8(ascii: "n"):
            true
        default: false
        }
    }

    /// Whether the message is an event of the app: its id or method says so.
    private func isEvent(_ tape: JSONTape, _ source: Bytes) -> Bool {
        let names: [StaticString] = ["id", "method"]
        for name in names {
            guard let index = tape.member(folding: name, of: 0, in: source.span),
                tape.kind(index) == .string
            else { continue }
            var content: Bytes = []
            tape.appendContent(index, of: source.span, to: &content)
            if fields.eventNames.contains(content) { return true }
        }
        return false
    }

    /// The state of one walk over a text.
    private struct Walk {
        let source: Bytes
        let text: TextRedactor
        var output: Bytes = []
        /// How much of the source is in the output.
        var copied = 0

        mutating func replace(_ range: Range<Int>, by bytes: Bytes) {
            output += source[copied..<range.lowerBound]
            output += bytes
            copied = range.upperBound
        }
    }

    // MARK: The walk

    /// Recursive: the scanner's limit on depth bounds it.
    private mutating func value(
        _ tape: JSONTape, _ index: Int, at node: Int, name: Bytes, data: Int, _ walk: inout Walk
    ) {
        switch tape.kind(index) {
        case .null, .bool: break
        case .number: number(tape, index, at: node, name: name, &walk)
        case .string: string(tape, index, at: node, name: name, &walk)
        case .array:
            guard var child = tape.first(in: index) else { return }
            let end = tape.next(index)
            while child < end {
                value(tape, child, at: node, name: name, data: data, &walk)
                child = tape.next(child)
            }
        case .object:
            guard var child = tape.first(in: index) else { return }
            let end = tape.next(index)
            while child < end {
                var member: Bytes = []
                tape.appendContent(child, of: walk.source.span, to: &member)
                var target = fields.member(member, of: node)
                if node == fields.root, data != fields.root, target != fields.unknown,
                    fields.nodes[target].path == "data"
                {
                    target = data
                }
                if !TextRedactor.isName(member) { nameOf(tape, child, member, &walk) }
                if !policy.isEmpty { path.append(member) }
                value(tape, child + 1, at: target, name: member, data: fields.root, &walk)
                if !policy.isEmpty { path.removeLast() }
                child = tape.next(child + 1)
            }
        }
    }

    /// A name that no program would choose may be a person's.
    private func nameOf(_ tape: JSONTape, _ index: Int, _ name: Bytes, _ walk: inout Walk) {
        let other = walk.text.redacted(name, .free)
        guard other != name else { return }
        walk.text.manifest.count(.none, "names of members")
        walk.replace(
            tape.range(index), by: Self.encoded(other, like: walk.source[tape.contentRange(index)]))
    }

    private mutating func unknown(_ name: Bytes) -> RedactionFields.UnknownName {
        if let known = unknownNames[name] { return known }
        if unknownNames.count >= Self.maximumNames { unknownNames.removeAll() }
        let said = RedactionFields.UnknownName(name)
        unknownNames[name] = said
        return said
    }

    private mutating func treatment(at node: Int, name: Bytes) -> RedactionFields.Treatment {
        if let said = policy.treatment(of: path) { return said }
        let treatment = fields.nodes[node].treatment
        guard node == fields.unknown || treatment == .unknown else { return treatment }
        return unknown(name).treatment
    }

    private func field(_ node: Int, _ name: Bytes) -> String {
        guard node == fields.unknown else { return fields.nodes[node].path }
        return TextRedactor.isName(name) ? "*.\(String(decoding: name, as: UTF8.self))" : "*"
    }

    private mutating func string(
        _ tape: JSONTape, _ index: Int, at node: Int, name: Bytes, _ walk: inout Walk
    ) {
        var content: Bytes = []
        tape.appendContent(index, of: walk.source.span, to: &content)
        guard !content.isEmpty else { return }
        let treatment = treatment(at: node, name: name)
        let other = walk.text.redacted(content, treatment, words: fields.words)
        guard other != content else { return }
        walk.text.manifest.count(treatment.kind, field(node, name))
        walk.replace(
            tape.range(index), by: Self.encoded(other, like: walk.source[tape.contentRange(index)]))
    }

    private mutating func number(
        _ tape: JSONTape, _ index: Int, at node: Int, name: Bytes, _ walk: inout Walk
    ) {
        let range = tape.range(index)
        let digits = Bytes(walk.source[range])
        let treatment = treatment(at: node, name: name)
        let other: Bytes?
        switch treatment {
        case .instant: other = walk.text.moved(epoch: digits)
        case .text, .phoneID: other = walk.text.redacted(number: digits)
        case .unknown where unknown(name).isPersonalNumber:
            other = walk.text.redacted(number: digits)
        case .sentence, .name, .word, .id, .url, .region, .unknown, .kept: other = nil
        }
        guard let other, other != digits else { return }
        walk.text.manifest.count(treatment.kind, field(node, name))
        walk.replace(range, by: other)
    }

    // MARK: Strings

    /// UTF-8 as a JSON string, escaped as the one in whose place it stands was.
    private static func encoded(_ text: Bytes, like content: ArraySlice<UInt8>) -> Bytes {
        var output: Bytes = []
        appendJSONString(text.span, to: &output)
        guard content.contains(UInt8(ascii: "\\")) else { return output }
        let escapesSlash = content.firstRange(of: [UInt8(ascii: "\\"), UInt8(ascii: "/")]) != nil
        let hasUnicode = content.firstRange(of: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) != nil
        let escapesAll = hasUnicode && !content.contains { $0 >= 0x80 }
        guard escapesSlash || escapesAll else { return output }
        var escaped: Bytes = []
        for scalar in String(decoding: output, as: UTF8.self).unicodeScalars {
            if scalar == "/", escapesSlash {
                escaped += [UInt8(ascii: "\\"), UInt8(ascii: "/")]
            } else if escapesAll, !scalar.isASCII || "<>&".unicodeScalars.contains(scalar) {
                for unit in String(scalar).utf16 {
                    escaped += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
                    for shift in [12, 8, 4, 0] {
                        escaped.append(hexDigit(UInt8(truncatingIfNeeded: unit >> UInt16(shift))))
                    }
                }
            } else {
                escaped += Bytes(String(scalar).utf8)
            }
        }
        return escaped
    }
}

extension RedactionFields.Treatment {
    /// What the manifest counts a replaced value as.
    var kind: Contract.Personal {
        switch self {
        case .text(let kind): kind
        case .sentence: .note
        case .name, .word, .unknown, .kept: .none
        case .id, .phoneID: .id
        case .url: .url
        case .instant: .instant
        case .region: .place
        }
    }
}

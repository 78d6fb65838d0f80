package import PhoneBridge
package import Wire

/// Takes out of contents what they tell about people, and leaves their form and their length.
///
/// Texts of fields that the contract calls personal, and of those that it does not know, lose their
/// letters and digits; equal texts stay equal, and days keep their distance. What stands between
/// quotes is found by itself, so that broken and cut JSON, and HTTP around it, is masked as well. What
/// names a thing stays: types, ids of commands, codes, words of the contract.
package struct ContentMask: Sendable {
    /// Personal fields by their names; `none` for those that tell nothing.
    private let fields: [Bytes: Contract.Personal]
    /// Texts that stay wherever they are.
    private let words: Set<Bytes>
    /// A number for each text that was masked.
    private var numbers: [Bytes: Int] = [:]
    /// Days that all instants are moved by; nil until the first one.
    private var days: Int64?

    /// - Parameter keeping: texts that name things, such as ids of commands.
    package init(contract: Contract = .current, keeping names: some Sequence<String> = []) {
        fields = Self.fields(of: contract)
        words = Self.words(of: contract).union(names.map { Bytes($0.utf8) })
    }

    // MARK: Contents

    /// The whole content of a message, a body or a part of a connection.
    package mutating func masked(_ content: Bytes) -> Bytes {
        masked(content, hasNames: true)
    }

    private mutating func masked(_ content: Bytes, hasNames: Bool) -> Bytes {
        var bytes = content
        var index = 0
        var name: Bytes = []
        while let start = bytes[index...].firstIndex(of: Self.quote) {
            let end = Self.end(of: start, in: bytes)
            let inner = start + 1..<end
            let text = Bytes(bytes[inner])
            if hasNames, Self.isName(after: end, in: bytes) {
                name = text
            } else {
                replace(inner, of: &bytes, by: masked(text, of: name))
            }
            index = min(bytes.count, end + 1)
        }
        return bytes
    }

    /// A sentence of a report: what it quotes is masked.
    package mutating func masked(sentence: String) -> String {
        String(
            decoding: masked(Bytes(sentence.utf8), hasNames: false), as: UTF8.self)
    }

    /// A request's target, or a query by itself: values of its personal parameters are masked.
    package mutating func masked(target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = parts.last, parts.count == 2 || target.contains("=") else {
            return target
        }
        let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { return String(item) }
            let value = masked(Bytes(pair[1].utf8), of: Bytes(pair[0].utf8))
            return "\(pair[0])=\(String(decoding: value, as: UTF8.self))"
        }
        let text = items.joined(separator: "&")
        return parts.count == 2 ? "\(parts[0])?\(text)" : text
    }

    private static let protocolFields: Set<String> = [
        "host", "connection", "upgrade", "content-type", "content-length", "transfer-encoding",
        "date", "server", "accept", "accept-encoding", "location", "allow", "vary", "origin",
        "sec-websocket-key", "sec-websocket-accept", "sec-websocket-version",
        "sec-websocket-extensions", "sec-websocket-protocol", "content-encoding",
    ]

    /// A field line; those of the protocol itself stay.
    package mutating func masked(_ line: FieldLine) -> FieldLine {
        guard !Self.protocolFields.contains(line.name.lowercased()) else { return line }
        let value = masked(Bytes(line.value.utf8), of: Bytes(line.name.utf8))
        return FieldLine(line.name, String(decoding: value, as: UTF8.self))
    }

    /// A text of a field with that name.
    package mutating func masked(_ text: Bytes, of name: Bytes) -> Bytes {
        guard !words.contains(text) else { return text }
        switch fields[name] {
        case Contract.Personal.none?: return text
        case .instant?: return moved(text) ?? standIn(for: text, keepsScheme: false)
        case .url?: return standIn(for: text, keepsScheme: true)
        default: return standIn(for: text, keepsScheme: false)
        }
    }

    private static let quote = UInt8(ascii: "\"")

    /// The quotation mark that ends a text, or the end of all.
    private static func end(of start: Int, in bytes: Bytes) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != quote {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.count)
    }

    /// Whether a colon follows.
    private static func isName(after end: Int, in bytes: Bytes) -> Bool {
        guard end < bytes.count else { return false }
        let next = bytes[(end + 1)...].first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return next == UInt8(ascii: ":")
    }

    private func replace(_ range: Range<Int>, of bytes: inout Bytes, by text: Bytes) {
        guard text.count == range.count else { return }
        bytes.replaceSubrange(range, with: text)
    }

    // MARK: Stand-ins

    /// The text with other letters and digits; the same one for the same text.
    private mutating func standIn(for text: Bytes, keepsScheme: Bool) -> Bytes {
        let number: Int
        if let known = numbers[text] {
            number = known
        } else {
            number = numbers.count
            numbers[text] = number
        }
        var rest = number
        var masked = text
        var start = 0
        if keepsScheme, let colon = text.firstIndex(of: UInt8(ascii: ":")) { start = colon + 1 }
        let places = Self.bindings(in: text)
        for index in masked.indices.reversed() where index >= start {
            guard !places.contains(where: { $0.contains(index) }) else { continue }
            // Behind a percent sign stand two digits.
            let isEncoded = masked[max(start, index - 2)..<index].contains(UInt8(ascii: "%"))
            switch masked[index] {
            case _ where isEncoded, UInt8(ascii: "0")...UInt8(ascii: "9"):
                masked[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "\\"), Self.quote, 0x80...:
                masked[index] = UInt8(ascii: "a") + UInt8((23 + rest) % 26)
                rest /= 26
            default: break
            }
        }
        return masked
    }

    /// Where a script stands for a value of the run, as in `$(c1)`.
    private static func bindings(in text: Bytes) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var index = 0
        while index + 1 < text.count {
            if text[index] == UInt8(ascii: "$"), text[index + 1] == UInt8(ascii: "("),
                let end = text[index...].firstIndex(of: UInt8(ascii: ")"))
            {
                ranges.append(index..<end + 1)
                index = end
            }
            index += 1
        }
        return ranges
    }

    /// An instant at the same time of another day; nil where it does not begin with a day.
    private mutating func moved(_ text: Bytes) -> Bytes? {
        let day = String(decoding: text.prefix(10), as: UTF8.self)
        guard let time = Timestamp("\(day)T00:00:00Z") else { return nil }
        let number = time.seconds / 86_400
        let distance = days ?? Self.firstDay - number
        days = distance
        let (other, overflow) = number.addingReportingOverflow(distance)
        guard !overflow, (0..<2_900_000).contains(other) else { return nil }
        let moved = Timestamp(seconds: other * 86_400).wholeSecondsText.prefix(10)
        guard moved.utf8.count == 10 else { return nil }
        return Bytes(moved.utf8) + text.dropFirst(10)
    }

    /// 10 June 2026, the day of the contract's examples, in days since 1970.
    private static let firstDay: Int64 = 20_614

    // MARK: The contract

    /// Members around what is personal, which tell nothing by themselves.
    private static let envelope = [
        "id", "type", "method", "category", "code", "native_code", "status", "command_id",
        "timeout_ms", "ok", "commands", "command", "data", "payload", "error", "details", "result",
    ]

    private static func fields(of contract: Contract) -> [Bytes: Contract.Personal] {
        var fields: [Bytes: Contract.Personal] = [:]
        func add(_ some: [Contract.Field]) {
            for field in some {
                let name = Bytes(field.name.utf8)
                // What is personal anywhere is so everywhere.
                if fields[name] == nil || fields[name] == Contract.Personal.none {
                    fields[name] = field.personal
                }
                add(field.type.members)
            }
        }
        for command in contract.commands { add(command.fields + command.payload + command.data) }
        for event in contract.events { add(event.data) }
        let bodies = contract.bodies
        add(bodies.enqueue + bodies.result + bodies.query + bodies.status)
        fields[Bytes(contract.poll.phoneID.utf8)] = .id
        for name in [contract.poll.platform, contract.poll.appState, contract.poll.limit] {
            fields[Bytes(name.utf8)] = Contract.Personal.none
        }
        for name in envelope { fields[Bytes(name.utf8)] = Contract.Personal.none }
        return fields
    }

    private static func words(of contract: Contract) -> Set<Bytes> {
        var words = contract.commands.map(\.name) + contract.events.map(\.name)
        words += contract.errors.flatMap { [$0.name] + $0.codes }
        words += contract.reservedIDs + contract.poll.platforms + contract.poll.appStates
        words += fields(of: contract).keys.map { String(decoding: $0, as: UTF8.self) }
        return Set(words.map { Bytes($0.utf8) })
    }
}

extension Contract.FieldType {
    /// Fields of the objects in it.
    fileprivate var members: [Contract.Field] {
        switch self {
        case .object(let fields): fields
        case .array(let element): element.members
        default: []
        }
    }
}

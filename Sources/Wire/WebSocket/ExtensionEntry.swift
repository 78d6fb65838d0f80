/// One entry of a `Sec-WebSocket-Extensions` value: an extension and its parameters
/// (RFC 6455 §9.1).
package struct ExtensionEntry: Hashable, Sendable {
    /// A parameter, with its value if it has one.
    package struct Parameter: Hashable, Sendable {
        package var name: String
        /// Without the quotes that it may have had; nil where there was no `=`.
        package var value: String?

        package init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    package var name: String
    /// In order, repeated ones too.
    package var parameters: [Parameter]

    package init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// The entry as it stands in a field value.
    package var text: String {
        var text = name
        for parameter in parameters {
            text += "; " + parameter.name
            if let value = parameter.value { text += "=" + value }
        }
        return text
    }

    /// Parses a field value; nil where it breaks the grammar of RFC 6455 §9.1.
    ///
    /// Several field lines of the name are one value, joined by commas. Empty entries between
    /// commas are passed over (RFC 9110 §5.6.1.2).
    package static func parse(_ value: String) -> [ExtensionEntry]? {
        var parser = ExtensionParser(text: Bytes(value.utf8))
        return parser.list()
    }

    /// Prints a list of entries as a field value.
    package static func print(_ entries: [ExtensionEntry]) -> String {
        entries.map(\.text).joined(separator: ", ")
    }
}

/// Reads the grammar of RFC 6455 §9.1 from a field value.
private struct ExtensionParser {
    let text: Bytes
    var position = 0

    init(text: Bytes) {
        self.text = text
    }

    private var current: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipBlanks() {
        while HTTPByte.isWhiteSpace(current ?? 0) { position += 1 }
    }

    private mutating func take(_ character: UInt8) -> Bool {
        guard current == character else { return false }
        position += 1
        return true
    }

    mutating func list() -> [ExtensionEntry]? {
        var entries: [ExtensionEntry] = []
        while true {
            skipBlanks()
            if take(UInt8(ascii: ",")) { continue }
            if current == nil { return entries }
            guard let entry = entry() else { return nil }
            entries.append(entry)
            skipBlanks()
            guard current == nil || current == UInt8(ascii: ",") else { return nil }
        }
    }

    private mutating func entry() -> ExtensionEntry? {
        guard let name = token() else { return nil }
        var entry = ExtensionEntry(name)
        while true {
            skipBlanks()
            guard take(UInt8(ascii: ";")) else { return entry }
            skipBlanks()
            guard let name = token() else { return nil }
            var parameter = ExtensionEntry.Parameter(name)
            skipBlanks()
            if take(UInt8(ascii: "=")) {
                skipBlanks()
                guard let value = current == UInt8(ascii: "\"") ? quoted() : token() else {
                    return nil
                }
                parameter.value = value
            }
            entry.parameters.append(parameter)
        }
    }

    private mutating func token() -> String? {
        let start = position
        while let byte = current, HTTPByte.isToken(byte) { position += 1 }
        guard position > start else { return nil }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    /// A quoted string whose content, unescaped, is a token.
    private mutating func quoted() -> String? {
        position += 1
        var content = Bytes()
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                return content.isEmpty ? nil : String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = current, HTTPByte.isToken(escaped) else { return nil }
                content.append(escaped)
                position += 1
            default:
                guard HTTPByte.isToken(byte) else { return nil }
                content.append(byte)
            }
        }
        return nil
    }
}

import Wire

/// The parts of an entry's URL that stand on the wire; others than http, https, ws and wss have
/// no reading.
struct HARURL: Equatable {
    /// `host` or `host:port`, as it stands in the URL.
    var authority: String
    /// Without the brackets of an IPv6 address.
    var host: String
    var port: UInt16
    /// Path and query, escaped where a request line demands it.
    var target: String

    init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            text.utf8[colon...].starts(with: "://".utf8)
        else { return nil }
        let standard: UInt16
        switch text[..<colon].lowercased() {
        case "http", "ws": standard = 80
        case "https", "wss": standard = 443
        default: return nil
        }
        var rest = Substring(text.utf8[text.utf8.index(colon, offsetBy: 3)...])
        let end = rest.utf8.firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        var authority = rest[..<(end ?? rest.endIndex)]
        rest = rest[(end ?? rest.endIndex)...]
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[authority.utf8.index(after: at)...]
        }
        guard !authority.isEmpty else { return nil }
        self.authority = HARText.line(String(authority))
        var host = authority
        port = standard
        if let last = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
            !authority.utf8[last...].contains(UInt8(ascii: "]"))
        {
            host = authority[..<last]
            let digits = authority[authority.utf8.index(after: last)...]
            if !digits.isEmpty {
                guard let number = UInt16(digits) else { return nil }
                port = number
            }
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self.host = HARText.line(String(host))
        var target = rest.utf8.prefix { $0 != UInt8(ascii: "#") }
        let needsSlash = target.first != UInt8(ascii: "/")
        var bytes = needsSlash ? Bytes("/".utf8) : Bytes()
        while let byte = target.popFirst() {
            if byte > 0x20, byte != 0x7f {
                bytes.append(byte)
            } else {
                bytes += Bytes(PercentText.encode(String(Unicode.Scalar(byte))).utf8)
            }
        }
        self.target = String(decoding: bytes, as: UTF8.self)
    }
}

/// Texts of a HAR as they may stand on the wire.
enum HARText {
    /// A text without control characters or white space around it, for a line of a head.
    static func line(_ text: String) -> String {
        let bytes = text.utf8.map { $0 < 0x20 || $0 == 0x7f ? UInt8(ascii: " ") : $0 }
        var line = bytes[...]
        while line.first == UInt8(ascii: " ") { line.removeFirst() }
        while line.last == UInt8(ascii: " ") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Whether a text may be a method that a decoder takes for one.
    static func isMethod(_ text: String) -> Bool {
        isToken(text) && text.utf8.count < HTTPLimits().maximumMethod
    }

    /// Whether a text may be a method or a field's name (RFC 9110 §5.6.2).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// The fields of a head, and how many names could not be any.
    ///
    /// Pseudo-fields of HTTP/2 are left out; of values that a browser joined with line feeds,
    /// each becomes a line.
    static func fields(_ fields: [FieldLine]) -> (lines: [FieldLine], bad: Int) {
        var lines: [FieldLine] = []
        var bad = 0
        for field in fields where !field.name.utf8.starts(with: ":".utf8) {
            guard isToken(field.name) else {
                bad += 1
                continue
            }
            for value in field.value.split(separator: "\n", omittingEmptySubsequences: false) {
                lines.append(FieldLine(field.name, line(String(value))))
            }
        }
        return (lines, bad)
    }
}

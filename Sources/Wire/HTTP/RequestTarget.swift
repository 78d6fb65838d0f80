/// A part of a URI as it crossed, and what its percent-escapes stand for (RFC 3986 §2.1).
package struct PercentText: Hashable, Sendable {
    /// As it crossed.
    package var text: String
    /// With the escapes replaced; U+FFFD for what is not UTF-8.
    package var decoded: String
    /// Whether each `%` has two hexadecimal digits behind it; others are left as they are.
    package var isValid: Bool

    /// Decodes a text; `plusIsSpace` as in queries that come from forms.
    package init(_ text: some StringProtocol, plusIsSpace: Bool = false) {
        self.text = String(text)
        isValid = true
        guard text.utf8.contains(where: { $0 == 0x25 || (plusIsSpace && $0 == 0x2b) }) else {
            decoded = self.text
            return
        }
        var bytes = Bytes()
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == 0x2b, plusIsSpace {
                bytes.append(HTTPByte.space)
            } else if byte == 0x25 {
                let digits = rest.prefix(2).compactMap(HTTPByte.hexValue)
                if digits.count == 2 {
                    bytes.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                } else {
                    isValid = false
                    bytes.append(byte)
                }
            } else {
                bytes.append(byte)
            }
        }
        decoded = String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes all but the unreserved characters (RFC 3986 §2.3), for a name, a value or a
    /// path's segment.
    package static func encode(_ plain: String) -> String {
        let digits = Bytes("0123456789ABCDEF".utf8)
        var bytes = Bytes()
        for byte in plain.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                bytes.append(byte)
            default:
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 0xf)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A request's target, taken apart without loss: `text` is what crossed (RFC 9112 §3.2).
package struct RequestTarget: Hashable, Sendable {
    /// The forms that a target can have.
    package enum Form: Hashable, Sendable {
        /// `/path?query`.
        case origin
        /// `http://host/path?query`.
        case absolute
        /// `host:port`, for CONNECT.
        case authority
        /// `*`, for OPTIONS.
        case asterisk
        case unknown
    }

    /// A `name=value` of the query.
    package struct QueryItem: Hashable, Sendable {
        package var name: PercentText
        /// Nil where there is no `=`.
        package var value: PercentText?
    }

    /// As it crossed.
    package let text: String
    package let form: Form
    /// `host:port` of the absolute and authority forms.
    package let authority: String?
    /// Up to the `?`; empty in the authority form.
    package let path: PercentText
    /// Behind the `?` and up to a `#`; nil without one.
    package let query: String?

    /// Takes a target apart; any text has a reading.
    package init(_ text: String) {
        self.text = text
        let utf8 = text.utf8
        var rest = Substring(text)
        if text == "*" {
            form = .asterisk
            authority = nil
        } else if utf8.first == 0x2f {
            form = .origin
            authority = nil
        } else if let scheme = text.utf8.firstIndex(of: HTTPByte.colon),
            utf8[scheme...].starts(with: "://".utf8), scheme != utf8.startIndex
        {
            form = .absolute
            rest = text[utf8.index(scheme, offsetBy: 3)...]
            let end = rest.utf8.firstIndex { $0 == 0x2f || $0 == 0x3f || $0 == 0x23 }
            authority = String(rest[..<(end ?? rest.endIndex)])
            rest = rest[(end ?? rest.endIndex)...]
        } else if Self.isAuthority(text) {
            form = .authority
            authority = text
            rest = ""
        } else {
            form = .unknown
            authority = nil
        }
        let pathEnd = rest.utf8.firstIndex { $0 == 0x3f || $0 == 0x23 } ?? rest.endIndex
        path = PercentText(rest[..<pathEnd])
        if pathEnd < rest.endIndex, rest.utf8[pathEnd] == 0x3f {
            let behind = rest[rest.utf8.index(after: pathEnd)...]
            query = String(behind[..<(behind.utf8.firstIndex(of: 0x23) ?? behind.endIndex)])
        } else {
            query = nil
        }
    }

    /// The query's parts between `&`, in order, empty ones left out; `+` is a space in them.
    package var queryItems: [QueryItem] {
        guard let query else { return [] }
        return query.utf8.split(separator: 0x26).map { part in
            let part = Substring(part)
            guard let equals = part.utf8.firstIndex(of: HTTPByte.equals) else {
                return QueryItem(name: PercentText(part, plusIsSpace: true), value: nil)
            }
            return QueryItem(
                name: PercentText(part[..<equals], plusIsSpace: true),
                value: PercentText(part[part.utf8.index(after: equals)...], plusIsSpace: true))
        }
    }

    /// The decoded value of the query's first part with this decoded name; `""` without `=`.
    package func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name.decoded == name }.map { $0.value?.decoded ?? "" }
    }

    /// Makes the text of a target from a path that needs no escapes and plain query items.
    package static func text(path: String, query: [(name: String, value: String)]) -> String {
        guard !query.isEmpty else { return path }
        let items = query.map { "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))" }
        return "\(path)?\(items.joined(separator: "&"))"
    }

    /// Whether the text is `host:port` with digits for the port.
    private static func isAuthority(_ text: String) -> Bool {
        guard let colon = text.utf8.lastIndex(of: HTTPByte.colon), colon != text.startIndex
        else { return false }
        let port = text.utf8[text.utf8.index(after: colon)...]
        return !port.isEmpty && port.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            && !text.utf8.contains { $0 == 0x2f || $0 == 0x3f || $0 == 0x40 || $0 == 0x20 }
    }
}

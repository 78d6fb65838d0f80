import Wire

/// URLs, hosts and queries: their structure stays.
extension TextRedactor {
    /// Schemes whose URLs have no host.
    static let opaqueSchemes: Set<String> = [
        "tel", "sms", "smsto", "mailto", "mms", "geo", "callto", "facetime", "facetime-audio",
        "sip", "sips", "xmpp", "skype", "im", "data", "javascript",
    ]

    func url(
        _ text: Bytes, _ start: Int, _ chunkEnd: Int, _ mode: Mode, _ output: inout Bytes
    ) -> Int? {
        guard let colon = Self.endOfScheme(text, start, chunkEnd) else { return nil }
        let hasHost = text[(colon + 1)...].starts(with: Bytes("//".utf8))
        if !hasHost {
            let scheme = String(
                decoding: Self.lowercased(Bytes(text[start..<colon])), as: UTF8.self)
            guard Self.opaqueSchemes.contains(scheme), colon + 1 < chunkEnd else { return nil }
        }
        var end = chunkEnd
        while end > colon + 1, ".,;:!?)]'".utf8.contains(text[end - 1]) { end -= 1 }
        // A scheme by itself opens an app and tells of nobody.
        if hasHost, mode == .named, end <= colon + 3 { return nil }
        output += redacted(url: Bytes(text[start..<end]))
        return end
    }

    /// The colon behind a scheme (RFC 3986 §3.1); nil where none begins here.
    static func endOfScheme(_ text: Bytes, _ start: Int, _ end: Int) -> Int? {
        guard start < end, (text[start] | 0x20) &- 0x61 < 26 else { return nil }
        var position = start
        while position < end, position - start <= 32 {
            let byte = text[position]
            if byte == UInt8(ascii: ":") { return position }
            guard isWordByte(byte) || "+.-".utf8.contains(byte) else { return nil }
            position += 1
        }
        return nil
    }

    /// A whole URL: its scheme, its structure and the names in its query stay.
    func redacted(url text: Bytes) -> Bytes {
        guard let colon = Self.endOfScheme(text, 0, text.count) else {
            return redacted(text, .free)
        }
        count(.url)
        var output = Bytes(text[...colon])
        var rest = Bytes(text[(colon + 1)...])
        if rest.starts(with: Bytes("//".utf8)) {
            let end = rest[2...].firstIndex { "/?#".utf8.contains($0) } ?? rest.count
            output += "//".utf8
            output += authority(Bytes(rest[2..<end]))
            rest = Bytes(rest[end...])
        }
        return output + redacted(urlEnd: rest) { _ in false }
    }

    /// What stands behind a URL's host: its path, query and fragment.
    ///
    /// - Parameter keeps: says which parts of a path stay.
    func redacted(urlEnd text: Bytes, keeps: (Bytes) -> Bool) -> Bytes {
        let hash = text.firstIndex(of: UInt8(ascii: "#")) ?? text.count
        let question = text[..<hash].firstIndex(of: UInt8(ascii: "?")) ?? hash
        var output: Bytes = []
        for byte in text[..<question].split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            if byte.startIndex > 0 { output.append(UInt8(ascii: "/")) }
            let part = Bytes(byte)
            output += keeps(part) ? part : component(part, plusIsSpace: false)
        }
        if question < hash {
            output.append(UInt8(ascii: "?"))
            output += redacted(query: Bytes(text[(question + 1)..<hash]))
        }
        if hash < text.count {
            output.append(UInt8(ascii: "#"))
            output += component(Bytes(text[(hash + 1)...]), plusIsSpace: false)
        }
        return output
    }

    func authority(_ text: Bytes) -> Bytes {
        var output: Bytes = []
        var rest = text
        if let at = text.lastIndex(of: UInt8(ascii: "@")) {
            output = component(Bytes(text[..<at]), plusIsSpace: false) + [UInt8(ascii: "@")]
            rest = Bytes(text[(at + 1)...])
        }
        return output + redacted(hostAndPort: rest)
    }

    /// A host, or an address, with a port behind it or without.
    func redacted(hostAndPort text: Bytes) -> Bytes {
        if text.first == UInt8(ascii: "["), let end = text.firstIndex(of: UInt8(ascii: "]")) {
            let inner = Bytes(text[1..<end])
            return [UInt8(ascii: "[")] + (pseudonyms.address(inner) ?? pseudonyms.host(inner))
                + text[end...]
        }
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")),
            text[(colon + 1)...].allSatisfy(Self.isDigit)
        else {
            if !Self.isReserved(host: text) { remain(.host) }
            return pseudonyms.host(text)
        }
        let name = Bytes(text[..<colon])
        if !Self.isReserved(host: name) { remain(.host) }
        return pseudonyms.host(name) + text[colon...]
    }

    /// The fields of a query: names stay, values go.
    func redacted(query text: Bytes) -> Bytes {
        redacted(query: text) { (_, _) in nil }
    }

    /// The same; `special` gives what becomes of a field, by its name and decoded value, and nil
    /// where it is like others.
    func redacted(
        query text: Bytes, special: (Bytes, Bytes) -> QueryField?
    ) -> Bytes {
        var output: Bytes = []
        for pair in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            if pair.startIndex > 0 { output.append(UInt8(ascii: "&")) }
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = Bytes(pair[..<(equals ?? pair.endIndex)])
            output += Self.isName(name) ? name : component(name, plusIsSpace: true)
            guard let equals else { continue }
            output.append(UInt8(ascii: "="))
            let value = Bytes(pair[(equals + 1)...])
            switch special(name, value) {
            case .kept?: output += value
            case .replaced(let other)?: output += other
            case nil: output += Self.isHarmless(value) ? value : component(value, plusIsSpace: true)
            }
        }
        return output
    }

    /// What becomes of a field of a query.
    enum QueryField {
        case kept
        case replaced(Bytes)
    }

    /// Whether a name is one that a program chose.
    static func isName(_ name: Bytes) -> Bool {
        name.count <= 40
            && name.allSatisfy { isWordByte($0) || "_-.[]$".utf8.contains($0) }
            && name.count(where: isDigit) < 7
    }

    static func isHarmless(_ value: Bytes) -> Bool {
        value.count <= 2 && value.allSatisfy(isDigit)
            || ProtocolWords.switches.contains(String(decoding: value, as: UTF8.self))
    }

    /// A part of a URL, decoded, replaced and encoded again (RFC 3986 §2.1).
    func component(_ text: Bytes, plusIsSpace: Bool) -> Bytes {
        let plus = UInt8(ascii: "+")
        let percent = UInt8(ascii: "%")
        let isEncoded = text.contains(percent)
        guard isEncoded || plusIsSpace && text.contains(plus) else {
            return isValidUTF8(text.span) ? redacted(text, .free) : Self.filler(text)
        }
        // A telephone number's sign stands as it is in most URLs.
        let hasPlus =
            plusIsSpace && !(text.first == plus && text.dropFirst().allSatisfy(Self.isDigit))
        guard let decoded = Self.decoded(text, plusIsSpace: hasPlus) else {
            return Self.filler(text)
        }
        let isRaw = text.contains { $0 >= 0x80 }
        var output: Bytes = []
        for byte in redacted(decoded, .free) {
            if byte == 0x20, hasPlus, text.contains(plus) {
                output.append(plus)
            } else if Self.isUnreserved(byte) || byte >= 0x80 && isRaw
                || text.contains(byte) && byte != percent && !(byte == plus && hasPlus)
            {
                output.append(byte)
            } else {
                output += [percent, Self.upperHex(byte >> 4), Self.upperHex(byte & 15)]
            }
        }
        return output
    }

    static func isUnreserved(_ byte: UInt8) -> Bool {
        isWordByte(byte) || "-._~".utf8.contains(byte)
    }

    static func upperHex(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
    }

    /// Decoded text; nil where it is no UTF-8.
    static func decoded(_ text: Bytes, plusIsSpace: Bool) -> Bytes? {
        var decoded: Bytes = []
        var position = 0
        while position < text.count {
            if text[position] == UInt8(ascii: "%"), position + 2 < text.count,
                let high = hexDigitValue(text[position + 1]),
                let low = hexDigitValue(text[position + 2])
            {
                decoded.append(high << 4 | low)
                position += 3
                continue
            }
            let isSpace = plusIsSpace && text[position] == UInt8(ascii: "+")
            decoded.append(isSpace ? 0x20 : text[position])
            position += 1
        }
        return isValidUTF8(decoded.span) ? decoded : nil
    }

    /// The same number of bytes, all of one letter.
    static func filler(_ bytes: Bytes) -> Bytes {
        Bytes(repeating: UInt8(ascii: "x"), count: bytes.count)
    }
}

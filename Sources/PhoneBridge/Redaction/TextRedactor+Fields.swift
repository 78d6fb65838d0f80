import Wire

/// What becomes of the texts and numbers of fields.
extension TextRedactor {
    /// A text of a field, by what is to become of it.
    func redacted(
        _ text: Bytes, _ treatment: RedactionFields.Treatment, words: Set<Bytes>
    ) -> Bytes {
        switch treatment {
        case .kept: return text
        case .text: return redacted(text, .free)
        case .sentence: return redacted(text, .sentence)
        case .name: return redacted(text, .named)
        case .word: return Self.isProtocolWord(text) ? text : redacted(text, .free)
        case .id:
            let other = Self.isPlainID(text) ? text : redacted(text, .free)
            remember(id: text, as: other)
            return other
        case .phoneID:
            let other = redacted(text, .free)
            remember(id: text, as: other)
            return other
        case .url: return redacted(urlField: text)
        case .instant: return moved(text)
        case .region: return Self.isRegion(text) ? text : redacted(text, .free)
        case .unknown: return words.contains(text) ? text : redacted(text, .free)
        }
    }

    private static func isProtocolWord(_ text: Bytes) -> Bool {
        text.count <= 64
            && text.allSatisfy { isWordByte($0) || "_.:-/".utf8.contains($0) }
            && text.count(where: isDigit) < 7
    }

    /// Whether an id looks like one that a machine made: no address, no number of a phone.
    private static func isPlainID(_ text: Bytes) -> Bool {
        guard text.count <= 256, text.first != UInt8(ascii: "+"),
            text.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "@") })
        else { return false }
        let isMobile =
            text.count == 11 && text[0] == UInt8(ascii: "1") && text[1] >= UInt8(ascii: "3")
            && text.allSatisfy(isDigit)
        return !isMobile
    }

    /// An ISO 3166 region, or the name of a time zone.
    private static func isRegion(_ text: Bytes) -> Bool {
        if text.count <= 3 { return text.allSatisfy { isWordByte($0) } }
        let areas = [
            "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe",
            "Indian", "Pacific", "Etc",
        ]
        if ["UTC", "GMT"].contains(String(decoding: text.prefix(3), as: UTF8.self)),
            text.count <= 9
        {
            return true
        }
        let slash = text.firstIndex(of: UInt8(ascii: "/")) ?? 0
        return text.count <= 40
            && areas.contains(String(decoding: text[..<slash], as: UTF8.self))
            && text.allSatisfy { isWordByte($0) || "/_+-".utf8.contains($0) }
    }

    private func redacted(urlField text: Bytes) -> Bytes {
        // A scheme by itself opens an app.
        if text.suffix(3).elementsEqual("://".utf8),
            text.dropLast(3).allSatisfy({
                Self.isWordByte($0) || "+.-".utf8.contains($0)
            })
        {
            return text
        }
        return isValidUTF8(text.span) ? redacted(url: text) : Self.filler(text)
    }

    /// An instant, or what stands in its place: its date moves, its form stays.
    func moved(_ text: Bytes) -> Bytes {
        if let date = Timestamp.date(ofTextBeginning: text, movedBy: pseudonyms.key.days) {
            let rest = text[10...]
            let isTime =
                rest.count <= 40
                && rest.allSatisfy { Self.isDigit($0) || "Tt:.,+-Zz []/_".utf8.contains($0) }
            return date + (isTime ? Bytes(rest) : redacted(Bytes(rest), .free))
        }
        return moved(epoch: text) ?? redacted(text, .free)
    }

    /// A count of seconds, or of a thousandth, millionth or billionth of them, since 1970; nil for
    /// other numbers and for times before 2001 and after 2096.
    func moved(epoch digits: Bytes) -> Bytes? {
        let end = digits.firstIndex { !Self.isDigit($0) } ?? digits.count
        let units: [Int: Int64] = [10: 1, 13: 1000, 16: 1_000_000, 19: 1_000_000_000]
        guard let unit = units[end],
            let number = Int64(String(decoding: digits[..<end], as: UTF8.self)),
            (1_000_000_000...4_000_000_000).contains(number / unit)
        else { return nil }
        let moved = number + pseudonyms.key.days * 86_400 * unit
        let text = Bytes(String(moved).utf8)
        return text + digits[end...]
    }

    /// A number in a field that tells of people: other digits, of the same form.
    func redacted(number text: Bytes) -> Bytes {
        var output: Bytes = []
        var position = 0
        while position < text.count {
            var end = position
            while end < text.count, Self.isDigit(text[end]) { end += 1 }
            guard end > position else {
                output.append(text[position])
                position += 1
                continue
            }
            let run = Bytes(text[position..<end])
            let isExponent = position > 0 && "eE".utf8.contains(text[position - 1])
            // One and two digits, such as degrees, and exponents would make another number of it.
            output += run.count <= 2 || isExponent ? run : redacted(run, .free)
            position = end
        }
        return output
    }
}

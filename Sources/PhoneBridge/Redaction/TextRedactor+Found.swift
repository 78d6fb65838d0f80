import Wire

/// What tells of people wherever it stands in a text: addresses, numbers, dates and known ids.
extension TextRedactor {
    func count(_ kind: Contract.Personal) {
        guard found == nil else {
            found?.append(kind)
            return
        }
        manifest.found[kind.rawValue, default: 0] += 1
    }

    func remain(_ kind: RedactionScan.Remain.Kind) {
        guard looksForRemains else { return }
        remainCount += 1
        guard remains.count < Self.maximumRemains else { return }
        remains.append(.init(seq: seq, kind: kind))
    }

    /// A host of which nobody is the owner, or no name (RFC 2606, RFC 6761).
    static func isReserved(host: Bytes) -> Bool {
        guard let last = host.split(separator: UInt8(ascii: ".")).last else { return true }
        let words = ["example", "local", "localhost", "test", "invalid"]
        return words.contains(String(decoding: lowercased(Bytes(last)), as: UTF8.self))
            || !host.contains(UInt8(ascii: ".")) || Pseudonyms.parts(ofIPv4: host) != nil
    }

    func knownID(
        _ text: Bytes, _ start: Int, _ chunkEnd: Int, _ output: inout Bytes
    ) -> Int? {
        var end = start
        while end < chunkEnd {
            let byte = text[end]
            guard Self.isWordByte(byte) || "_-.:".utf8.contains(byte) else { break }
            end += 1
        }
        while end > start {
            if let other = ids[Bytes(text[start..<end])] {
                output += other
                return end
            }
            // A point or a colon behind it is the sentence's.
            guard !Self.isWordByte(text[end - 1]) else { return nil }
            end -= 1
        }
        return nil
    }

    func date(_ text: Bytes, _ start: Int, _ output: inout Bytes) -> Int? {
        let end = start + 10
        guard end <= text.count, text[start + 4] == UInt8(ascii: "-"),
            end == text.count || !Self.isDigit(text[end]),
            let date = Timestamp.date(
                ofTextBeginning: Bytes(text[start..<end]), movedBy: pseudonyms.key.days)
        else { return nil }
        output += date
        count(.instant)
        // The time of the day stays, as far as it is one.
        var rest = end
        guard rest < text.count, text[rest] | 0x20 == UInt8(ascii: "t") else { return end }
        rest += 1
        while rest < text.count,
            Self.isDigit(text[rest]) || ":.+-Zz".utf8.contains(text[rest])
        {
            rest += 1
        }
        guard rest > end + 5, rest - end < 40 else { return end }
        output += text[end..<rest]
        return rest
    }

    func uuid(
        _ text: Bytes, _ start: Int, _ mode: Mode, _ output: inout Bytes
    ) -> Int? {
        let end = start + 36
        guard mode != .named, end <= text.count, text[start + 8] == UInt8(ascii: "-"),
            end == text.count || !Self.isWordByte(text[end])
        else { return nil }
        for offset in 0..<36 {
            let isDash = [8, 13, 18, 23].contains(offset)
            let byte = text[start + offset]
            guard isDash ? byte == UInt8(ascii: "-") : hexDigitValue(byte) != nil else {
                return nil
            }
        }
        output += pseudonyms.hexadecimal(Bytes(text[start..<end]))
        return end
    }

    func address(_ text: Bytes, _ start: Int, _ output: inout Bytes) -> Int? {
        var end = start
        while end < text.count, Self.isDigit(text[end]) || text[end] == UInt8(ascii: ".") {
            end += 1
        }
        if end > start, text[end - 1] == UInt8(ascii: ".") { end -= 1 }
        guard end - start <= 15, let address = pseudonyms.address(Bytes(text[start..<end]))
        else { return nil }
        output += address
        return end
    }

    func phone(
        _ text: Bytes, _ start: Int, _ mode: Mode, _ output: inout Bytes
    ) -> Int? {
        var digits: Bytes = []
        var position = start
        let isInternational = text[position] == UInt8(ascii: "+")
        if isInternational { position += 1 }
        var end = position
        var separators = 0
        while position < text.count, digits.count <= 15 {
            let byte = text[position]
            if Self.isDigit(byte) {
                digits.append(byte)
                separators = 0
                end = position + 1
            } else {
                separators += 1
                guard " -.()".utf8.contains(byte), separators <= 2 else { break }
            }
            position += 1
        }
        guard (7...15).contains(digits.count),
            end == text.count || !Self.isWordByte(text[end])
        else { return nil }
        if mode == .named {
            let isPlain = end - start == digits.count
            let isMobile =
                isPlain && digits.count == 11 && digits[0] == UInt8(ascii: "1")
                && digits[1] >= UInt8(ascii: "3")
            guard isInternational || isMobile else { return nil }
            remain(.phone)
        }
        let other = pseudonyms.phone(digits, isInternational: isInternational)
        var next = 0
        for byte in text[start..<end] {
            output.append(Self.isDigit(byte) ? other[next] : byte)
            if Self.isDigit(byte) { next += 1 }
        }
        count(.phone)
        return end
    }

    func email(
        _ text: Bytes, _ start: Int, _ chunkEnd: Int, _ output: inout Bytes
    ) -> Int? {
        var at = start
        while at < chunkEnd,
            Self.isWordByte(text[at]) || "._%+-'!#$&*=^~|".utf8.contains(text[at])
        {
            at += 1
        }
        guard at > start, at < chunkEnd, text[at] == UInt8(ascii: "@") else { return nil }
        var end = at + 1
        while end < chunkEnd, Self.isWordByte(text[end]) || ".-_".utf8.contains(text[end]) {
            end += 1
        }
        while end > at + 1, !Self.isWordByte(text[end - 1]) { end -= 1 }
        guard end > at + 1 else { return nil }
        if !Self.isReserved(host: Bytes(text[(at + 1)..<end])) { remain(.email) }
        output += localPart(Bytes(text[start..<at]))
        output.append(UInt8(ascii: "@"))
        output += pseudonyms.host(Bytes(text[(at + 1)..<end]))
        count(.email)
        return end
    }

    /// What stands before the sign of an e-mail address: word by word.
    func localPart(_ text: Bytes) -> Bytes {
        var output: Bytes = []
        var position = 0
        while position < text.count { position = plain(text, position, .free, &output) }
        return output
    }
}

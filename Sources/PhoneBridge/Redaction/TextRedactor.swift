import Wire

/// Replaces what a text tells about people, word by word; signs and white space stay.
///
/// E-mail addresses, URLs, phone numbers and dates are found wherever they stand, so that they get
/// the stand-ins that they have in fields of their own. Texts are UTF-8.
final class TextRedactor {
    /// How much of a text goes.
    enum Mode: UInt8, Sendable {
        /// Every word and number.
        case free
        /// Every word and number that is none of the protocol's: sentences of programs.
        case sentence
        /// Only e-mail addresses, URLs with a host, and phone numbers: texts that name things.
        case named
    }

    var pseudonyms: Pseudonyms
    /// Ids that sentences quote, and what became of them.
    private(set) var ids: [Bytes: Bytes] = [:]
    /// What was touched so far.
    var manifest = RedactionManifest()

    /// For a scan: whether what is no stand-in is looked for, in which event, and what was found.
    var looksForRemains = false
    var seq = 0
    private(set) var remains: [RedactionScan.Remain] = []
    private(set) var remainCount = 0

    private var texts: [Bytes: Known] = [:]
    /// What was found in the text under way; nil where there is none.
    private var found: [Contract.Personal]?

    /// What a text became, and what was found in it.
    private struct Known {
        var text: Bytes
        var found: [Contract.Personal]
    }

    /// Short texts that are remembered; an entry takes some hundred bytes.
    private static let maximumTexts = 8192
    private static let maximumText = 128
    private static let maximumIDs = 65_536
    private static let maximumRemains = 1000

    init(pseudonyms: Pseudonyms) {
        self.pseudonyms = pseudonyms
    }

    /// Remembers an id for sentences in which it is quoted.
    func remember(id: Bytes, as other: Bytes) {
        guard id.count <= Self.maximumText, ids[id] == nil else { return }
        if ids.count >= Self.maximumIDs { ids.removeAll(keepingCapacity: true) }
        ids[id] = other
    }

    /// The text with stand-ins.
    func redacted(_ text: Bytes, _ mode: Mode) -> Bytes {
        guard !text.isEmpty else { return text }
        // What sentences quote may have become known since.
        let remembers = mode == .free && text.count <= Self.maximumText && !looksForRemains
        if remembers, let known = texts[text] {
            for kind in known.found { count(kind) }
            return known.text
        }
        let outer = found
        found = []
        let result = made(text, mode)
        let own = found ?? []
        found = outer
        for kind in own { count(kind) }
        guard remembers else { return result }
        if texts.count >= Self.maximumTexts { texts.removeAll(keepingCapacity: true) }
        texts[text] = Known(text: result, found: own)
        return result
    }

    /// The same of a string.
    func redacted(_ text: String, _ mode: Mode) -> String {
        String(decoding: redacted(Bytes(text.utf8), mode), as: UTF8.self)
    }

    // MARK: Scanning

    private func made(_ text: Bytes, _ mode: Mode) -> Bytes {
        var output: Bytes = []
        output.reserveCapacity(text.count + 16)
        var position = 0
        var chunkEnd = 0
        var hasAt = false
        while position < text.count {
            let byte = text[position]
            guard byte >= 0x80 || Self.isWordByte(byte) || byte == UInt8(ascii: "+") else {
                output.append(byte)
                position += 1
                continue
            }
            if position >= chunkEnd {
                chunkEnd = Self.endOfChunk(text, position)
                hasAt = text[position..<max(position, chunkEnd)].contains(UInt8(ascii: "@"))
            }
            if let end = special(text, position, chunkEnd, hasAt, mode, &output) {
                position = end
            } else {
                position = plain(text, position, mode, &output)
            }
        }
        return output
    }

    /// The end of the ASCII that may belong to one URL or address.
    private static func endOfChunk(_ text: Bytes, _ start: Int) -> Int {
        var end = start
        while end < text.count, text[end] > 0x20, text[end] < 0x7f {
            switch text[end] {
            case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"),
                UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}"):
                return end
            default: end += 1
            }
        }
        return end
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isWordByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }

    /// A URL, an address, a date, a phone number or a known id that begins here; gives its end.
    private func special(
        _ text: Bytes, _ start: Int, _ chunkEnd: Int, _ hasAt: Bool, _ mode: Mode,
        _ output: inout Bytes
    ) -> Int? {
        let byte = text[start]
        guard byte < 0x80, start == 0 || !Self.isWordByte(text[start - 1]) else { return nil }
        if let end = url(text, start, chunkEnd, mode, &output) { return end }
        if hasAt, let end = email(text, start, chunkEnd, &output) { return end }
        if mode == .sentence, let end = knownID(text, start, chunkEnd, &output) { return end }
        guard Self.isDigit(byte) || byte == UInt8(ascii: "+") else {
            return uuid(text, start, mode, &output)
        }
        if mode != .named, let end = date(text, start, &output) { return end }
        if let end = uuid(text, start, mode, &output) ?? address(text, start, &output) {
            return end
        }
        return phone(text, start, mode, &output)
    }

    /// A word, or one character, that is nothing special; gives its end.
    private func plain(
        _ text: Bytes, _ start: Int, _ mode: Mode, _ output: inout Bytes
    ) -> Int {
        var end = start
        var isASCII = true
        while end < text.count {
            if text[end] < 0x80 {
                guard Self.isWordByte(text[end]) else { break }
                end += 1
                continue
            }
            let (scalar, size) = Self.scalar(text, end)
            guard Symbol(scalar) != nil else { break }
            isASCII = false
            end += size
        }
        if end > start {
            let word = Bytes(text[start..<end])
            output += keeps(word, isASCII: isASCII, mode) ? word : pseudonyms.word(word)
            return end
        }
        guard text[start] >= 0x80 else {
            output.append(text[start])
            return start + 1
        }
        let (scalar, size) = Self.scalar(text, start)
        if mode != .named, let block = CharacterBlock(of: scalar) {
            output += Bytes(String(pseudonyms.character(scalar, in: block)).utf8)
        } else {
            output += text[start..<start + size]
        }
        return start + size
    }

    /// Whether a word tells nothing where it stands.
    private func keeps(_ word: Bytes, isASCII: Bool, _ mode: Mode) -> Bool {
        switch mode {
        case .free: return false
        case .named: return true
        case .sentence:
            guard isASCII else { return false }
            if word.allSatisfy(Self.isDigit) { return word.count <= 5 }
            return ProtocolWords.sentences.contains(Self.lowercased(word))
        }
    }

    static func lowercased(_ word: Bytes) -> Bytes {
        word.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
    }

    /// The scalar at a place of valid UTF-8, and its size.
    static func scalar(_ text: Bytes, _ start: Int) -> (Unicode.Scalar, Int) {
        let lead = text[start]
        let size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
        guard lead >= 0xc0, start + size <= text.count else { return ("\u{fffd}", 1) }
        var value = UInt32(lead) & (size == 2 ? 0x1f : size == 3 ? 0x0f : 0x07)
        for offset in 1..<size { value = value << 6 | UInt32(text[start + offset] & 0x3f) }
        return (Unicode.Scalar(value) ?? "\u{fffd}", size)
    }

    // MARK: What is found in texts

    private func count(_ kind: Contract.Personal) {
        guard found == nil else {
            found?.append(kind)
            return
        }
        manifest.found[kind.rawValue, default: 0] += 1
    }

    private func remain(_ kind: RedactionScan.Remain.Kind) {
        guard looksForRemains else { return }
        remainCount += 1
        guard remains.count < Self.maximumRemains else { return }
        remains.append(.init(seq: seq, kind: kind))
    }

    /// A host of which nobody is the owner, or no name (RFC 2606, RFC 6761).
    private static func isReserved(host: Bytes) -> Bool {
        guard let last = host.split(separator: UInt8(ascii: ".")).last else { return true }
        let words = ["example", "local", "localhost", "test", "invalid"]
        return words.contains(String(decoding: lowercased(Bytes(last)), as: UTF8.self))
            || !host.contains(UInt8(ascii: ".")) || Pseudonyms.parts(ofIPv4: host) != nil
    }

    private func knownID(
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

    private func date(_ text: Bytes, _ start: Int, _ output: inout Bytes) -> Int? {
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

    private func uuid(
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

    private func address(_ text: Bytes, _ start: Int, _ output: inout Bytes) -> Int? {
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

    private func phone(
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

    private func email(
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
    private func localPart(_ text: Bytes) -> Bytes {
        var output: Bytes = []
        var position = 0
        while position < text.count { position = plain(text, position, .free, &output) }
        return output
    }

    // MARK: URLs

    /// Schemes whose URLs have no host.
    private static let opaqueSchemes: Set<String> = [
        "tel", "sms", "smsto", "mailto", "mms", "geo", "callto", "facetime", "facetime-audio",
        "sip", "sips", "xmpp", "skype", "im", "data", "javascript",
    ]

    private func url(
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
    private static func endOfScheme(_ text: Bytes, _ start: Int, _ end: Int) -> Int? {
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

    private func authority(_ text: Bytes) -> Bytes {
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

    private static func isHarmless(_ value: Bytes) -> Bool {
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

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        isWordByte(byte) || "-._~".utf8.contains(byte)
    }

    private static func upperHex(_ value: UInt8) -> UInt8 {
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

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
    var remains: [RedactionScan.Remain] = []
    var remainCount = 0

    private var texts: [Bytes: Known] = [:]
    /// What was found in the text under way; nil where there is none.
    var found: [Contract.Personal]?

    /// What a text became, and what was found in it.
    private struct Known {
        var text: Bytes
        var found: [Contract.Personal]
    }

    /// Short texts that are remembered; an entry takes some hundred bytes.
    private static let maximumTexts = 8192
    private static let maximumText = 128
    private static let maximumIDs = 65_536
    static let maximumRemains = 1000

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
    func plain(
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
}

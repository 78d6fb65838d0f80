import Wire

/// Stand-ins for words, characters, phone numbers and hosts: the same for the same, under one key.
///
/// A word keeps its length, its script and which letters are large; different words of one length
/// get different stand-ins. Memory is bounded: what was made is remembered up to a limit, and made
/// again otherwise.
struct Pseudonyms: Sendable {
    let key: RedactionKey
    /// Whether addresses of machines are replaced as well.
    let changesAddresses: Bool

    private var words: [Bytes: Bytes] = [:]
    private var scalars: [UInt32: UInt32] = [:]

    /// Words and characters that are remembered.
    private static let maximumCount = 65_536
    /// Longer words are not remembered.
    private static let maximumWord = 64
    /// Symbols that are changed together; the rest of a longer word is changed by itself.
    private static let maximumRun = 48

    init(key: RedactionKey, changesAddresses: Bool) {
        self.key = key
        self.changesAddresses = changesAddresses
    }

    // MARK: Words

    /// The stand-in for a word, of letters and digits in UTF-8.
    mutating func word(_ word: Bytes) -> Bytes {
        if let known = words[word] { return known }
        let made = makeWord(word)
        guard word.count <= Self.maximumWord else { return made }
        if words.count >= Self.maximumCount { words.removeAll(keepingCapacity: true) }
        words[word] = made
        return made
    }

    private func makeWord(_ word: Bytes) -> Bytes {
        let isHex = Self.isHex(word)
        var symbols: [Symbol] = []
        symbols.reserveCapacity(word.count)
        for scalar in String(decoding: word, as: UTF8.self).unicodeScalars {
            guard var symbol = Symbol(scalar) else { continue }
            if isHex, symbol.alphabet == .latin { symbol.alphabet = .hexLetters }
            symbols.append(symbol)
        }
        if symbols.allSatisfy({ $0.alphabet == .digits }), symbols.first?.value != 0 {
            symbols[0].alphabet = .firstDigits
            symbols[0].value -= 1
        }
        var result: Bytes = []
        for start in stride(from: 0, to: symbols.count, by: Self.maximumRun) {
            var run = Array(symbols[start..<min(start + Self.maximumRun, symbols.count)])
            encipher(&run, "word")
            for symbol in run { result += Bytes(symbol.scalar.utf8) }
        }
        return result
    }

    /// Whether it is one of the long texts of hexadecimal digits that machines make.
    private static func isHex(_ word: Bytes) -> Bool {
        guard word.count >= 16 else { return false }
        var hasDigit = false
        var hasLower = false
        var hasUpper = false
        for byte in word {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
            case UInt8(ascii: "a")...UInt8(ascii: "f"): hasLower = true
            case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpper = true
            default: return false
            }
        }
        return hasDigit && hasLower != hasUpper
    }

    /// The stand-in for hexadecimal digits with signs between them, such as a UUID.
    func hexadecimal(_ text: Bytes) -> Bytes {
        var places: [Int] = []
        var symbols: [Symbol] = []
        for (index, byte) in text.enumerated() {
            guard let value = hexDigitValue(byte) else { continue }
            places.append(index)
            symbols.append(
                value < 10
                    ? Symbol(alphabet: .digits, value: value)
                    : Symbol(alphabet: .hexLetters, value: value - 10, isUpper: byte < 0x60))
        }
        encipher(&symbols, "word")
        var result = text
        for (place, symbol) in zip(places, symbols) {
            result[place] = UInt8(truncatingIfNeeded: symbol.scalar.value)
        }
        return result
    }

    /// The stand-in for a character that is replaced by itself.
    mutating func character(_ scalar: Unicode.Scalar, in block: CharacterBlock) -> Unicode.Scalar {
        if let known = scalars[scalar.value] { return Unicode.Scalar(known) ?? "x" }
        let index = scalar.value &- block.first
        let other =
            block.count == 0
            ? block.first : block.first + permuted(index, of: block.count, block.first)
        let made = Unicode.Scalar(other) ?? "x"
        if scalars.count >= Self.maximumCount { scalars.removeAll(keepingCapacity: true) }
        scalars[scalar.value] = made.value
        return made
    }

    // MARK: Permutations

    /// Changes symbols into others of the same alphabets: a permutation of all such runs.
    ///
    /// A Feistel network of four rounds: each half is moved by what the key makes of the other.
    private func encipher(_ symbols: inout [Symbol], _ purpose: String) {
        guard symbols.count > 1 else {
            guard let only = symbols.first else { return }
            symbols[0].value = UInt8(
                truncatingIfNeeded: permuted(
                    UInt32(only.value), of: UInt32(only.alphabet.size),
                    UInt32(only.alphabet.rawValue)))
            return
        }
        let values = move(
            symbols.map { Int($0.value) }, sizes: symbols.map(\.alphabet.size), purpose)
        for index in symbols.indices {
            symbols[index].value = UInt8(truncatingIfNeeded: values[index])
        }
    }

    private func move(_ values: [Int], sizes: [Int], _ purpose: String) -> [Int] {
        var values = values
        let middle = values.count / 2
        for round in 0..<4 {
            let changed = round % 2 == 0 ? middle..<values.count : 0..<middle
            let fixed = round % 2 == 0 ? 0..<middle : middle..<values.count
            var message: Bytes = [UInt8(round), UInt8(truncatingIfNeeded: values.count)]
            for index in fixed {
                message.append(UInt8(truncatingIfNeeded: values[index]))
                message.append(UInt8(truncatingIfNeeded: values[index] >> 8))
            }
            let code = key.code(purpose, message)
            for (place, index) in changed.enumerated() {
                // 24 symbols at most: as many pairs of bytes as there are, and then again.
                let pair = place % 16 * 2
                let number = Int(code[pair]) << 8 | Int(code[pair + 1])
                let more = place < 16 ? 0 : Int(code[31 - place % 16])
                values[index] = (values[index] + number + more) % sizes[index]
            }
        }
        return values
    }

    /// What a number below `count` becomes: a permutation of all of them.
    private func permuted(_ index: UInt32, of count: UInt32, _ name: UInt32) -> UInt32 {
        guard count > 1 else { return index }
        // Two digits to a base whose square is just above the count; what falls outside goes on.
        var base = 1
        while base * base < Int(count) { base += 1 }
        var number = Int(index)
        for _ in 0..<1000 {
            let moved = move(
                [number / base, number % base], sizes: [base, base], "character \(name)")
            number = moved[0] * base + moved[1]
            if number < Int(count) { return UInt32(number) }
        }
        return (index + 1) % count
    }

    // MARK: Phone numbers

    /// The stand-in for the digits of a phone number, as many of them.
    ///
    /// The prefix of the country stays, and how the number begins; with and without the prefix,
    /// one number gets one stand-in.
    func phone(_ digits: Bytes, isInternational: Bool) -> Bytes {
        let prefix = Self.prefix(of: digits, isInternational: isInternational)
        var national = Bytes(digits.dropFirst(prefix))
        let start = max(0, national.count - 8)
        var tail = national[start...].map {
            Symbol(alphabet: .digits, value: $0 &- UInt8(ascii: "0"))
        }
        if start == 0, let first = tail.first, first.value != 0 {
            tail[0].alphabet = .firstDigits
            tail[0].value = first.value - 1
        }
        encipher(&tail, "phone")
        for (offset, symbol) in tail.enumerated() {
            national[start + offset] = UInt8(truncatingIfNeeded: symbol.scalar.value)
        }
        if start > 1 {
            let code = key.code("phone head", Bytes(national[start...]))
            for index in 1..<start {
                // A mobile number of mainland China goes on with 3 to 9.
                let isMobile = index == 1 && start == 3 && national[0] == UInt8(ascii: "1")
                let (first, count): (UInt8, UInt8) = isMobile ? (3, 7) : (0, 10)
                let value = national[index] &- UInt8(ascii: "0") &- first
                let moved = (Int(value) + Int(code[index % 32])) % Int(count)
                national[index] = UInt8(ascii: "0") + first + UInt8(moved)
            }
        }
        return digits.prefix(prefix) + national
    }

    /// Digits of the country's prefix, zeros in front included (ITU-T E.164).
    private static func prefix(of digits: Bytes, isInternational: Bool) -> Int {
        var start = 0
        if !isInternational {
            guard digits.count >= 11, digits.starts(with: Bytes("00".utf8)) else { return 0 }
            start = 2
        }
        let code = digits.dropFirst(start).prefix(2).reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        let size =
            switch code {
            case 10...19, 70...79: 1
            case 20, 27, 28, 30...34, 36, 39, 40, 41, 43...49, 51...58, 60...66, 81, 82, 84, 86,
                90...95, 98:
                2
            default: 3
            }
        return min(start + size, max(0, digits.count - 4))
    }

    // MARK: Hosts

    /// The stand-in for the name of a host: its parts replaced, below the reserved `example`
    /// (RFC 2606); addresses and `localhost` stay.
    mutating func host(_ name: Bytes) -> Bytes {
        if let address = address(name) { return address }
        let lower = name.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        var labels = lower.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { Bytes($0) }
        if labels == [Bytes("localhost".utf8)] { return name }
        var ending: [Bytes] = []
        if labels.count > 1, let last = labels.popLast() {
            // Names on a local network end so, and nobody owns them.
            ending = [last == Bytes("local".utf8) ? last : Bytes("example".utf8)]
            if let name = labels.popLast() {
                // Of one name under two endings there are two owners.
                labels.append(hostLabel(name, under: last))
            }
        } else if let only = labels.popLast() {
            labels.append(hostLabel(only, under: []))
        }
        for index in labels.indices.dropLast() where labels[index] != Bytes("www".utf8) {
            labels[index] = hostLabel(labels[index], under: [])
        }
        return Bytes((labels + ending).joined(separator: [UInt8(ascii: ".")]))
    }

    private func hostLabel(_ label: Bytes, under ending: Bytes) -> Bytes {
        var result: Bytes = []
        for part in label.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false) {
            if !result.isEmpty || part.startIndex > label.startIndex { result.append(0x2d) }
            var symbols: [Symbol] = []
            for scalar in String(decoding: part, as: UTF8.self).unicodeScalars {
                if let symbol = Symbol(scalar) {
                    symbols.append(symbol)
                } else {
                    symbols.append(
                        Symbol(alphabet: .latin, value: UInt8(scalar.value % 26)))
                }
            }
            var run = Array(symbols.prefix(Self.maximumRun))
            encipher(&run, "host " + String(decoding: ending, as: UTF8.self))
            for symbol in run { result += Bytes(symbol.scalar.utf8) }
        }
        return result
    }

    /// What stands for an address of a machine; nil for a name.
    func address(_ name: Bytes) -> Bytes? {
        if let parts = Self.parts(ofIPv4: name) {
            return changesAddresses ? changed(parts) : name
        }
        guard name.contains(UInt8(ascii: ":")),
            name.allSatisfy({
                hexDigitValue($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            })
        else { return nil }
        guard changesAddresses, name != Bytes("::1".utf8), name != Bytes("::".utf8) else {
            return name
        }
        let isLocal = name.starts(with: Bytes("fe80".utf8))
        let code = key.code("address", name)
        var text = Bytes((isLocal ? "fe80::" : "2001:db8::").utf8)
        appendHex(code.span.extracting(0..<2), to: &text)
        text.append(UInt8(ascii: ":"))
        appendHex(code.span.extracting(2..<4), to: &text)
        return text
    }

    /// The four numbers of an IPv4 address; nil for anything else.
    static func parts(ofIPv4 text: Bytes) -> [UInt8]? {
        guard (7...15).contains(text.count) else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var numbers: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count),
                part.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt8(String(decoding: part, as: UTF8.self))
            else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// An address of the same kind: this machine, a private network, or one for tests
    /// (RFC 1918, RFC 2544).
    private func changed(_ parts: [UInt8]) -> Bytes {
        var parts = parts
        let fixed: Int
        switch (parts[0], parts[1]) {
        case (127, _), (0, _), (255, _): fixed = 4
        case (10, _): fixed = 1
        case (192, 168), (169, 254), (198, 18): fixed = 2
        case (172, 16...31): fixed = 2
        default:
            let code = key.code("address", parts)
            parts = [198, 18, code[0], code[1]]
            fixed = 4
        }
        if fixed < 4 {
            let moved = move(
                parts[fixed...].map { Int($0) },
                sizes: Array(repeating: 256, count: 4 - fixed), "address")
            for (offset, value) in moved.enumerated() {
                parts[fixed + offset] = UInt8(truncatingIfNeeded: value)
            }
        }
        return Bytes(parts.map { String($0) }.joined(separator: ".").utf8)
    }

    /// Bytes that stand for others, as many: equal for equal ones.
    func filler(for bytes: Bytes) -> Bytes {
        var code = key.code("filler", bytes)
        var result: Bytes = []
        while result.count < bytes.count {
            appendHex(code.span, to: &result)
            code = key.code("filler", code)
        }
        return Bytes(result.prefix(bytes.count))
    }
}

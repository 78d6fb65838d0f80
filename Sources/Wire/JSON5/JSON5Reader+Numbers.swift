extension JSON5Reader {
    static func beginsNumber(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || scalar == "+" || scalar == "-" || scalar == "."
    }

    /// Reads a number; gives it as JSON writes it.
    mutating func readNumber() throws(JSON5Error) -> String {
        let start = place
        var sign = ""
        if take("-") { sign = "-" } else { _ = take("+") }
        for word in ["Infinity", "NaN"] where follows(word) {
            throw JSON5Error(.notFinite(word), at: start)
        }
        let magnitude: String
        if current == "0", peek(1) == "x" || peek(1) == "X" {
            skip(2)
            magnitude = String(try readHexadecimal(from: start))
        } else {
            magnitude = try readDecimal(from: start)
        }
        // ECMAScript 5.1 §7.8.3: no letter or digit follows immediately.
        if let next = current, Self.isDigit(next) || Self.beginsIdentifier(next) || next == "\\" {
            throw unexpected("the end of the number")
        }
        return sign + magnitude
    }

    private func follows(_ word: String) -> Bool {
        word.unicodeScalars.enumerated().allSatisfy { peek($0.offset) == $0.element }
    }

    private mutating func readHexadecimal(from start: JSON5.Place) throws(JSON5Error) -> UInt64 {
        var value: UInt64 = 0
        var count = 0
        while let scalar = current, let digit = Self.hexDigit(scalar) {
            guard value.leadingZeroBitCount >= 4 else {
                throw JSON5Error(.hexTooLarge, at: start)
            }
            value = value << 4 | UInt64(digit)
            count += 1
            skip()
        }
        guard count > 0 else { throw unexpected("a hexadecimal digit") }
        return value
    }

    private mutating func readDecimal(from start: JSON5.Place) throws(JSON5Error) -> String {
        let whole = readDigits()
        if whole.count > 1, whole.hasPrefix("0") { throw JSON5Error(.leadingZero, at: start) }
        var fraction = ""
        if take(".") { fraction = readDigits() }
        guard !whole.isEmpty || !fraction.isEmpty else { throw unexpected("a digit") }
        var text = whole.isEmpty ? "0" : whole
        if !fraction.isEmpty { text += "." + fraction }
        if current == "e" || current == "E" {
            skip()
            text += "e"
            if take("-") { text += "-" } else { _ = take("+") }
            let exponent = readDigits()
            guard !exponent.isEmpty else { throw unexpected("a digit") }
            text += exponent
        }
        return text
    }

    private mutating func readDigits() -> String {
        var digits = String.UnicodeScalarView()
        while let scalar = current, Self.isDigit(scalar) {
            digits.append(scalar)
            skip()
        }
        return String(digits)
    }
}

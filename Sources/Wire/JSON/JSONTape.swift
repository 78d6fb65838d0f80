/// What kind of value a JSON value is.
package enum JSONKind: UInt8, Sendable {
    case null
    case bool
    case number
    case string
    case array
    case object
}

/// Limits on a JSON text that somebody else wrote.
package struct JSONLimits: Sendable, Equatable {
    /// How deep arrays and objects may be nested.
    ///
    /// The scanner itself needs no stack; 512 keeps what walks a parsed value recursively, its
    /// release included, far from the end of a thread's stack. The contract needs 6.
    package var maximumDepth: Int
    /// Bytes of the text, at most 2³¹ - 1: offsets on the tape have 32 bits.
    ///
    /// 256 MiB holds any line of a session file: a piece is at most 1 MiB, and escaping makes
    /// that six times as long at worst.
    package var maximumSize: Int

    package init(maximumDepth: Int = 512, maximumSize: Int = 256 << 20) {
        self.maximumDepth = max(0, maximumDepth)
        self.maximumSize = min(max(0, maximumSize), Int(Int32.max))
    }
}

/// The values of a JSON text in the order of their first bytes, each with its place.
///
/// A container is followed by its contents, a member's name by its value. A value's index is its
/// place on the tape; the outermost value has index 0. The tape holds no bytes: whoever asks for
/// content brings the text that was scanned.
package struct JSONTape: Sendable {
    /// One value, or the name of a member.
    struct Token: Sendable {
        /// Offset of the first byte, the opening quote or bracket included.
        var start: UInt32
        /// Offset behind the last byte.
        var end: UInt32
        /// Index behind the last token inside; while a container is open, the index of the one
        /// around it.
        var next: UInt32
        var kind: JSONKind
        var flags: StringFlags

        @inline(__always)
        init(
            _ kind: JSONKind, _ start: Int, _ end: Int, next: Int, _ flags: StringFlags = []
        ) {
            // A text has at most 2³¹ - 1 bytes, and a token for each at most.
            self.start = UInt32(truncatingIfNeeded: start)
            self.end = UInt32(truncatingIfNeeded: end)
            self.next = UInt32(truncatingIfNeeded: next)
            self.kind = kind
            self.flags = flags
        }
    }

    /// What the scanner saw in a string.
    struct StringFlags: OptionSet, Sendable {
        var rawValue: UInt8
        static let escaped = StringFlags(rawValue: 1)
        static let nonASCII = StringFlags(rawValue: 2)
        /// An escaped surrogate without its other half: no scalar value stands for it.
        static let loneSurrogate = StringFlags(rawValue: 4)
    }

    /// The tokens, and behind them room for more.
    var tokens: [Token] = []
    /// How many tokens there are: values, and names of members.
    package internal(set) var count = 0

    package init() {}

    /// Makes room for twice as many tokens; what was on the tape is void.
    mutating func grow() {
        count = 0
        tokens = Array(
            repeating: Token(.null, 0, 0, next: 0), count: max(64, tokens.count * 2))
    }

    /// Gives back the room that is not used.
    mutating func trim() {
        tokens = Array(tokens[..<count])
    }

    /// The kind of the value at `index`.
    package func kind(_ index: Int) -> JSONKind { tokens[index].kind }

    /// The bytes of the value at `index`, its quotes or brackets included.
    package func range(_ index: Int) -> Range<Int> {
        let token = tokens[index]
        return Int(token.start)..<Int(token.end)
    }

    /// The bytes between the quotes of the string at `index`; all of any other value.
    package func contentRange(_ index: Int) -> Range<Int> {
        let token = tokens[index]
        guard token.kind == .string else { return Int(token.start)..<Int(token.end) }
        return Int(token.start) + 1..<Int(token.end) - 1
    }

    /// The index behind the value at `index` and all that is in it.
    package func next(_ index: Int) -> Int { Int(tokens[index].next) }

    /// The index of a container's first element or first member's name; nil for an empty one
    /// and for other values.
    package func first(in index: Int) -> Int? {
        let token = tokens[index]
        guard token.kind == .array || token.kind == .object else { return nil }
        return Int(token.next) > index + 1 ? index + 1 : nil
    }

    /// Whether the string at `index` stands for a sequence of Unicode scalars: no escaped
    /// surrogate in it is alone.
    package func isExact(_ index: Int) -> Bool {
        !tokens[index].flags.contains(.loneSurrogate)
    }

    /// Whether the string at `index` has escapes; without, its content bytes are its text.
    package func hasEscapes(_ index: Int) -> Bool { tokens[index].flags.contains(.escaped) }

    /// How many elements or members the container at `index` has; 0 for other values.
    package func childCount(_ index: Int) -> Int {
        guard var child = first(in: index) else { return 0 }
        let isObject = kind(index) == .object
        let end = next(index)
        var count = 0
        while child < end {
            child = next(isObject ? child + 1 : child)
            count += 1
        }
        return count
    }
}

// MARK: - Content

extension JSONTape {
    /// The decoded text of the string at `index`, or the text of any other value.
    ///
    /// A lone surrogate becomes U+FFFD (see `isExact`).
    package func string(_ index: Int, in bytes: Span<UInt8>) -> String {
        let range = contentRange(index)
        if kind(index) == .string, hasEscapes(index) {
            var decoded = Bytes()
            decoded.reserveCapacity(range.count)
            unescapeJSON(bytes.extracting(range), into: &decoded)
            return String(decoding: decoded, as: UTF8.self)
        }
        return unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// Lends the decoded UTF-8 of the string at `index`, or the bytes of any other value.
    package func withText<Result>(
        _ index: Int, in bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Result
    ) -> Result {
        guard kind(index) == .string, hasEscapes(index) else {
            return body(bytes.extracting(contentRange(index)))
        }
        var decoded = Bytes()
        unescapeJSON(bytes.extracting(contentRange(index)), into: &decoded)
        return body(decoded.span)
    }

    /// Appends the decoded UTF-8 of the string at `index`, or the bytes of any other value.
    package func appendContent(_ index: Int, of bytes: Span<UInt8>, to output: inout Bytes) {
        let content = bytes.extracting(contentRange(index))
        if kind(index) == .string, hasEscapes(index) {
            unescapeJSON(content, into: &output)
        } else {
            unsafe content.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
        }
    }

    /// The value of a boolean; nil for other values.
    package func bool(_ index: Int, in bytes: Span<UInt8>) -> Bool? {
        guard kind(index) == .bool else { return nil }
        return bytes[Int(tokens[index].start)] == UInt8(ascii: "t")
    }

    /// The value of a number that is an integer of 64 bits, however it is spelt (`5000`,
    /// `5e3`, `5000.0`); nil for other numbers and values.
    package func integer(_ index: Int, in bytes: Span<UInt8>) -> Int64? {
        guard kind(index) == .number else { return nil }
        return exactInteger(ofJSONNumber: bytes.extracting(range(index)))
    }

    /// Whether the string at `index` is exactly `text`.
    package func equals(_ index: Int, _ text: StaticString, in bytes: Span<UInt8>) -> Bool {
        guard kind(index) == .string else { return false }
        if hasEscapes(index) { return string(index, in: bytes).hasSameScalars(as: "\(text)") }
        let range = contentRange(index)
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { expected in
            for offset in 0..<range.count
            where unsafe bytes[range.lowerBound + offset] != expected[offset] {
                return false
            }
            return true
        }
    }

    /// Whether the strings at both places stand for the same text.
    package func isSameText(_ left: Int, _ right: Int, in bytes: Span<UInt8>) -> Bool {
        guard !hasEscapes(left), !hasEscapes(right) else {
            return string(left, in: bytes).hasSameScalars(as: string(right, in: bytes))
        }
        return bytes.extracting(contentRange(left)).hasSameBytes(
            as: bytes.extracting(contentRange(right)))
    }

    /// Appends the string at `index` as `appendJSONString` writes its text.
    package func appendString(_ index: Int, of bytes: Span<UInt8>, to output: inout Bytes) {
        guard hasEscapes(index) else {
            // What needs no escape stands there as it is.
            return output.append(copying: bytes.extracting(range(index)))
        }
        appendJSONString(string(index, in: bytes), to: &output)
    }

    /// Which of `candidates` is the text of the string at `index`, found without decoding it;
    /// nil for none of them and for a string with escapes.
    package func position(
        of index: Int, among candidates: [String], in bytes: Span<UInt8>
    ) -> Int? {
        guard kind(index) == .string, !hasEscapes(index) else { return nil }
        let content = bytes.extracting(contentRange(index))
        return candidates.firstIndex {
            $0.utf8.count == content.count && $0.utf8.span.hasSameBytes(as: content)
        }
    }

    /// The value of the last member of the object at `index` whose name is exactly `name`.
    ///
    /// The last, as JavaScript and Go take it; nil for none and for other values.
    package func member(_ name: StaticString, of index: Int, in bytes: Span<UInt8>) -> Int? {
        guard kind(index) == .object, var child = first(in: index) else { return nil }
        let end = next(index)
        var found: Int?
        while child < end {
            if canEqual(child, name), equals(child, name, in: bytes) { found = child + 1 }
            child = next(child + 1)
        }
        return found
    }

    /// The values of the last members of the object at `index` with these names, found in one pass:
    /// as `member` finds each of them, or `member(folding:)`.
    ///
    /// The names are different ones.
    package func members(
        _ first: StaticString, _ second: StaticString, _ third: StaticString, of index: Int,
        in bytes: Span<UInt8>, folding: Bool = false
    ) -> (Int?, Int?, Int?) {
        guard kind(index) == .object, var child = self.first(in: index) else {
            return (nil, nil, nil)
        }
        let end = next(index)
        var found: (Int?, Int?, Int?) = (nil, nil, nil)
        while child < end {
            if isNamed(child, first, in: bytes, folding: folding) {
                found.0 = child + 1
            } else if isNamed(child, second, in: bytes, folding: folding) {
                found.1 = child + 1
            } else if isNamed(child, third, in: bytes, folding: folding) {
                found.2 = child + 1
            }
            child = next(child + 1)
        }
        return found
    }

    @inline(__always)
    private func isNamed(
        _ index: Int, _ name: StaticString, in bytes: Span<UInt8>, folding: Bool
    ) -> Bool {
        guard canEqual(index, name) else { return false }
        return folding ? equals(index, folding: name, in: bytes) : equals(index, name, in: bytes)
    }

    /// Whether the string at `index` may be `name`, told by its size alone.
    @inline(__always)
    private func canEqual(_ index: Int, _ name: StaticString) -> Bool {
        let token = tokens[index]
        return !token.flags.isDisjoint(with: [.escaped, .nonASCII])
            || Int(token.end) - Int(token.start) == name.utf8CodeUnitCount + 2
    }

    /// The value of the last member of the object at `index` whose name is `name` without
    /// regard to case.
    ///
    /// `name` is lower-case ASCII. Folds as the board does (board facts, "JSON"): ASCII, and
    /// U+017F and U+212A, whose simple folds are `s` and `k`.
    package func member(
        folding name: StaticString, of index: Int, in bytes: Span<UInt8>
    ) -> Int? {
        guard kind(index) == .object, var child = first(in: index) else { return nil }
        let end = next(index)
        var found: Int?
        while child < end {
            if canEqual(child, name), equals(child, folding: name, in: bytes) {
                found = child + 1
            }
            child = next(child + 1)
        }
        return found
    }

    private func equals(_ index: Int, folding name: StaticString, in bytes: Span<UInt8>) -> Bool {
        let token = tokens[index]
        if !token.flags.isDisjoint(with: [.escaped, .nonASCII]) {
            return Self.folded(string(index, in: bytes)).hasSameScalars(as: "\(name)")
        }
        let range = contentRange(index)
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { expected in
            for offset in 0..<range.count {
                var byte = bytes[range.lowerBound + offset]
                if byte &- UInt8(ascii: "A") < 26 { byte |= 0x20 }
                if unsafe byte != expected[offset] { return false }
            }
            return true
        }
    }

    /// `text` with upper-case ASCII and the two scalars that fold to ASCII made lower-case.
    package static func folded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "A"..."Z": result.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            case "\u{17f}": result.append("s")
            case "\u{212a}": result.append("k")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}

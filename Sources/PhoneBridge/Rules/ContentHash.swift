import Wire

extension JSONTape {
    /// A hash of what the command at `index` asks for; never 0, but for what is no object.
    ///
    /// Equal for retries of the same logical command (contract, "Idempotence"): the order and
    /// spelling of the JSON do not matter, nor what may differ from one sending to the next:
    /// `id`, `timeout_ms`, `phone_id`, and a `name` that the board adds (board facts, "JSON").
    func commandContent(at index: Int, in text: Span<UInt8>) -> UInt32 {
        guard kind(index) == .object else { return 0 }
        var sum: UInt64 = 0
        for name: StaticString in ["type", "app", "url", "payload"] {
            guard let value = member(name, of: index, in: text), kind(value) != .null else {
                continue
            }
            var hasher = Hasher()
            hasher.combine(literal: name)
            hasher.combine(content(value, in: text))
            sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return max(1, UInt32(truncatingIfNeeded: sum ^ sum >> 32))
    }

    /// A hash of a value that does not depend on how it is spelt.
    ///
    /// Recursive: the scanner's limit on depth bounds it.
    func content(_ index: Int, in text: Span<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(kind(index).rawValue)
        switch kind(index) {
        case .null: break
        case .bool: hasher.combine(bool(index, in: text))
        case .number:
            if let value = integer(index, in: text) {
                hasher.combine(value)
            } else {
                hasher.combine(Double(string(index, in: text)))
            }
        case .string:
            // Bytes, so that canonically equivalent texts differ.
            if hasEscapes(index) {
                hasher.combine(text: Bytes(string(index, in: text).utf8).span)
            } else {
                hasher.combine(text: text.extracting(contentRange(index)))
            }
        case .array:
            forEachChild(of: index) { hasher.combine(content($0, in: text)) }
        case .object:
            var sum = 0
            forEachChild(of: index) { name in
                var member = Hasher()
                member.combine(content(name, in: text))
                member.combine(content(name + 1, in: text))
                sum &+= member.finalize()
            }
            hasher.combine(sum)
        }
        return hasher.finalize()
    }

    /// Calls `body` with each element of an array, or the name of each member of an object.
    func forEachChild(of index: Int, _ body: (Int) -> Void) {
        guard var child = first(in: index) else { return }
        let isObject = kind(index) == .object
        let end = next(index)
        while child < end {
            body(child)
            child = next(isObject ? child + 1 : child)
        }
    }
}

extension JSONView {
    /// A hash of an object's members but for those with one of the given names, or of another
    /// value as a whole.
    ///
    /// It does not depend on how the JSON is spelt, nor on the order of members; it differs from
    /// one process to the next.
    package func contentHash(without names: [String] = []) -> Int {
        let text = document.source.span
        guard kind == .object else { return document.tape.content(index, in: text) }
        var sum = 0
        document.tape.forEachChild(of: index) { name in
            guard document.tape.position(of: name, among: names, in: text) == nil else { return }
            var member = Hasher()
            member.combine(document.tape.content(name, in: text))
            member.combine(document.tape.content(name + 1, in: text))
            sum &+= member.finalize()
        }
        return sum
    }
}

extension Hasher {
    /// Takes in a text, told from another by its length as well.
    fileprivate mutating func combine(text: Span<UInt8>) {
        combine(text.count)
        unsafe text.withUnsafeBytes { unsafe combine(bytes: $0) }
    }

    /// Takes in a literal.
    fileprivate mutating func combine(literal: StaticString) {
        combine(literal.utf8CodeUnitCount)
        unsafe combine(
            bytes: UnsafeRawBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}

import Wire

/// Names of the contract, found by their bytes without a look at more than those of one length.
struct NameTable: Sendable {
    /// The names by their lengths, and with the same by their places.
    private let texts: Bytes
    /// Where each of `texts` ends, and its place.
    private let entries: [(end: Int, place: Int)]
    /// For each length, and one more, how many names are shorter.
    private let shorter: [Int]

    /// Of names that are equal, the first is found.
    init(_ names: [String]) {
        let order = names.indices.sorted {
            (names[$0].utf8.count, $0) < (names[$1].utf8.count, $1)
        }
        var texts = Bytes()
        var entries: [(end: Int, place: Int)] = []
        for place in order {
            texts += names[place].utf8
            entries.append((texts.count, place))
        }
        let longest = order.last.map { names[$0].utf8.count } ?? 0
        shorter = (0...longest + 1).map { length in
            names.count { $0.utf8.count < length }
        }
        self.texts = texts
        self.entries = entries
    }

    /// The place of the name with these bytes; nil for none.
    func position(of name: Span<UInt8>) -> Int? {
        let length = name.count
        guard length < shorter.count - 1 else { return nil }
        let texts = texts.span
        for index in shorter[length]..<shorter[length + 1] {
            let (end, place) = entries[index]
            if texts.extracting(end - length..<end).hasSameBytes(as: name) { return place }
        }
        return nil
    }

    /// The place of the name that the string at `index` stands for; nil for none, and for what is no
    /// string.
    func position(of index: Int, on tape: JSONTape, in text: Span<UInt8>) -> Int? {
        guard tape.kind(index) == .string else { return nil }
        guard !tape.hasEscapes(index) else {
            return position(of: tape.string(index, in: text).utf8.span)
        }
        return position(of: text.extracting(tape.contentRange(index)))
    }
}

import Wire

/// The first bytes of an input, by which a target chooses how to run; the rest is content.
struct Choices {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: Bytes) {
        rest = input[...]
    }

    /// The next byte; 0 behind the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The next `count` bytes, or what is left.
    mutating func bytes(_ count: Int) -> Bytes {
        defer { rest = rest.dropFirst(count) }
        return Bytes(rest.prefix(count))
    }
}

/// How bytes are cut into what arrives at once.
struct Cuts {
    private enum Mode {
        case whole
        case single
        case seeded(UInt64)
    }

    private var mode: Mode

    /// All at once.
    static let whole = Cuts(mode: .whole)
    /// One byte at a time.
    static let single = Cuts(mode: .single)

    private init(mode: Mode) {
        self.mode = mode
    }

    /// Short and long parts in an order that follows from `seed`.
    init(seed: UInt8) {
        mode = .seeded(UInt64(seed) &* 0x9e37_79b9_7f4a_7c15 | 1)
    }

    /// The ways in which a target runs: all at once, byte by byte, and by the seed.
    static func all(seed: UInt8) -> [(name: String, cuts: Cuts)] {
        [("at once", .whole), ("byte by byte", .single), ("in parts", Cuts(seed: seed))]
    }

    /// The bytes in parts, none of them empty.
    mutating func parts(of bytes: Bytes) -> [Bytes] {
        var parts: [Bytes] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = nextCount(atMost: rest.count)
            parts.append(Bytes(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return parts
    }

    private mutating func nextCount(atMost maximum: Int) -> Int {
        switch mode {
        case .whole: return maximum
        case .single: return 1
        case .seeded(var state):
            // xorshift64 (Marsaglia, 2003): any spread of sizes will do.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            mode = .seeded(state)
            let magnitude = 1 << (state >> 32 & 7)
            return min(maximum, 1 + Int(state & 0xffff) % magnitude)
        }
    }
}

/// A random number generator whose numbers follow from its seed, in every version of this program.
///
/// xoshiro256** 1.0, seeded through SplitMix64 (Blackman and Vigna, public domain algorithms). The
/// standard library leaves open how `Int.random(in:using:)` uses a generator; `below` does not.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    package init(seed: UInt64) {
        var counter = seed
        func splitMix() -> UInt64 {
            counter &+= 0x9e37_79b9_7f4a_7c15
            var z = counter
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
        state = (splitMix(), splitMix(), splitMix(), splitMix())
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        let scrambled = state.1 &* 5
        let result = (scrambled << 7 | scrambled >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// A number from 0 up to, not including, `bound`; 0 where the bound is not positive.
    package mutating func below(_ bound: Int) -> Int {
        guard bound > 1 else { return 0 }
        // The high half of a product is uneven by less than bound / 2^64: nothing at our sizes.
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number of the closed range.
    package mutating func number(in range: ClosedRange<Int>) -> Int {
        let (width, overflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
        guard !overflow, width < .max else { return range.lowerBound }
        return range.lowerBound + below(width + 1)
    }

    /// True once in `n` times on average.
    package mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }

    /// A generator of its own that follows from this one, for a part that must not disturb others.
    package mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }
}

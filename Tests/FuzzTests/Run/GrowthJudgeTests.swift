import Fuzz
import Testing

/// What is growth, and what merely looks like it.
@Suite struct GrowthJudgeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var grows: Bool
        /// The value behind case `i`, with a number of noise from 0 up to 1.
        var value: @Sendable (_ i: Int, _ noise: Double) -> Double

        var testDescription: String { what }
    }

    private static let base = 40.0 * 1024 * 1024
    private static let kibibyte = 1024.0
    private static let mebibyte = 1024.0 * 1024

    static let rows: [Row] = [
        Row(what: "a leak of 200 KiB a case", grows: true) { i, _ in
            base + 200 * kibibyte * Double(i)
        },
        Row(what: "the same in much noise", grows: true) { i, noise in
            base + 200 * kibibyte * Double(i) + noise * mebibyte
        },
        Row(what: "a leak that the allocator hides in steps", grows: true) { i, _ in
            base + 128 * kibibyte * Double(i / 2 * 2)
        },
        Row(what: "a leak behind a large start", grows: true) { i, _ in
            base + (i < 5 ? 60 * mebibyte : 0) + 250 * kibibyte * Double(i)
        },
        Row(what: "nothing", grows: false) { _, _ in base },
        Row(what: "noise", grows: false) { _, noise in base + noise * 10 * mebibyte },
        Row(what: "a start that takes 30 MiB and is over", grows: false) { i, noise in
            base + min(Double(i), 8) * 4 * mebibyte + noise * kibibyte
        },
        Row(what: "a cache that fills by and by", grows: false) { i, noise in
            base + 30 * mebibyte * (1 - 1 / (1 + Double(i) / 4)) + noise * kibibyte
        },
        Row(what: "a collector that runs each tenth case", grows: false) { i, _ in
            base + Double(i % 10) * 2 * mebibyte
        },
        Row(what: "a collector that runs each thirtieth case", grows: false) { i, _ in
            base + Double(i % 30) * mebibyte
        },
        Row(what: "one case that takes 64 MiB and keeps them", grows: false) { i, noise in
            base + (i > 30 ? 64 * mebibyte : 0) + noise * 64 * kibibyte
        },
        Row(what: "two steps", grows: false) { i, _ in
            base + (i > 20 ? 20 * mebibyte : 0) + (i > 40 ? 20 * mebibyte : 0)
        },
        Row(what: "growth of a few bytes", grows: false) { i, _ in
            base + 512 * Double(i)
        },
        Row(what: "shrinking", grows: false) { i, _ in base - 200 * kibibyte * Double(i) },
    ]

    /// Whether growth is told within 100 cases.
    private func grows(_ row: Row, seed: UInt64) -> Bool {
        var judge = GrowthJudge(.memory)
        var state = seed &* 2 &+ 1
        for index in 0..<100 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let noise = Double(state >> 11) / Double(UInt64(1) << 53)
            if judge.receive(Int64(row.value(index, noise))) != nil { return true }
        }
        return false
    }

    @Test(arguments: rows) func `growth is told, and nothing else`(_ row: Row) {
        for seed in 1...20 { #expect(grows(row, seed: UInt64(seed)) == row.grows) }
    }

    @Test func `growth is told with its figures`() throws {
        var judge = GrowthJudge(.handles)
        var told: GrowthJudge.Growth?
        for index in 0..<60 where told == nil { told = judge.receive(Int64(20 + index)) }
        let growth = try #require(told)
        #expect(growth.slope == 1)
        #expect(growth.to - growth.from >= 12)
        #expect(growth.count >= 24)
    }

    @Test func `a handle now and then is none`() {
        var judge = GrowthJudge(.handles)
        for index in 0..<200 { #expect(judge.receive(Int64(20 + index / 20 % 3)) == nil) }
        #expect(!judge.isSuspicious)
    }

    @Test func `growth that is not sure yet is worth more cases`() {
        var judge = GrowthJudge(.memory)
        for index in 0..<24 { _ = judge.receive(Int64(index) * 100_000) }
        #expect(judge.isSuspicious)
    }

    @Test func `extreme values do not trap`() {
        var judge = GrowthJudge(.memory)
        for index in 0..<100 { _ = judge.receive(index % 2 == 0 ? .max : .min) }
        #expect(!judge.isSuspicious)
    }
}

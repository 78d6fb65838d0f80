import PhoneBridge
import Testing
import Wire

/// A table by the numbers of connections, against a dictionary.
@Suite struct ConnectionTableTests {
    /// Numbers of any order, from a fixed beginning.
    private struct Numbers {
        var state: UInt64

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    @Test(arguments: 1...8) func `it holds what a dictionary holds`(_ seed: Int) {
        var numbers = Numbers(state: UInt64(seed))
        var table = ConnectionTable<[Int]>()
        var model: [Int: [Int]] = [:]
        for step in 0..<4000 {
            // Mostly new ones, at times one of long ago, or one that no number can be.
            let number =
                [step / 4, step / 4 - numbers.below(40), numbers.below(1000), -1][numbers.below(4)]
            switch numbers.below(6) {
            case 0:
                table[number] = [step]
                model[number] = [step]
            case 1:
                table[number]?.append(step)
                model[number]?.append(step)
            case 2:
                table[number, default: [7]].append(step)
                model[number, default: [7]].append(step)
            case 3:
                table[number] = nil
                model[number] = nil
            case 4: #expect(table.removeValue(forKey: number) == model.removeValue(forKey: number))
            default: #expect(table[number] == model[number])
            }
            #expect(table.count == model.count)
            #expect(table[number, default: []] == model[number, default: []])
        }
        #expect(table.keys == model.keys.sorted())
        #expect(table.values == model.keys.sorted().map { model[$0] })
        for key in table.keys { table[key] = nil }
        #expect(table.count == 0 && table.keys.isEmpty && table.values.isEmpty)
    }
}

import Report
import Testing

@Suite struct DistributionTests {
    /// The quantile that sorting gives.
    private func exact(_ values: [Int64], _ share: Double) -> Int64 {
        let rank = Int((share * Double(values.count)).rounded(.up))
        return values.sorted()[max(1, rank) - 1]
    }

    @Test func `quantiles are within one per cent of the sorted values'`() {
        var state: UInt64 = 1
        for round in 1...40 {
            var distribution = Distribution()
            var values: [Int64] = []
            for _ in 0..<(round * 37) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                values.append(Int64(state >> 1) >> Int64(state >> 58))
                distribution.add(values[values.count - 1])
            }
            for share in [0, 0.001, 0.25, 0.5, 0.9, 0.99, 1] {
                let found = distribution.quantile(share) ?? -1
                let wanted = exact(values, share)
                #expect((found - wanted).magnitude <= wanted.magnitude / 100, "\(share)")
            }
            #expect(distribution.count == values.count)
            #expect(distribution.minimum == values.min())
            #expect(distribution.maximum == values.max())
        }
    }

    @Test(arguments: [Int64(0), 1, 63, 64, 127, 128, 20_000_000, .max])
    func `one value is every quantile`(value: Int64) {
        var distribution = Distribution()
        distribution.add(value)
        for share in [-1, 0, 0.5, 0.99, 1, 2] { #expect(distribution.quantile(share) == value) }
    }

    @Test func `nothing has no quantile, and what is below nothing is nothing`() {
        var distribution = Distribution()
        #expect(distribution.quantile(0.5) == nil)
        distribution.add(-5)
        #expect(distribution.quantile(0.5) == 0)
    }

    @Test func `two together are as one that took all`() {
        var first = Distribution()
        var second = Distribution()
        var both = Distribution()
        for value in Int64(1)...500 {
            if value % 3 == 0 { first.add(value * value) } else { second.add(value * value) }
            both.add(value * value)
        }
        first.add(second)
        first.add(Distribution())
        #expect(first == both)
    }
}

import PhoneBridge
import Testing

@Suite struct MeaningTests {
    @Test(
        arguments: [
            (0, "0.000"), (499, "0.000"), (500, "0.001"), (1_000, "0.001"), (999_499, "0.999"),
            (999_500, "1.000"), (12_345_678, "12.346"), (5_000_000_000, "5000.000"),
            (1_010_000, "1.010"), (Int64.max, "9223372036854.776"),
        ] as [(Int64, String)])
    func `a latency has three decimals`(nanoseconds: Int64, text: String) {
        #expect(Meaning.milliseconds(nanoseconds) == text)
    }
}

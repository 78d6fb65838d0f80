import Capture
import Testing

@Suite struct HARTimeTests {
    @Test(arguments: [
        ("1780300800.123456789", 1_780_300_800_123_456_789),
        ("1780300800", 1_780_300_800_000_000_000),
        ("1780300800.1234567891", 1_780_300_800_123_456_789),
        ("1.7803008e9", 1_780_300_800_000_000_000),
    ])
    func `seconds are exact to a nanosecond`(_ text: String, _ expected: Int64) {
        #expect(HARTime.instant(seconds: text) == expected)
    }

    @Test(arguments: ["-1", "0", "1e400", "99999999999999999999", "9999999999999", "-1e400"])
    func `an instant that no session has is none`(_ text: String) {
        #expect(HARTime.instant(seconds: text) == nil)
    }

    @Test(arguments: [
        ("0.5", 500_000 as Int64?), ("12", 12_000_000), ("0.0000019", 1), ("-1", nil), ("0", 0),
        ("1e300", nil), ("99999999999999", nil), ("99999999999", 31_622_400_000_000_000),
    ])
    func `milliseconds are durations, and -1 is not known`(_ text: String, _ expected: Int64?) {
        #expect(HARTime.duration(milliseconds: text) == expected)
    }

    @Test(arguments: [
        ("2026-06-01T08:00:00.125Z", 1_780_300_800_125_000_000 as Int64?),
        ("2026-06-01T10:00:00.125+02:00", 1_780_300_800_125_000_000),
        ("2026-06-01T10:00:00.125+0200", 1_780_300_800_125_000_000),
        ("2026-06-01T08:00:00", 1_780_300_800_000_000_000),
        ("2026-06-01 08:00:00.5", 1_780_300_800_500_000_000),
        ("2026-06-01", nil), ("yesterday, at eleven", nil), ("1600-01-01T00:00:00Z", nil),
    ])
    func `dates are read as programs write them`(_ text: String, _ expected: Int64?) {
        #expect(HARTime.instant(date: text) == expected)
    }

    @Test func `what is written is read again`() {
        for value: Int64 in [1, 999_999_999, 1_780_300_800_123_456_789] {
            #expect(HARTime.instant(seconds: HARTime.seconds(value)) == value)
            #expect(
                HARTime.duration(milliseconds: HARTime.milliseconds(value % 1_000_000_007))
                    == value % 1_000_000_007)
        }
        #expect(HARTime.milliseconds(1_500_000) == "1.5")
        #expect(HARTime.milliseconds(0) == "0")
        #expect(HARTime.seconds(1) == "0.000000001")
    }
}

import Report
import Testing

@Suite struct QuantitiesTests {
    @Test(
        arguments: [
            (0, "00:00.000"), (999_999, "00:00.000"), (61_001_000_000, "01:01.001"),
            (3_600_000_000_000, "1:00:00.000"), (-1_500_000_000, "-00:01.500"),
            (.max, "2562047:47:16.854"), (.min, "-2562047:47:16.854"),
        ] as [(Int64, String)])
    func `a time is minutes, seconds and milliseconds`(nanoseconds: Int64, expected: String) {
        #expect(clockTime(nanoseconds) == expected)
    }

    @Test(
        arguments: [
            (412_000, "0.412 ms"), (9_999_999, "10.000 ms"), (22_200_000, "22.2 ms"),
            (222_104_000, "222 ms"), (1_234_000_000, "1.23 s"), (12_340_000_000, "12.3 s"),
            (200_000_000_000, "3 min 20 s"), (7_500_000_000_000, "2 h 5 min"), (-5, "0.000 ms"),
            (.max, "2,562,047 h 47 min"),
        ] as [(Int64, String)])
    func `a span has the unit that people say`(nanoseconds: Int64, expected: String) {
        #expect(timeSpan(nanoseconds) == expected)
    }

    @Test(
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (9999, "9,999 bytes"), (10_000, "9.77 KiB"),
            (1 << 20, "1.00 MiB"), (1 << 30, "1.00 GiB"), (.max, "16.0 EiB"),
        ] as [(UInt64, String)])
    func `bytes are exact while they are few`(bytes: UInt64, expected: String) {
        #expect(byteCount(bytes) == expected)
    }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"),
            (.min, "-9,223,372,036,854,775,808"),
        ] as [(Int, String)])
    func `thousands are parted`(number: Int, expected: String) {
        #expect(grouped(number) == expected)
    }
}

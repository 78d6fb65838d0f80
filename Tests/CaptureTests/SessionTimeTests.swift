import Capture
import Testing

@Suite struct SessionTimeTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000000Z"),
        (1, "1970-01-01T00:00:00.000000001Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
        (1_772_357_400_123_456_789, "2026-03-01T09:30:00.123456789Z"),
        (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000000000Z"),
        (Int64.max, "2262-04-11T23:47:16.854775807Z"),
        (Int64.min, "1677-09-21T00:12:43.145224192Z"),
    ])
    func `a time is printed and read`(_ row: (nanoseconds: Int64, text: String)) {
        #expect(SessionTime.text(nanoseconds: row.nanoseconds) == row.text)
        // The least time has no whole second below it that 64 bits hold.
        if row.nanoseconds > Int64.min + 1_000_000_000 {
            #expect(SessionTime.nanoseconds(parsing: row.text) == row.nanoseconds)
        }
    }

    @Test(
        arguments: [
            ("2026-03-01T17:30:00+08:00", 1_772_357_400_000_000_000),
            ("2026-03-01t09:30:00z", 1_772_357_400_000_000_000),
            ("2026-03-01T09:30:00.5Z", 1_772_357_400_500_000_000),
            ("2026-03-01T09:30:00.1234567899Z", 1_772_357_400_123_456_789),
            ("2026-03-01T09:30:00", nil), ("2026-03-01", nil), ("", nil),
            ("2026-13-01T09:30:00Z", nil), ("2026-03-01T24:30:00Z", nil),
            ("2026-03-01T09:30:00.Z", nil), ("2026-03-01T09:30:00+8:00", nil),
            ("9999-03-01T09:30:00Z", nil), ("2026-03-01T09:30:00Zx", nil),
        ] as [(String, Int64?)])
    func `RFC 3339 is read with any fraction and offset`(
        _ row: (text: String, nanoseconds: Int64?)
    ) {
        #expect(SessionTime.nanoseconds(parsing: row.text) == row.nanoseconds)
    }

    @Test func `every day of four centuries has its date`() {
        var previous = ""
        for day in -146_097...0 {
            let time = (Int64(day) + 80_000) * 86_400_000_000_000
            let text = SessionTime.text(nanoseconds: time)
            #expect(text > previous)
            #expect(SessionTime.nanoseconds(parsing: text) == time)
            previous = text
        }
    }
}

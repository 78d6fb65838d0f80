import Arguments
import Testing

@Suite struct DurationValueTests {
    @Test(
        arguments: [
            ("200ms", 200_000_000), ("2s", 2_000_000_000), ("10min", 600_000_000_000),
            ("1h", 3_600_000_000_000), ("1.5s", 1_500_000_000), ("0s", 0), ("7ns", 7),
            ("0.5us", 500), ("1d", 86_400_000_000_000), ("0.0000000001s", 0),
            ("10000d", 864_000_000_000_000_000),
        ] as [(String, Int64)])
    func `a duration is a number with its unit`(text: String, nanoseconds: Int64) throws {
        let value = try ArgumentValue<Duration>.duration().parse(text)
        #expect(value == .nanoseconds(nanoseconds))
    }

    @Test(arguments: [
        ("5", "\"5\" has no unit; write 5s, 5ms or 5min"),
        ("5m", "\"5m\" has the unknown unit \"m\"; known are ns, us, ms, s, min, h, d"),
        ("", "\"\" is not a duration; write one like 200ms, 2s or 10min"),
        ("-1s", "\"-1s\" is not a duration; write one like 200ms, 2s or 10min"),
        ("1.s", "\"1.s\" is not a duration; write one like 200ms, 2s or 10min"),
        (".5s", "\".5s\" is not a duration; write one like 200ms, 2s or 10min"),
        ("1..5s", "\"1..5s\" is not a duration; write one like 200ms, 2s or 10min"),
        ("10001d", "\"10001d\" is too long; 10000d is the most"),
        ("213504d", "\"213504d\" is too long; 10000d is the most"),
        ("999999999999999d", "\"999999999999999d\" is too long; 10000d is the most"),
        (
            "9999999999999999s",
            "\"9999999999999999s\" is not a duration; write one like 200ms, 2s or 10min"
        ),
        ("٣s", "\"٣s\" is not a duration; write one like 200ms, 2s or 10min"),
    ])
    func `what is no duration is refused in one sentence`(text: String, sentence: String) {
        #expect(throws: ValueError(sentence)) {
            try ArgumentValue<Duration>.duration().parse(text)
        }
    }
}

import Testing
import Wire

@Suite struct NearestWordTests {
    @Test(arguments: [
        ("slack_m", "slack_ms"), ("salck_ms", "slack_ms"), ("conn", nil), ("", nil),
        ("time-scale", "time_scale"), (String(repeating: "s", count: 100), nil),
    ])
    func `a slip is one in three letters at most`(word: String, expected: String?) {
        #expect(nearestWord(to: word, among: ["slack_ms", "time_scale"]) == expected)
    }
}

import Arguments
import Testing

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("folow", "follow"), ("fliter", "filter"), ("filtr", "filter"), ("FOLLOW", "follow"),
        ("js", "json"), ("xyz", nil), ("", nil), ("c", nil),
    ])
    func `the nearest name is within a third of its letters`(word: String, expected: String?) {
        #expect(nearest(to: word, among: ["follow", "filter", "json", "conn"]) == expected)
    }

    @Test func `a very long word is not compared at all`() {
        #expect(nearest(to: String(repeating: "a", count: 100_000), among: ["a"]) == nil)
    }
}

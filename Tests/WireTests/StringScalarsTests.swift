import Testing
import Wire

@Suite struct StringScalarsTests {
    @Test func `texts are the same only byte by byte`() {
        let rows: [(String, String, Bool)] = [
            ("", "", true), ("a", "a", true), ("a", "b", false), ("a", "aa", false),
            ("\u{e9}", "e\u{301}", false), ("\u{212a}", "K", false),
            // Canonically equivalent, and equally long.
            ("a\u{323}\u{307}", "a\u{307}\u{323}", false),
            ("01234567", "01234567", true), ("01234567x", "01234567y", false),
            ("x1234567", "y1234567", false), ("012345678901234é", "012345678901234é", true),
        ]
        for (left, right, same) in rows {
            #expect(left.hasSameScalars(as: right) == same, "\(left) \(right)")
            #expect(right.hasSameScalars(as: left) == same)
        }
    }
}

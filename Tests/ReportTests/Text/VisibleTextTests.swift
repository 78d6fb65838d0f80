import Report
import Testing

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("张三 é 👩‍👧", "张三 é 👩‍👧"), ("a\\b", "a\\\\b"),
        ("\u{1b}[2J", "\\u{1b}[2J"), ("\r\n\t", "\\r\\n\\t"), ("\u{202e}x", "\\u{202e}x"),
        ("\u{2028}", "\\u{2028}"), ("\u{feff}", "\\u{feff}"), ("\u{7f}", "\\u{7f}"),
    ])
    func `what cannot be seen is written out`(text: String, expected: String) {
        #expect(visible(text) == expected)
    }

    @Test(arguments: [
        ("abc", 3), ("张三", 4), ("e\u{301}", 1), ("한", 2), ("👍", 2), ("ａ", 2), ("→", 1),
    ])
    func `wide characters take two columns`(text: String, expected: Int) {
        #expect(columns(text) == expected)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("张三李四", 8, "张三李四"),
        ("张三李四", 7, "张三李…"), ("张三李四", 6, "张三…"), ("abc", 1, "…"), ("abc", 0, "…"),
    ])
    func `a cut text fits, its dots included`(text: String, width: Int, expected: String) {
        #expect(cut(text, toColumns: width) == expected)
    }
}

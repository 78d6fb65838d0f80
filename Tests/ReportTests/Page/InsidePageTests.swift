import Report
import Testing
import Wire

@Suite struct InsidePageTests {
    @Test func `a page comes out of its block as it was, however it was cut`() throws {
        let text = Bytes((0..<5000).map { "line \($0) <&> 会话\n" }.joined().utf8)
        for size in [1, 2, 3, 7, 4096, text.count] {
            var block = Bytes()
            try InsidePage.write(id: "compare-0-1") { output in
                var position = 0
                while position < text.count {
                    let end = min(text.count, position + size)
                    try output(Bytes(text[position..<end]))
                    position = end
                }
            } to: {
                block += $0
            }
            let written = String(decoding: block, as: UTF8.self)
            let match = try #require(
                written.wholeMatch(
                    of: /<script type="text\/plain" id="compare-0-1">([A-Za-z0-9+\/=]*)<\/script>\n/
                ))
            var packed = Bytes()
            try decodeBase64(Bytes(match.output.1.utf8).span, into: &packed)
            let inflater = try #require(Inflater())
            var unpacked = Bytes()
            var position = 0
            _ = inflater.inflate(packed.span, at: &position, into: &unpacked, limit: 1 << 24)
            #expect(unpacked == text && position == packed.count)
        }
    }

    @Test func `a page names what the page within it runs, and nothing else`() {
        let inside = InsidePage(style: "p {}", script: "let a = 1;")
        let head = PageFrame.head(title: "t", style: "b {}", script: "let b = 2;", inside: inside)
        let sources = ["let b = 2;", "let a = 1;"].map { "'\(PagePolicy.source($0))'" }
        #expect(head.contains("script-src \(sources.joined(separator: " ")); "))
        let styles = ["b {}", "p {}"].map { "'\(PagePolicy.source($0))'" }
        #expect(head.contains("style-src \(styles.joined(separator: " ")); "))
        #expect(head.contains("default-src 'none'; ") && !head.contains("unsafe"))
    }
}

import Testing
import Wire

@Suite struct HTTPHeadParserTests {
    private func head(_ bytes: Bytes, _ role: HTTPDecoder.Role = .requests) -> HTTPHead? {
        guard case .head(let head, _)? = HTTPReading(bytes, role).steps.first else { return nil }
        return head
    }

    @Test func `field lines keep order, case and repeats`() {
        let bytes = wire("GET / HTTP/1.1\nhOST: a\nX: 1\nX: 2\nEmpty: \n\n")
        #expect(
            head(bytes)
                == HTTPHead(
                    startLine: .request(method: "GET", target: "/"),
                    fieldLines: [
                        FieldLine("hOST", "a"), FieldLine("X", "1"), FieldLine("X", "2"),
                        FieldLine("Empty", ""),
                    ]))
    }

    @Test(arguments: [
        ("no space", "A:b", "A", "b"),
        ("two spaces", "A:  b", "A", "b"),
        ("a tab", "A:\tb", "A", "b"),
        ("space behind", "A: b ", "A", "b"),
        ("empty without space", "A:", "A", ""),
        ("empty with two spaces", "A:  ", "A", ""),
        ("no colon", "abc", "abc", ""),
        ("bare line feed", "A: b\u{b}C: d", "A", "b"),
        ("folded", "A: b\n \tc d\n\t\n e", "A", "b c d e"),
    ])
    func `a field line that is not canonical leaves the exact bytes`(
        _ id: String, _ line: String, _ name: String, _ value: String
    ) {
        let bytes = wire("GET / HTTP/1.1\n\(line)\n\n")
        let head = head(bytes)
        #expect(head?.fieldLines.first == FieldLine(name, value))
        #expect(head?.raw == bytes)
    }

    @Test(arguments: [
        ("space before the colon", "A : b", "A ", "b"),
        ("no name", ": b", "", "b"),
        ("a name with spaces", "a b: c", "a b", "c"),
        ("colons in the value", "A: b:c: d", "A", "b:c: d"),
        ("a carriage return within", "A: b\rc", "A", "b\rc"),
        ("white space before the first", " A: b", " A", "b"),
        ("other letters", "A: \u{e4}\u{1f600}", "A", "\u{e4}\u{1f600}"),
        ("a zero byte", "A: b\0c", "A", "b\0c"),
    ])
    func `a field line that the canonical encoding gives back needs no exact bytes`(
        _ id: String, _ line: String, _ name: String, _ value: String
    ) {
        let head = head(wire("GET / HTTP/1.1\n\(line)\n\n"))
        #expect(head?.fieldLines == [FieldLine(name, value)])
        #expect(head?.raw == nil)
    }

    @Test func `what is not UTF-8 shows the replacement and leaves the exact bytes`() {
        let bytes = wire("GET /") + [0xff] + wire(" HTTP/1.1\nA: b") + [0xc3, 0x28] + wire("\n\n")
        let head = head(bytes)
        #expect(head?.target == "/\u{fffd}")
        #expect(head?.fieldLines == [FieldLine("A", "b\u{fffd}(")])
        #expect(head?.raw == bytes)
    }

    @Test func `a status is canonical with three digits, or more without a zero before them`() {
        #expect(head(wire("HTTP/1.1 007 x\n\n"), .responses)?.raw == nil)
        #expect(head(wire("HTTP/1.1 7 x\n\n"), .responses)?.raw != nil)
        #expect(head(wire("HTTP/1.1 2000 x\n\n"), .responses)?.raw == nil)
        #expect(head(wire("HTTP/1.1 0200 x\n\n"), .responses)?.raw != nil)
        #expect(head(wire("HTTP/1.1 1234567890 x\n\n"), .responses) == nil)
    }
}

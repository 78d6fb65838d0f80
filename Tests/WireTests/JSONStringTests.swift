import Testing
import Wire

@Suite struct JSONStringTests {
    @Test func `only what must be escaped is escaped`() {
        let rows: [(String, String)] = [
            ("", #""""#),
            ("plain", #""plain""#),
            ("\"\\/", #""\"\\/""#),
            ("\u{8}\u{9}\u{a}\u{c}\u{d}", #""\b\t\n\f\r""#),
            ("\0\u{1}\u{b}\u{1f}", #""\u0000\u0001\u000b\u001f""#),
            ("\u{7f}\u{2028}é你😀<>&", "\"\u{7f}\u{2028}é你😀<>&\""),
        ]
        for (text, expected) in rows {
            var output = Bytes("x".utf8)
            appendJSONString(text, to: &output)
            #expect(String(decoding: output, as: UTF8.self) == "x" + expected)
        }
    }

    @Test func `every byte is escaped alike wherever it stands in a word`() throws {
        var wrong: [Bytes] = []
        for length in Array(0...20) + [31, 32, 33, 48, 49] {
            for position in 0..<max(1, length) {
                for byte in 0..<0x80 as Range<UInt8> {
                    var text = Bytes(repeating: UInt8(ascii: "a"), count: length)
                    if length > 0 { text[position] = byte }
                    var output = Bytes()
                    appendJSONString(text.span, to: &output)
                    let document = try JSONDocument(output)
                    if document.root.string.map({ Bytes($0.utf8) }) != text { wrong.append(text) }
                }
            }
        }
        #expect(wrong == [])
    }

    @Test func `a run of bytes to escape of any length goes through whole`() throws {
        for byte in [0x01, 0x0a, 0x22, 0x5c] as Bytes {
            for length in 0...70 {
                let text = Bytes(repeating: byte, count: length)
                var output = Bytes("x".utf8)
                appendJSONString(text.span, to: &output)
                let document = try JSONDocument(Bytes(output.dropFirst()))
                #expect(document.root.string.map { Bytes($0.utf8) } == text)
            }
        }
    }

    @Test func `long texts of any size go through whole`() throws {
        for size in [4095, 4096, 4097, 8192, 100_000] {
            let text = String(repeating: "\u{1}a\"é你", count: size / 10 + 1)
            var output = Bytes()
            appendJSONString(text, to: &output)
            #expect(try JSONDocument(output).root.string == text)
        }
    }
}

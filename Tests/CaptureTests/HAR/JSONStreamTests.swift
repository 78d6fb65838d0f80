import Capture
import Testing
import Wire

@Suite struct JSONStreamTests {
    /// All tokens of a text, strings with their content.
    private func tokens(_ text: String, by size: Int = 4096) throws(JSONStream.Failure) -> [String]
    {
        var stream = JSONStream(PartSource(Bytes(text.utf8), size: size))
        var tokens: [String] = []
        while true {
            let token = try stream.next()
            switch token {
            case .string: tokens.append("string " + (try stream.text(maximum: 1000).text))
            case .end: return tokens
            default: tokens.append("\(token)")
            }
        }
    }

    @Test func `every value is a token, however the text arrives`() throws {
        let text =
            #" {"a" : [1, -2.5e3,true ,false,null, "x\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"], "b":{}, "c":[]} "#
        let expected = [
            "beginObject", "name(\"a\")", "beginArray", "number(\"1\")", "number(\"-2.5e3\")",
            "bool(true)", "bool(false)", "null", "string x\"\\/\u{8}\u{c}\n\r\té😀", "endArray",
            "name(\"b\")", "beginObject", "endObject", "name(\"c\")", "beginArray", "endArray",
            "endObject",
        ]
        for size in 1...12 { #expect(try tokens(text, by: size) == expected) }
    }

    @Test(arguments: [
        ("", "the file ends where a value is expected", 0),
        ("{", "the file ends where a name in quotes or \"}\" is expected", 1),
        ("[1,]", "\"]\" stands where a value is expected", 3),
        ("[1 2]", "\"2\" stands where \",\" or \"]\" is expected", 3),
        ("{\"a\" 1}", "\"1\" stands where \":\" is expected", 5),
        ("{\"a\":1,}", "\"}\" stands where a name in quotes is expected", 7),
        ("[01]", "01 is no number", 1),
        ("[1.]", "1. is no number", 1),
        ("[tru]", "\"]\" stands where true, false or null is expected", 4),
        ("[\"\n\"]", "0x0a stands unescaped in a string", 2),
        ("[\"\\x\"]", "\"\\x\" is no escape", 2),
        ("[\"\\u12g4\"]", "\"g\" stands where a hexadecimal digit is expected", 2),
        ("[\"abc", "the file ends where the closing quote is expected", 5),
        ("1 2", "\"2\" stands where the end of the text is expected", 2),
        ("[}", "\"}\" stands where a value is expected", 1),
    ])
    func `what is no JSON is told with its place`(
        _ text: String, _ message: String, _ offset: UInt64
    ) throws {
        do {
            _ = try tokens(text)
            Issue.record("no error")
        } catch {
            guard case .malformed(let fault) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(fault.text == message)
            #expect(fault.offset == offset)
        }
    }

    @Test func `a fault names the line and the value`() throws {
        var stream = JSONStream(
            MemorySource(Bytes("{\"log\":\n{\"a\":[0,\n{\"b\":?}]}}".utf8)))
        do {
            while try stream.next() != .end {}
            Issue.record("no error")
        } catch {
            guard case .malformed(let fault) = error else { return }
            #expect(fault.line == 3)
            #expect(fault.path == "log.a[1].b")
            #expect(fault.place == "byte 22, in log.a[1].b")
        }
    }

    @Test func `a value that nobody wants is stepped over`() throws {
        var stream = JSONStream(
            MemorySource(Bytes("{\"a\":{\"b\":[\"]}\",{}]},\"c\":\"d\"}".utf8)))
        #expect(try stream.next() == .beginObject)
        #expect(try stream.next() == .name("a"))
        try stream.skipValue()
        #expect(try stream.next() == .name("c"))
        #expect(try stream.next() == .string)
        #expect(try stream.next() == .endObject)
        #expect(try stream.next() == .end)
        #expect(try stream.next() == .end)
    }

    @Test func `a text that is too deep is refused`() throws {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: JSONStream.Failure.self) { try self.tokens(text) }
    }

    @Test func `a long string is taken in parts, and a cut one says so`() throws {
        let long = String(repeating: "é", count: 300_000)
        var stream = JSONStream(MemorySource(Bytes("[\"\(long)\",\"\(long)\"]".utf8)))
        #expect(try stream.next() == .beginArray)
        #expect(try stream.next() == .string)
        var bytes = Bytes()
        var largest = 0
        var part = Bytes()
        while try stream.part(into: &part) {
            largest = max(largest, part.count)
            bytes += part
            part = []
        }
        #expect(bytes == Bytes(long.utf8))
        #expect(largest <= 64 << 10)
        #expect(try stream.next() == .string)
        let cut = try stream.text(maximum: 10)
        #expect(cut.text == "ééééé")
        #expect(cut.isCut)
        #expect(try stream.next() == .endArray)
    }

    @Test func `a lone surrogate is U+FFFD`() throws {
        #expect(try tokens(#"["\ud800","\ud800\u0041","\udc00x"]"#).contains("string \u{fffd}A"))
    }
}

/// Gives so many bytes at a time.
private final class PartSource: ByteSource {
    let name = "parts"
    private var rest: ArraySlice<UInt8>
    private let size: Int

    init(_ bytes: Bytes, size: Int) {
        rest = bytes[...]
        self.size = size
    }

    func read(into bytes: inout [UInt8], maximum: Int) {
        let count = min(size, maximum)
        bytes += rest.prefix(count)
        rest = rest.dropFirst(count)
    }
}

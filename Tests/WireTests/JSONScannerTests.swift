import Testing
import Wire

@Suite struct JSONScannerTests {
    static let accepted: [(id: String, text: String)] = [
        ("empty array", "[]"),
        ("empty object", "{}"),
        ("space everywhere", " \t\r\n[ \t\r\n1 \n, \r2\t] \n"),
        ("space in an object", " { \"a\" : 1 , \"b\" : { } } "),
        ("a string alone", "\"x\""),
        ("a number alone", "-0"),
        ("a literal alone", "null"),
        ("all literals", "[true,false,null]"),
        ("zero", "[0,-0,0.0,-0.0e-0]"),
        ("exponents", "[1e1,1E1,1e+1,1e-1,1.5e300,1e400,-1E-400]"),
        ("a very long number", String(repeating: "9", count: 2000)),
        ("empty name", #"{"":0}"#),
        ("duplicate names", #"{"a":1,"a":2}"#),
        ("name with escapes", #"{"\u0061\n":1}"#),
        ("every short escape", #"["\"\\\/\b\f\n\r\t"]"#),
        ("a pair of surrogates", #"["\ud83d\ude00"]"#),
        ("a lone high surrogate", #"["\ud83d"]"#),
        ("a lone low surrogate", #"["\ude00x"]"#),
        ("surrogates the wrong way round", #"["\ude00\ud83d"]"#),
        ("an escaped NUL", #"["\u0000"]"#),
        ("DEL and U+2028 unescaped", "[\"\u{7f}\u{2028}\"]"),
        ("four-byte scalars", "[\"😀𝄞\u{10ffff}\"]"),
        ("nested", "[[[[[[{\"a\":[{}]}]]]]]]"),
        ("a string of eight", #"["12345678"]"#),
        ("a string of seven and an escape", #"["1234567\n"]"#),
    ]

    static let rejected: [(id: String, text: String, at: Int)] = [
        ("nothing", "", 0),
        ("only space", " \n", 2),
        ("a byte order mark", "\u{feff}{}", 0),
        ("text behind the value", "{} x", 3),
        ("two values", "1 2", 2),
        ("an open array", "[1", 2),
        ("an open object", #"{"a":1"#, 6),
        ("a comma at the end of an array", "[1,]", 3),
        ("a comma at the end of an object", #"{"a":1,}"#, 7),
        ("a comma at the start", "[,1]", 1),
        ("two commas", "[1,,2]", 3),
        ("a comma in an object only", "{,}", 1),
        ("no comma", "[1 2]", 3),
        ("no colon", #"{"a" 1}"#, 5),
        ("two colons", #"{"a"::1}"#, 5),
        ("no value", #"{"a":}"#, 5),
        ("a name without quotes", "{a:1}", 1),
        ("a name that is a number", "{1:1}", 1),
        ("single quotes", "['a']", 1),
        ("the wrong bracket", "[1}", 2),
        ("the wrong brace", #"{"a":1]"#, 6),
        ("a closing bracket alone", "]", 0),
        ("leading zero", "[01]", 2),
        ("leading plus", "[+1]", 1),
        ("leading point", "[.5]", 1),
        ("trailing point", "[1.]", 3),
        ("minus alone", "[-]", 2),
        ("minus and a letter", "[-a]", 2),
        ("exponent without digits", "[1e]", 3),
        ("exponent with a sign only", "[1e+]", 4),
        ("hexadecimal", "[0x1]", 2),
        ("NaN", "[NaN]", 1),
        ("Infinity", "[-Infinity]", 2),
        ("a literal in capitals", "[True]", 1),
        ("a literal cut short", "[tru]", 4),
        ("a literal too long", "[nulll]", 5),
        ("a comment", "[1/*x*/]", 2),
        ("an unknown escape", #"["\x"]"#, 3),
        ("a capital U escape", #"["\U0041"]"#, 3),
        ("three hexadecimal digits", #"["\u004"]"#, 7),
        ("a sign in an escape", #"["\u+041"]"#, 4),
        ("a bad second half", #"["\ud800\u12g4"]"#, 12),
        ("a line feed in a string", "[\"a\nb\"]", 3),
        ("a tab in a long string", "[\"0123456789\t\"]", 12),
        ("a NUL in a string", "[\"\0\"]", 2),
        ("an open string", "[\"abc", 5),
        ("a string that ends in a backslash", #"["abc\"#, 6),
        ("a form feed as space", "[\u{c}]", 1),
        ("a no-break space", "[\u{a0}1]", 1),
    ]

    @Test(arguments: accepted.map(\.id))
    func `legal JSON is accepted`(id: String) throws {
        let text = try #require(Self.accepted.first { $0.id == id }).text
        let document = try JSONDocument(Bytes(text.utf8))
        #expect(document.tape.count > 0)
        // What was parsed is written so that it says the same.
        let value = try JSON(parsing: text)
        #expect(try JSON(parsing: value.encoded) == value)
        #expect(try JSON(parsing: value.prettyPrinted) == value)
    }

    @Test(arguments: rejected.map(\.id))
    func `illegal JSON is refused at its first wrong byte`(id: String) throws {
        let (_, text, at) = try #require(Self.rejected.first { $0.id == id })
        let error = #expect(throws: JSONError.self) { try JSONDocument(Bytes(text.utf8)) }
        #expect(error?.position == at)
    }

    @Test func `a string's end is found whatever its length and whatever follows`() throws {
        for length in 0...40 {
            for following in ["", " ", String(repeating: " ", count: 20)] {
                let content = String(repeating: "a", count: length)
                let plain = try JSONDocument(Bytes("[\"\(content)\"]\(following)".utf8))
                #expect(plain.tape.range(1) == 1..<length + 3)
                let escaped = try JSONDocument(Bytes("[\"\(content)\\\"\"]\(following)".utf8))
                #expect(escaped.root.elements.first?.string == content + "\"")
                let accented = try JSONDocument(Bytes("[\"\(content)é\"]\(following)".utf8))
                #expect(accented.root.elements.first?.string == content + "é")
                let open = Bytes("[\"\(content)".utf8)
                #expect(
                    throws: JSONError.unexpectedEnd(at: open.count, expected: .quote)
                ) { try JSONDocument(open) }
            }
        }
    }

    @Test func `any number of values fits on the tape, and a shorter text after a longer one`()
        throws
    {
        var scanner = JSONScanner()
        for count in [1, 61, 62, 63, 64, 65, 1000, 5] {
            let text =
                "{\"a\":[" + Array(repeating: "0", count: count).joined(separator: ",") + "]}"
            try scanner.scan(Bytes(text.utf8).span)
            #expect(scanner.tape.count == count + 3)
            #expect(scanner.tape.childCount(2) == count)
        }
    }

    @Test(
        arguments: [
            ([0x80], 0), ([0xc3], 0), ([0xc0, 0xaf], 0), ([0xe0, 0x80, 0x80], 0),
            ([0x61, 0xed, 0xa0, 0x80], 1), ([0xf4, 0x90, 0x80, 0x80], 0), ([0xff], 0),
            ([0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xe4, 0xb8], 9),
        ] as [([UInt8], Int)])
    func `a string that is not UTF-8 is refused`(content: [UInt8], offset: Int) {
        let text = Bytes("[\"".utf8) + content + Bytes("\"]".utf8)
        #expect(throws: JSONError.invalidUTF8(at: 2 + offset)) { try JSONDocument(text) }
    }

    static let contractExample = #"""
        {"id": "cal_create_001", "type": "calendar_create", "payload": {"title": "牙医 \"x\"",
         "start_at": "2026-06-02T15:00:00+08:00", "all_day": false, "n": [1, -2.5e3, null]},
         "timeout_ms": 8000}
        """#

    @Test func `a text cut anywhere is an error, and never a crash`() throws {
        let text = Bytes(Self.contractExample.utf8)
        _ = try JSONDocument(text)
        for end in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONDocument(Bytes(text[..<end])) }
        }
    }

    @Test func `a text with any byte replaced is parsed or refused, and never crashes`() {
        let text = Bytes(Self.contractExample.utf8)
        for position in text.indices {
            for byte in [
                0x00, 0x22, 0x2c, 0x30, 0x5b, 0x5c, 0x5d, 0x75, 0x7b, 0x7d, 0x80, 0xe4, 0xff,
            ] {
                var changed = text
                changed[position] = UInt8(byte)
                guard let value = try? JSON(parsing: changed) else { continue }
                #expect((try? JSON(parsing: value.encoded)) == value)
            }
        }
    }

    @Test(arguments: ["[", #"{"a":"#, "[{\"a\":"])
    func `a hundred thousand levels are an error value`(opening: String) {
        let text = Bytes(String(repeating: opening, count: 100_000).utf8)
        let error = #expect(throws: JSONError.self) { try JSONDocument(text) }
        guard case .tooDeep(limit: 512, at: _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `the depth limit is a number that the caller chooses`() throws {
        let depth = 100_000
        let text =
            Bytes(String(repeating: "[", count: depth).utf8)
            + Bytes(String(repeating: "]", count: depth).utf8)
        let document = try JSONDocument(text, limits: JSONLimits(maximumDepth: depth))
        #expect(document.tape.count == depth)
        // Too deep to be walked recursively, so there is no value of it.
        #expect(document.root.value == nil)
        #expect(throws: JSONError.tooDeep(limit: depth - 1, at: depth - 1)) {
            try JSONDocument(text, limits: JSONLimits(maximumDepth: depth - 1))
        }
        #expect(throws: JSONError.tooDeep(limit: 2, at: 2)) {
            try JSON(parsing: "[[[]]]", limits: JSONLimits(maximumDepth: 2))
        }
    }

    @Test func `a text over the size limit is refused unread`() {
        #expect(throws: JSONError.tooLarge(limit: 3, count: 4)) {
            try JSONDocument(Bytes("nope".utf8), limits: JSONLimits(maximumSize: 3))
        }
    }

    @Test func `every error says where and what was expected`() {
        let rows: [(String, String)] = [
            ("[1", "the JSON ends at byte 2, where \",\" or \"]\" is expected"),
            (
                "{a",
                "byte 1 of the JSON is \"a\", where a member's name in quotes or \"}\" is expected"
            ),
            ("\"\u{1}\"", "byte 1 of the JSON is 0x01, which a string must escape"),
            ("1 2", "byte 2 of the JSON is \"2\", where the end of the text is expected"),
        ]
        for (text, message) in rows {
            let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
            #expect(error?.description == message)
        }
        #expect(JSONError.invalidUTF8(at: 7).description == "byte 7 of the JSON is not UTF-8")
        #expect(
            JSONError.tooDeep(limit: 512, at: 9).description
                == "the JSON is nested deeper than 512 at byte 9")
        #expect(
            JSONError.tooLarge(limit: 5, count: 9).description
                == "the JSON has 9 bytes; the limit is 5")
    }
}

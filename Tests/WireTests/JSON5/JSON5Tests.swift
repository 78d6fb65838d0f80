import Testing
import Wire

@Suite struct JSON5Tests {
    private func read(_ text: String) throws(JSON5Error) -> JSON {
        try JSON(parsingJSON5: Bytes(text.utf8))
    }

    /// The example of json5.org, "Short Example".
    @Test func `the specification's short example is read`() throws {
        let text = #"""
            {
              // comments
              unquoted: 'and you can quote me on that',
              singleQuotes: 'I can use "double quotes" here',
              lineBreaks: "Look, Mom! \
            No \\n's!",
              hexadecimal: 0xdecaf,
              leadingDecimalPoint: .8675309, andTrailing: 8675309.,
              positiveSign: +1,
              trailingComma: 'in objects', andIn: ['arrays',],
              "backwardsCompatible": "with JSON",
            }
            """#
        #expect(
            try read(text) == [
                "unquoted": "and you can quote me on that",
                "singleQuotes": #"I can use "double quotes" here"#,
                "lineBreaks": #"Look, Mom! No \n's!"#,
                "hexadecimal": 912559,
                "leadingDecimalPoint": .number("0.8675309"), "andTrailing": 8_675_309,
                "positiveSign": 1,
                "trailingComma": "in objects", "andIn": ["arrays"],
                "backwardsCompatible": "with JSON",
            ])
    }

    @Test(arguments: [
        // The specification's sections in their order: values, objects, arrays, strings,
        // numbers, comments, white space.
        ("null", "null"), ("true", "true"), ("false", "false"),
        ("{}", "{}"), ("{ a: 1 }", #"{"a":1}"#), (#"{"a":1,}"#, #"{"a":1}"#),
        ("{width: 1920, height: 1080,}", #"{"width":1920,"height":1080}"#),
        (
            #"{image: {width: 1920, "aspect-ratio": "16:9",}}"#,
            #"{"image":{"width":1920,"aspect-ratio":"16:9"}}"#
        ),
        ("{$_: 1, ünïcödé: 2, a1\u{200d}: 3}", "{\"$_\":1,\"ünïcödé\":2,\"a1\u{200d}\":3}"),
        (#"{\u0061b: 1, null: 2, Infinity: 3}"#, #"{"ab":1,"null":2,"Infinity":3}"#),
        (#"{a: 1, a: 2}"#, #"{"a":1,"a":2}"#),
        ("[]", "[]"), ("[1, true, 'three',]", #"[1,true,"three"]"#),
        (#"[[1, true, 'three'], [4, "five", 0x6]]"#, #"[[1,true,"three"],[4,"five",6]]"#),
        (#"'\'\"\\\b\f\n\r\t\v\0'"#, #""'\"\\\b\f\n\r\t\u000b\u0000""#),
        (#"'\x5C\x41\u0041\a\C\/'"#, #""\\AAaC/""#),
        (#"'\uD83C\uDFBC \ud83d\ude00'"#, "\"🎼 😀\""),
        ("'a\\\nb\\\r\nc\\\rd\\\u{2028}e\\\u{2029}f'", #""abcdef""#),
        ("'tab\there \u{2028}\u{2029}'", "\"tab\\there \u{2028}\u{2029}\""),
        ("0", "0"), ("-0", "-0"), ("+0", "0"), ("123", "123"), ("123.456", "123.456"),
        (".456", "0.456"), ("-.5e-2", "-0.5e-2"), ("5.", "5"), ("5.e3", "5e3"), ("5E+3", "5e3"),
        ("0.0", "0.0"), ("0xdecaf", "912559"), ("-0XC0FFEE", "-12648430"), ("+0x0", "0"),
        ("0xffffffffffffffff", "18446744073709551615"), ("1e400", "1e400"),
        ("// a line\n1// end", "1"), ("/* a\n * block // */1/**/", "1"), ("1//", "1"),
        ("\u{feff}\u{a0}\t\u{b}\u{c}\u{2003}\u{2028}1\r\n", "1"),
    ])
    func `what the grammar allows is read`(text: String, expected: String) throws {
        #expect(try read(text).description == expected)
    }

    @Test(arguments: [
        ("", 1, 1, "the text ends where a value is expected"),
        ("{a 1}", 1, 4, "\"1\" stands where \":\" is expected"),
        ("{a: 1 b: 2}", 1, 7, "\"b\" stands where \",\" or \"}\" is expected"),
        ("[1 2]", 1, 4, "\"2\" stands where \",\" or \"]\" is expected"),
        ("[,]", 1, 2, "\",\" stands where a value is expected"),
        ("{,}", 1, 2, "\",\" stands where a name or \"}\" is expected"),
        ("[1,,]", 1, 4, "\",\" stands where a value is expected"),
        ("{1a: 1}", 1, 2, "\"1\" stands where a name or \"}\" is expected"),
        ("{\n  a: True\n}", 2, 6, "\"True\" is no value; a text stands in quotes"),
        ("{\r\n  a: 1,\r  b: Infinity}", 3, 6, "Infinity is no number that can be used here"),
        ("-NaN", 1, 1, "NaN is no number that can be used here"),
        ("01", 1, 1, "a number does not begin with 0 unless it is 0, 0.5 or 0x5"),
        ("-", 1, 2, "the text ends where a digit is expected"),
        (".", 1, 2, "the text ends where a digit is expected"),
        ("+-1", 1, 2, "\"-\" stands where a digit is expected"),
        ("1e", 1, 3, "the text ends where a digit is expected"),
        ("0x", 1, 3, "the text ends where a hexadecimal digit is expected"),
        ("0xg", 1, 3, "\"g\" stands where a hexadecimal digit is expected"),
        ("0x10000000000000000", 1, 1, "the hexadecimal number has more than 64 bits"),
        ("5ms", 1, 2, "\"m\" stands where the end of the number is expected"),
        ("1.2.3", 1, 4, "\".\" stands where the end of the text is expected"),
        ("1 2", 1, 3, "\"2\" stands where the end of the text is expected"),
        (
            "'a\nb'", 1, 3,
            "the line ends within a string; a backslash at its end goes on in the next"
        ),
        ("\n 'abc", 2, 2, "the end of this string is missing"),
        ("'abc\"", 1, 1, "the end of this string is missing"),
        ("1 /* abc", 1, 3, "the end of this comment is missing"),
        ("1 /", 1, 3, "\"/\" stands where the end of the text is expected"),
        (#"'\1'"#, 1, 2, #"the escape \1 stands for nothing"#),
        (#"'\01'"#, 1, 2, #"the escape \01 stands for nothing"#),
        (#"'\xg0'"#, 1, 4, "\"g\" stands where a hexadecimal digit is expected"),
        (#"'a\ud800'"#, 1, 3, "the escape is half of a character; the other half is missing"),
        (#"'\ud800\u0041'"#, 1, 2, "the escape is half of a character; the other half is missing"),
        (#"{\u0031: 1}"#, 1, 2, "\"1\" stands where a letter, \"$\" or \"_\" is expected"),
        (#"{\x61: 1}"#, 1, 2, #"the escape \ stands for nothing"#),
        ("\u{7}", 1, 1, "U+7 stands where a value is expected"),
        ("😀 'a' x", 1, 1, "\"😀\" stands where a value is expected"),
        ("{'😀': x}", 1, 7, "\"x\" is no value; a text stands in quotes"),
    ])
    func `what it does not allow is an error with its place`(
        text: String, line: Int, column: Int, message: String
    ) {
        #expect {
            try read(text)
        } throws: { error in
            "\(error)" == "line \(line), column \(column): \(message)"
        }
    }

    @Test func `every value knows its place`() throws {
        let value = try JSON5(parsing: Bytes("// c\n{ a: [\n 1,'x'] }".utf8))
        guard case .object(let members) = value.content, let member = members.first,
            case .array(let elements) = member.value.content
        else {
            Issue.record("not an object with an array")
            return
        }
        #expect(value.place == JSON5.Place(line: 2, column: 1))
        #expect(member.place == JSON5.Place(line: 2, column: 3))
        #expect(member.value.place == JSON5.Place(line: 2, column: 6))
        #expect(elements.map(\.place.description) == ["line 3, column 2", "line 3, column 4"])
        #expect(elements[0].place < elements[1].place)
    }

    @Test func `bytes that are no text, and texts without an end, are refused`() {
        let rows: [(Bytes, JSON5Error)] = [
            (
                Bytes("{\n a: \"é".utf8) + [0xff],
                JSON5Error(.invalidUTF8, at: JSON5.Place(line: 2, column: 7))
            ),
            (
                Bytes(repeating: UInt8(ascii: "["), count: 1000),
                JSON5Error(.tooDeep(limit: 100), at: JSON5.Place(line: 1, column: 101))
            ),
            (
                Bytes(repeating: UInt8(ascii: " "), count: JSON5.maximumSize + 1),
                JSON5Error(
                    .tooLarge(limit: JSON5.maximumSize, count: JSON5.maximumSize + 1),
                    at: JSON5.Place(line: 1, column: 1))
            ),
        ]
        for (bytes, expected) in rows {
            #expect(throws: expected) { try JSON5(parsing: bytes) }
        }
    }

    @Test func `all JSON is JSON5 and means the same`() throws {
        for text in [
            #"{"a":[1,-2.50e+3,"\u00e9\n",null,true],"a":{}}"#, "[[[]]]", #""\ud83d\ude00""#,
        ] {
            let numbersAsWritten = try JSON(parsing: text).description
                .replacing("e+3", with: "e3")
            #expect(try read(text).description == numbersAsWritten)
        }
    }

    @Test func `a text cut anywhere is an error or a value, and never more`() throws {
        let text = Array(#"{a:[0x1F,'\u0041\x42\\',-.5e+3],/*c*/"b":{c:null,},}"#.utf8)
        for end in 0..<text.count {
            #expect(throws: JSON5Error.self) { try JSON5(parsing: Bytes(text[..<end])) }
        }
        #expect(throws: Never.self) { try JSON5(parsing: Bytes(text)) }
    }
}

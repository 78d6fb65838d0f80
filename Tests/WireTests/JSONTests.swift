import Testing
import Wire

@Suite struct JSONTests {
    @Test func `order, duplicates and the text of numbers survive`() throws {
        let text = #"{"b":1.0,"a":[1e400,-0,12345678901234567890],"b":"x"}"#
        let value = try JSON(parsing: text)
        #expect(value.description == text)
        #expect(value["b"] == "x")
        #expect(value["a"]?[2]?.numberText == "12345678901234567890")
        #expect(value["a"]?[3] == nil)
        #expect(value["c"] == nil)
    }

    @Test func `an integer is exact or nil, however it is spelt`() {
        let rows: [(String, Int64?)] = [
            ("0", 0), ("-0", 0), ("5000", 5000), ("5000.0", 5000), ("5e3", 5000),
            ("5E+3", 5000), ("50000e-1", 5000), ("0.5e1", 5), ("-12.50e1", -125),
            ("0e999999999999999999999", 0), ("0.0e-99999999999999999999", 0),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("9007199254740993", 9_007_199_254_740_993), ("0.5", nil), ("1e-1", nil),
            ("1e400", nil), ("1e999999999999999999999", nil), ("1e-999999999999999999999", nil),
            ("100000000000000000000e-2", 1_000_000_000_000_000_000),
        ]
        for (text, value) in rows {
            #expect(JSON.number(text).integerValue == value, "\(text)")
        }
        #expect(JSON.string("5").integerValue == nil)
    }

    @Test func `strings are compared by their scalars`() {
        #expect(JSON.string("\u{e9}") != JSON.string("e\u{301}"))
        #expect(JSON.object([.init("\u{e9}", 1)]) != JSON.object([.init("e\u{301}", 1)]))
        #expect(JSON.object([.init("\u{e9}", 1)])["e\u{301}"] == nil)
    }

    @Test func `values are equivalent whatever the order of their members`() throws {
        let rows: [(String, String, Bool)] = [
            (#"{"a":1,"b":{"c":2,"d":3}}"#, #"{"b":{"d":3,"c":2},"a":1}"#, true),
            ("[1,2]", "[2,1]", false),
            ("1", "1.0", false),
            (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#, false),
            (#"{"x":0,"a":1,"a":2}"#, #"{"a":1,"x":0,"a":2}"#, true),
            (#"{"a":null}"#, "{}", false),
            (#"{"a":1}"#, #"{"a":"1"}"#, false),
        ]
        for (left, right, expected) in rows {
            let (left, right) = (try JSON(parsing: left), try JSON(parsing: right))
            #expect(left.isEquivalent(to: right) == expected, "\(left) \(right)")
            #expect(right.isEquivalent(to: left) == expected)
        }
    }

    @Test func `pretty printing is a line a value`() throws {
        let value: JSON = ["a": [1, [], ["b": nil]], "c": [:], "d": "x\"y"]
        #expect(
            value.prettyPrinted == """
                {
                  "a": [
                    1,
                    [],
                    {
                      "b": null
                    }
                  ],
                  "c": {},
                  "d": "x\\"y"
                }
                """)
    }

    @Test func `the board's way of escaping is offered`() {
        var output = Bytes()
        JSON.object([.init("<&>", "a\u{2028}\u{2029}\u{2027}é\n")])
            .encode(into: &output, style: .markupSafe)
        #expect(
            String(decoding: output, as: UTF8.self)
                == #"{"\u003c\u0026\u003e":"a\u2028\u2029"# + "\u{2027}é" + #"\n"}"#)
    }

    @Test func `a value that was built deeper than any that is parsed can be written`() {
        var value: JSON = []
        for _ in 0..<2000 { value = .array([value]) }
        #expect(value.encoded.count == 4002)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `what is written is read back the same`(seed: UInt64) throws {
        var source = SplitMix(state: seed)
        let value = Self.randomValue(&source, depth: 5)
        #expect(try JSON(parsing: value.encoded) == value)
        #expect(try JSON(parsing: value.prettyPrinted) == value)
        var markupSafe = Bytes()
        value.encode(into: &markupSafe, style: .markupSafe)
        #expect(try JSON(parsing: markupSafe) == value)
        #expect(try JSONDocument(value.encoded).root.value == value)
    }

    static func randomValue(_ source: inout SplitMix, depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &source) {
        case 0: .null
        case 1: .bool(Bool.random(using: &source))
        case 2: .integer(Int64.random(in: .min ... .max, using: &source))
        case 3: .number(["-0", "1e400", "0.10", "5E-7"].randomElement(using: &source) ?? "0")
        case 4: .string(randomText(&source))
        case 5:
            .array(
                (0..<Int.random(in: 0...4, using: &source)).map { _ in
                    randomValue(&source, depth: depth - 1)
                })
        default:
            .object(
                (0..<Int.random(in: 0...4, using: &source)).map { _ in
                    .init(randomText(&source), randomValue(&source, depth: depth - 1))
                })
        }
    }

    static func randomText(_ source: inout SplitMix) -> String {
        let pool: [Unicode.Scalar] = [
            "a", "z", "\"", "\\", "/", "\n", "\0", "\u{1f}", "\u{7f}", "<", "é", "你", "\u{2028}",
            "😀", "\u{fffd}", "\u{10ffff}", " ", "0",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &source) {
            text.append(pool.randomElement(using: &source) ?? "a")
        }
        return String(text)
    }
}

/// A small generator whose sequence is the same everywhere.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

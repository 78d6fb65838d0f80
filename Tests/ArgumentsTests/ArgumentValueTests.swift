import Arguments
import Testing

/// What a kind of value makes of a word: the value's description, or the sentence of refusal.
private func outcome<Value>(_ value: ArgumentValue<Value>, _ text: String) -> String {
    do {
        return "\(try value.parse(text))"
    } catch {
        return error.sentence
    }
}

private enum Colour: String, CaseIterable, Sendable {
    case red
    case green
    case blue
}

@Suite struct ArgumentValueTests {
    @Test(arguments: [
        ("1", "1"), ("65535", "65535"), ("-1", "-1 is out of range; it goes from 0 to 65535"),
        ("65536", "65536 is out of range; it goes from 0 to 65535"),
        ("", "\"\" is not a whole number"), ("1.5", "\"1.5\" is not a whole number"),
        ("99999999999999999999", "\"99999999999999999999\" is not a whole number"),
    ])
    func `a whole number stays within its bounds`(text: String, expected: String) {
        #expect(outcome(.integer(in: 0...65535), text) == expected)
    }

    @Test(arguments: [
        ("red", "red"), ("gren", "unknown word \"gren\"; did you mean \"green\"?"),
        ("purple", "unknown word \"purple\"; it is one of red, green, blue"),
    ])
    func `a wrong word of a choice names the nearest or all`(text: String, expected: String) {
        #expect(outcome(ArgumentValue<Colour>.choice("COLOUR"), text) == expected)
    }

    @Test(arguments: [
        ("2", "2.0"), ("0.5", "0.5"), ("0", "0 is not greater than 0"),
        ("nan", "\"nan\" is not a number"), ("inf", "\"inf\" is not a number"),
        ("fast", "\"fast\" is not a number"),
    ])
    func `a factor is a finite number above zero`(text: String, expected: String) {
        #expect(outcome(ArgumentValue<Double>.positiveNumber(), text) == expected)
    }

    @Test func `an empty text is refused`() {
        #expect(outcome(.file, "") == "the value is empty")
        #expect(outcome(.file, "-") == "-")
    }

    @Test func `a quoted text can neither move the cursor nor fill the screen`() {
        #expect(quoted("a\u{1b}[2Jb\"\n\u{202e}") == "\"a\\u{1b}[2Jb\\\"\\n\\u{202e}\"")
        #expect(quoted(String(repeating: "x", count: 500)).count == 83)
    }
}

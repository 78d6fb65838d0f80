import Capture
import Testing

@Suite struct LineFaultTests {
    @Test(
        arguments: [
            (.unexpected(nil, expected: "a colon"), "the line ends where a colon should stand"),
            (
                .unexpected(UInt8(ascii: "}"), expected: "a value"),
                "\"}\" at byte 8 where a value should stand"
            ),
            (
                .unexpected(0x20, expected: "a digit"),
                "a space at byte 8 where a digit should stand"
            ),
            (.controlCharacter(0x07), "the byte 0x07 within a string at byte 8"),
            (.notUTF8, "what stands at byte 8 is not UTF-8"),
            (.tooDeep(limit: 128), "values within values more than 128 deep at byte 8"),
            (
                .badValue(field: "seq", expected: "a whole number in range"),
                "\"seq\" is not a whole number in range at byte 8"
            ),
            (.missingField("conn"), "the field \"conn\" is missing"),
            (.contentTwice, "the content is given twice, at byte 8 again"),
            (.otherFormat("har"), "the format is \"har\", not \"bridgetap\""),
            (
                .newerVersion(2, supported: 1),
                "the format's version is 2; this program reads up to 1"
            ),
        ] as [(LineFault.Reason, String)])
    func `a fault says what was wrong and where`(_ row: (reason: LineFault.Reason, text: String)) {
        #expect(LineFault(offset: 7, reason: row.reason).text == row.text)
    }
}

import Capture
import Testing

@Suite struct SessionRemarkTests {
    @Test(
        arguments: [
            (
                .tornLine(bytes: 20),
                "the last line is cut short; the 117 lines before it are used"
            ),
            (
                .damaged("the last gzip member is cut short"),
                "the last gzip member is cut short; the 118 lines up to there are used"
            ),
            (
                .badLine(LineFault(offset: 0, reason: .missingField("t"))),
                "the field \"t\" is missing"
            ),
            (.lineTooLong(limit: 16 << 20), "the line has more than 16 MiB; it is left out"),
            (
                .unknownEvent("hologram", seq: 3),
                "an event \"hologram\", which this program does not know, is left out"
            ),
            (.missingParts(2...2), "part 2 of the session is missing"),
            (.missingParts(2...4), "parts 2 to 4 of the session are missing"),
        ] as [(SessionRemark.Kind, String)])
    func `a remark says what was noticed and what is done`(
        _ row: (kind: SessionRemark.Kind, text: String)
    ) {
        let remark = SessionRemark(
            position: SessionPosition(line: 118, offset: 9000), kind: row.kind)
        #expect(remark.text == row.text)
        #expect(remark.hint?.isEmpty == false)
    }

    @Test(
        arguments: [
            (.empty(name: "a.ndjson"), "a.ndjson is empty"),
            (.notASession(name: "a", what: "a pcap file"), "a is a pcap file, not a session file"),
            (.notASession(name: "a", what: nil), "a is not a session file"),
            (
                .newerVersion(name: "a", version: 2),
                "a has version 2 of the capture format; this program reads up to 1"
            ),
            (
                .badFirstLine(name: "a", LineFault(offset: 3, reason: .notUTF8)),
                "a, line 1: what stands at byte 4 is not UTF-8"
            ),
            (
                .otherSession(name: "b", id: "2", expected: "1"),
                "b is of session 2, the files before it of session 1"
            ),
            (.partTwice(name: "b", part: 3), "b is part 3 of the session, which was given before"),
        ] as [(SessionError, String)])
    func `an error names the file`(_ row: (error: SessionError, text: String)) {
        #expect(row.error.text == row.text)
    }
}

import Capture
import Report
import Testing
import Wire

@Suite struct VerifyTextTests {
    private func verify(_ lines: [String]) throws -> SessionVerifier {
        let text = lines.map { $0 + "\n" }.joined()
        return try SessionVerifier.verify(MemorySource(Bytes(text.utf8), name: "lab.ndjson"))
    }

    private let session = #"""
        {"event":"session","format":"bridgetap","version":1,"id":"a",\#
        "started_at":"2026-06-10T03:20:00.000000000Z","tool":"t","contract":"1.2","source":"proxy"}
        """#
    private let open = #"{"event":"open","seq":1,"t":0,"conn":1,"app":"a:1","board":"b:2"}"#

    @Test func `a whole file is one line`() throws {
        let verifier = try verify([
            session, open, #"{"event":"close","seq":2,"t":1,"conn":1,"from":"app","how":"reset"}"#,
            #"{"event":"end","seq":3,"t":2,"events":2,"bytes_app":0,"bytes_board":0,"dropped":0}"#,
        ])
        let text = VerifyText(isColoured: false).text(name: "lab.ndjson", verifier)
        #expect(text.hasPrefix("lab.ndjson: 3 events, whole\n"))
        #expect(text.split(separator: "\n").count == 1)
    }

    @Test func `each finding is a line with its place`() throws {
        let verifier = try verify([session, open])
        let layout = VerifyText(isColoured: false)
        #expect(
            layout.text(name: "lab\u{1b}.ndjson", verifier)
                == "lab\\u{1b}.ndjson: 1 event, 1 warning\n"
                + "  warning  line 2  no_end  the file has no end line\n")
        #expect(
            layout.hints(verifier) == [
                "the recorder did not end in good order; all that it wrote is used"
            ])
    }
}

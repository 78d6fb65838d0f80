import Capture
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct RedactionTextTests {
    private let session = SessionInfo(
        id: "a", startedAt: "2026-06-10T03:20:00Z", tool: "bridgetap", source: "proxy")

    private func message(_ seq: Int, _ text: String) -> Event {
        Event(
            seq: seq, time: Int64(seq), conn: 1, from: .app,
            kind: .frame(
                .init(
                    header: FrameHeader(opcode: .text, payloadLength: UInt64(text.utf8.count)),
                    content: .whole(Bytes(text.utf8)))))
    }

    @Test func `it tells kinds and fields with their counts, the most frequent first`() throws {
        let key = try #require(RedactionKey(Bytes(repeating: 1, count: RedactionKey.size)))
        let redactor = Redactor(key: key)
        var output: [Event] = []
        _ = redactor.redacted(session)
        for seq in 1...3 {
            redactor.receive(
                message(seq, #"{"id":"a","data":{"text":"Zhang, zhang@mail.com"}}"#), into: &output)
        }
        redactor.receive(message(4, #"{"id":"heartbeat"}"#), into: &output)
        #expect(output.count == 4)
        let text = RedactionText(redactor.manifest, keyID: redactor.keyID).text(name: "a.ndjson")
        #expect(
            text == """
                a.ndjson: 3 of 4 events changed, key \(key.id)
                  kinds
                    3  clipboard
                  found within texts
                    3  email
                  fields
                    3  data.text

                """)
    }

    @Test func `it tells where something personal is left in a redacted session`() throws {
        let scan = try #require(RedactionScan())
        var redacted = session
        redacted.redacted = ["rules": 1, "key": "0011223344556677"]
        scan.receive(Event(time: 0, kind: .session(redacted)))
        scan.receive(message(7, #"{"id":"a","data":{"text":"zhang@mail.com"}}"#))
        #expect(
            RedactionText(scan).text(name: "a.ndjson") == """
                a.ndjson: redacted; 1 place still looks personal
                  seq 7  an e-mail address at a host that is not reserved

                """)
        #expect(
            RedactionText(scan).line(name: "a.ndjson")
                == #"{"session":"a.ndjson","redacted":true,"found":1,"remains":[{"seq":7,"kind":"email"}]}"#
                + "\n")
    }
}

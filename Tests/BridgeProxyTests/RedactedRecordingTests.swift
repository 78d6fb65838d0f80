import BridgeProxy
import Capture
import PhoneBridge
import Simulator
import Testing
import Wire

/// `record --redact`: the session is redacted as it is written.
@Suite struct RedactedRecordingTests {
    private func makeRedactor() -> Redactor? {
        RedactionKey(Bytes(repeating: 3, count: RedactionKey.size)).map { Redactor(key: $0) }
    }

    private func events(_ file: Bytes) throws -> [Event] {
        var reader = SessionReader(MemorySource(file))
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    @Test(arguments: ExampleSession.all.map(\.name))
    func `what is redacted on its way is what is redacted later`(_ name: String) throws {
        let example = try #require(ExampleSession.all.first { $0.name == name })
        let redactor = try #require(makeRedactor())
        let live = try Rehearsal.record(example, tool: "test") { redactor }.session
        let raw = try Rehearsal.record(example, tool: "test").session
        let verifier = try SessionVerifier.verify(MemorySource(live))
        #expect(verifier.findings == [], "\(verifier.findings)")
        #expect(!String(decoding: live, as: UTF8.self).contains("Testmann"))

        let later = try #require(makeRedactor())
        var expected: [Event] = []
        for event in try events(raw) { later.receive(event, into: &expected) }
        later.finish(into: &expected)
        let found = try events(live)
        #expect(found.count == expected.count)
        for (one, other) in zip(found, expected) {
            switch (one.kind, other.kind) {
            case (.end, .end): continue
            case (.frame(let left), .frame(let right))
            where !left.header.fin || left.header.opcode == .continuation:
                // Fragments that did not wait are cut elsewhere.
                #expect(left.header.fin == right.header.fin)
                #expect(left.header.opcode == right.header.opcode)
            default:
                #expect(one.kind == other.kind, "\(one.seq)")
                #expect(one.bridge == other.bridge, "\(one.seq)")
            }
        }
    }
}

import Capture
import PhoneBridge
import Testing
import Wire

@Suite struct RedactionScanTests {
    private func scan(_ file: Bytes) throws -> RedactionScan {
        let scan = try #require(RedactionScan())
        for event in try RedactedWire.events(file) { scan.receive(event) }
        return scan
    }

    @Test func `of a raw session it tells what redaction would replace`() throws {
        let scan = try scan(RedactedWire.people(3).file())
        #expect(!scan.isRedacted)
        #expect(scan.count > 100)
        #expect(scan.manifest.kinds["name", default: 0] > 0)
    }

    @Test func `in a redacted session it finds nothing`() throws {
        let redactor = Redactor(key: try RedactedWire.key())
        let scan = try scan(RedactedWire.people(3).file(redactor))
        #expect(scan.isRedacted)
        #expect(scan.remains == [])
        #expect(scan.count == 0)
    }

    @Test func `in a redacted session it finds what somebody left or put back`() throws {
        var wire = RedactedWire()
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(.board, #"{"id":"a","type":"x","app":"+8613812345678"}"#),
                RedactedWire.frames(.app, #"{"id":"a","data":{"text":"zhang@mail.com"}}"#),
                RedactedWire.frames(.app, #"{"id":"a","data":{"text":"https://mail.com/x"}}"#),
            ])
        let scan = try #require(RedactionScan())
        var session = RedactedWire.session
        session.redacted = ["rules": 1, "key": "0011223344556677"]
        scan.receive(Event(time: 0, kind: .session(session)))
        for event in wire.events { scan.receive(event) }
        #expect(scan.isRedacted)
        #expect(scan.remains.map(\.kind) == [.phone, .email, .host])
        #expect(scan.remainCount == 3 && scan.count == 3)
    }

    @Test func `a session without people has nothing to tell of`() throws {
        var wire = RedactedWire()
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(.app, #"{"id":"heartbeat"}"#),
                RedactedWire.frames(.board, #"{"id":"a","type":"clipboard_read"}"#),
                RedactedWire.frames(.app, #"{"id":"a","data":{"text":""}}"#),
            ])
        #expect(try scan(wire.file()).count == 0)
    }
}

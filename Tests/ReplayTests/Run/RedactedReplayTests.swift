import Capture
import ExampleSessions
import PhoneBridge
import Replay
import Report
import Simulator
import Testing
import Wire

/// A redacted session says of a peer what the raw one says.
@Suite struct RedactedReplayTests {
    private func redactor() throws -> Redactor {
        Redactor(key: try #require(RedactionKey(Bytes(repeating: 7, count: RedactionKey.size))))
    }

    /// An example session, redacted: as a file, and as events.
    private func redacted(_ name: String) throws -> Bytes {
        let redactor = try redactor()
        let memory = SessionMemory()
        var output: (any SessionOutput)?
        var last: Int64 = 0
        var reader = try SessionReader(SessionFileSource(path: Captures.path(name)))
        while let item = try reader.next() {
            guard case .event(let event) = item else { continue }
            last = max(last, event.time)
            if case .session(let session) = event.kind {
                let writer = try SessionWriter(session: redactor.redacted(session)) {
                    (_) throws(OutputError) in memory
                }
                output = RedactedOutput(writer, redactor: redactor)
            } else {
                output?.receive(event)
            }
        }
        output?.close(now: last)
        return memory.bytes
    }

    /// The reference phone's people under the same key.
    private func contacts() throws -> PhoneContacts {
        let redactor = try redactor()
        return PhoneContacts(
            PhoneContacts().entries.map { entry in
                var entry = entry
                entry.name = redactor.redacted(text: entry.name)
                entry.phoneNumbers = entry.phoneNumbers.map { redactor.redacted(text: $0) }
                entry.emails = entry.emails.map { redactor.redacted(text: $0) }
                return entry
            })
    }

    @Test(arguments: Captures.names, [Side.app, .board])
    func `a redacted session replays with the verdict of the raw one`(name: String, side: Side)
        throws
    {
        var reader = SessionReader(MemorySource(try redacted(name)))
        let session = try LoadedSession(
            name, &reader, contract: .current, profile: .contract)
        guard let raw = try Captures.verdict(name, side) else { return }
        var replay = ReferenceReplay()
        replay.contacts = try contacts()
        let verdict = try #require(try Captures.verdict(session, side, replay))
        #expect(!raw.isDifferent)
        let isDifferent = verdict.isDifferent
        #expect(!isDifferent, "\(Captures.told(verdict))")
        #expect(verdict.counts == raw.counts, "\(Captures.told(verdict))")
        #expect(verdict.isExercised(percent: 100))
    }

    @Test(arguments: [Defect.b16, .b28, .a9, .a11])
    func `a defect shows in the replay of a redacted session as in that of the raw one`(
        defect: Defect
    ) throws {
        let side: Side = defect.side == .board ? .app : .board
        for name in Captures.names {
            var replay = ReferenceReplay()
            replay.defects = [defect]
            guard let raw = try Captures.verdict(name, side, replay) else { continue }
            var reader = SessionReader(MemorySource(try redacted(name)))
            let session = try LoadedSession(
                name, &reader, contract: .current, profile: .contract)
            replay.contacts = try contacts()
            let verdict = try #require(try Captures.verdict(session, side, replay))
            #expect(verdict.isDifferent == raw.isDifferent, "\(name): \(Captures.told(verdict))")
            #expect(verdict.counts == raw.counts, "\(name): \(Captures.told(verdict))")
        }
    }

    @Test(arguments: Captures.names)
    func `check says of a redacted session what it says of the raw one`(name: String) throws {
        func breaches(_ source: any ByteSource) throws -> [String] {
            var checker = RuleChecker(contract: .current, profile: .contract)
            var found: [Breach] = []
            var reader = SessionReader(source)
            while let item = try reader.next() {
                if case .event(let event) = item { found += checker.receive(event) }
            }
            found += checker.finish()
            return found.map {
                "\($0.rule.id) \($0.side.rawValue) \($0.conn) \($0.events)"
            }
        }
        let raw = try breaches(SessionFileSource(path: Captures.path(name)))
        #expect(try breaches(MemorySource(redacted(name))) == raw)
    }

    @Test(arguments: Captures.names)
    func `an example session is whole once it is redacted, and the people in it are gone`(
        name: String
    ) throws {
        let file = try redacted(name)
        let verifier = try SessionVerifier.verify(MemorySource(file))
        #expect(verifier.findings == [], "\(verifier.findings)")
        let text = String(decoding: file, as: UTF8.self)
        for word in ["Testmann", "张测试", "ceshi@", "wei@", "Dentist", "insurance"] {
            #expect(!text.contains(word))
        }
    }
}

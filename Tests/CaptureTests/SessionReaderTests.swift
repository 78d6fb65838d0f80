import Capture
import Testing
import Wire

@Suite struct SessionReaderTests {
    @Test func `a followed file gives each event as soon as its line is whole`() throws {
        let session = SampleSession.everyday()
        let whole = try write(session.events).bytes
        let source = MemorySource([])
        var reader = SessionReader(source, follows: true)
        var events: [Event] = []
        var lines = 0
        for byte in whole {
            source.append([byte])
            if byte == UInt8(ascii: "\n") { lines += 1 }
            while let item = try reader.next() {
                guard case .event(let event) = item else {
                    Issue.record("\(item)")
                    return
                }
                events.append(event)
            }
            #expect(events.count == lines)
        }
        #expect(events == (try read(whole).events))
    }

    @Test(arguments: [SessionCompression.gzip, .zstd])
    func `a packed file can be followed`(_ compression: SessionCompression) throws {
        let session = SampleSession.everyday()
        let whole = try write(session.events, compression: compression, batchSize: 1).bytes
        let source = MemorySource([])
        var reader = SessionReader(source, follows: true)
        var count = 0
        for byte in whole {
            source.append([byte])
            while case .event? = try reader.next() { count += 1 }
        }
        #expect(count == session.events.count + 2)
    }

    private static func parts() throws -> [Bytes] {
        var parts: [MemoryOutput] = []
        let writer = try SessionWriter(
            session: SampleSession.info, rotation: Rotation(maximumSize: 1200)
        ) { _ in
            parts.append(MemoryOutput())
            return parts[parts.count - 1]
        }
        for event in SampleSession.everyday().events {
            writer.receive(event)
            writer.flush(now: event.time)
        }
        writer.close(now: 0)
        return parts.map(\.bytes)
    }

    @Test func `a missing part is a remark, and a gap on each open connection`() throws {
        let parts = try Self.parts()
        try #require(parts.count >= 3)
        var reader = try SessionReader([MemorySource(parts[2]), MemorySource(parts[0])])
        var gaps: [Event] = []
        var remarks: [SessionRemark.Kind] = []
        while let item = try reader.next() {
            switch item {
            case .remark(let remark): remarks.append(remark.kind)
            case .event(let event): if case .gap = event.kind { gaps.append(event) }
            }
        }
        #expect(remarks == [.missingParts(2...2)])
        #expect(gaps.count >= 2)
        #expect(
            gaps.allSatisfy { $0.kind == .gap(Event.Gap(length: nil, why: "missing_part")) })
        #expect(Set(gaps.map(\.from)) == [.app, .board])
    }

    @Test func `parts put behind each other in one file are one session`() throws {
        let parts = try Self.parts()
        let events = try read(Bytes(parts.joined())).events
        #expect(rebuild(events) == SampleSession.everyday().sent)
    }

    @Test func `files of several sessions are not one`() throws {
        let one = try write([]).bytes
        let output = MemoryOutput()
        var info = SampleSession.info
        info.id = "another"
        info.part = 2
        try SessionWriter(session: info) { _ in output }.close(now: 0)
        var reader = try SessionReader([
            MemorySource(one, name: "a"), MemorySource(output.bytes, name: "b"),
        ])
        #expect(
            throws: SessionError.otherSession(
                name: "b", id: "another", expected: SampleSession.info.id)
        ) {
            while try reader.next() != nil {}
        }
    }

    @Test func `the same part twice is an error`() throws {
        let parts = try Self.parts()
        var reader = try SessionReader([
            MemorySource(parts[0], name: "a"), MemorySource(parts[0], name: "b"),
        ])
        #expect(throws: SessionError.partTwice(name: "b", part: 1)) {
            while try reader.next() != nil {}
        }
    }

    @Test func `the place of an event is its file and line`() throws {
        let parts = try Self.parts()
        var reader = try SessionReader(parts.map { MemorySource($0) })
        while try reader.next() != nil {}
        #expect(reader.position.input == parts.count - 1)
        #expect(
            reader.position.line == parts[parts.count - 1].count { $0 == UInt8(ascii: "\n") })
    }
}

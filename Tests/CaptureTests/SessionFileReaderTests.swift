import Capture
import Testing
import Wire

@Suite struct SessionFileReaderTests {
    @Test func `a file cut at any byte is used up to its last whole line`() throws {
        let whole = try write(SampleSession.everyday().events).bytes
        let all = try read(whole).events
        let firstLine = (whole.firstIndex(of: UInt8(ascii: "\n")) ?? 0)
        for count in 1..<whole.count {
            let cut = Bytes(whole[..<count])
            guard count >= firstLine else {
                #expect(throws: SessionError.self) { try read(cut) }
                continue
            }
            let (events, remarks) = try read(cut)
            let ends = cut.count { $0 == UInt8(ascii: "\n") }
            let tail = cut.count - (cut.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
            // A line that lacks only its line feed is whole.
            let isWhole = whole[count] == UInt8(ascii: "\n")
            #expect(events == Array(all.prefix(isWhole ? ends + 1 : ends)))
            #expect(remarks == (tail == 0 || isWhole ? [] : [.tornLine(bytes: tail)]))
        }
    }

    @Test func `an event's place and size are those of its line`() throws {
        let whole = try write(SampleSession.everyday().events).bytes
        var reader = SessionFileReader(MemorySource(whole))
        var offset = 0
        var line = 0
        while try reader.next() != nil {
            line += 1
            #expect(reader.position == SessionPosition(line: line, offset: UInt64(offset)))
            offset += reader.lineSize
        }
        #expect(offset == whole.count)
    }

    @Test func `what is wrong with a line does not keep the others from being read`() throws {
        let session = SampleSession.everyday()
        var lines = try write(session.events).bytes.split(separator: UInt8(ascii: "\n"))
            .map { Bytes($0) }
        lines[4] = Bytes("not JSON".utf8)
        lines[6] = Bytes(#"{"event":"hologram","seq":6,"t":1}"#.utf8)
        let (events, remarks) = try read(Bytes(lines.joined(separator: [UInt8(ascii: "\n")])))
        #expect(events.count == session.events.count)
        #expect(
            remarks == [
                .badLine(
                    LineFault(
                        offset: 0,
                        reason: .unexpected(UInt8(ascii: "n"), expected: "an object"))),
                .unknownEvent("hologram", seq: 6),
            ])
    }

    @Test func `a line that is too long is stepped over`() throws {
        let session = SampleSession.everyday()
        let whole = try write(session.events).bytes
        let end = (whole.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        let long = Bytes(repeating: UInt8(ascii: "x"), count: 17 << 20)
        let bytes = Bytes(whole[..<end]) + long + [UInt8(ascii: "\n")] + Bytes(whole[end...])
        let (events, remarks) = try read(bytes)
        #expect(remarks == [.lineTooLong(limit: 16 << 20)])
        #expect(events == (try read(whole).events))
    }

    @Test(
        arguments: [
            ("nothing at all", [], SessionError.empty(name: "memory")),
            ("a text", Bytes("hello\n".utf8), .notASession(name: "memory", what: nil)),
            ("one byte", [0x1f], .notASession(name: "memory", what: nil)),
            (
                "a gzip member of nothing",
                [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                .empty(name: "memory")
            ),
            (
                "gzip that is cut", [0x1f, 0x8b, 8, 0],
                .notASession(name: "memory", what: "the last gzip member is cut short")
            ),
            (
                "a session without its first line",
                Bytes(
                    #"{"event":"end","seq":1,"t":0,"events":0,"bytes_app":0,"bytes_board":0,"dropped":0}"#
                        .utf8),
                .notASession(name: "memory", what: "without its first line")
            ),
            (
                "a newer session",
                Bytes(#"{"event":"session","format":"bridgetap","version":2}"#.utf8),
                .newerVersion(name: "memory", version: 2)
            ),
        ] as [(String, Bytes, SessionError)])
    func `another kind of file is told by its first bytes`(
        _ row: (name: String, bytes: Bytes, error: SessionError)
    ) {
        #expect(throws: row.error, "\(row.name)") { try read(row.bytes) }
    }
}

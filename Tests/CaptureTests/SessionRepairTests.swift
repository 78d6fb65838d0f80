import Capture
import Foundation
import Testing
import Wire

@Suite struct SessionRepairTests {
    @Test func `what is good of a cut file becomes a good file`() throws {
        let session = SampleSession.everyday()
        let whole = try write(session.events).bytes
        let firstLine = (whole.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        for count in stride(from: firstLine, to: whole.count, by: 7) {
            let output = MemoryOutput("fixed.ndjson")
            let repair = try SessionRepair.repair(
                MemorySource(Bytes(whole[..<count])), into: output)
            let verifier = try SessionVerifier.verify(MemorySource(output.bytes))
            #expect(verifier.counts[.error] == nil, "\(count): \(verifier.findings)")
            let (events, remarks) = try read(output.bytes)
            #expect(remarks.isEmpty)
            let kept = events.filter { event in
                if case .note(let note) = event.kind { return note.code != "repair" }
                return !event.isOfWriter
            }
            #expect(kept == Array(session.readBack.prefix(kept.count)))
            #expect(repair.status.isComplete == (repair.lost == 0))
        }
    }

    @Test func `a bad line within is left out and told of, and pieces find their head`() throws {
        var limits = ConnectionLimits()
        limits.maximumPiece = 8
        var session = SampleSession(limits: limits)
        session.open(1)
        session.note("mark", "here")
        session.send(
            1, .app, "POST /a HTTP/1.1\r\nContent-Length: 30\r\n\r\n0123456789abcdefghijklmnopqrst")
        let whole = String(decoding: try write(session.events).bytes, as: UTF8.self)
        var lines = whole.split(separator: "\n").map(String.init)
        lines[2] = "bad"
        let output = MemoryOutput()
        let repair = try SessionRepair.repair(
            MemorySource(Bytes(lines.joined(separator: "\n").utf8)), into: output)
        #expect(repair.lost == 1)
        let (events, _) = try read(output.bytes)
        #expect(rebuild(events) == session.sent)
        let notes = events.compactMap { event in
            if case .note(let note) = event.kind { note.text } else { nil }
        }
        #expect(
            notes == [
                "line 3: \"b\" at byte 1 where an object should stand",
                "repaired: \(session.events.count - 1) events kept, 1 lines lost",
            ])

        lines[3] = "bad"
        let headless = MemoryOutput()
        _ = try SessionRepair.repair(
            MemorySource(Bytes(lines.joined(separator: "\n").utf8)), into: headless)
        let gaps = try read(headless.bytes).events.compactMap { event in
            if case .gap(let gap) = event.kind { gap } else { nil }
        }
        #expect(gaps.map(\.length) == [8, 8, 8, 6])
        #expect(Set(gaps.map(\.why)) == ["unreadable"])
    }

    @Test func `numbers at the ends of their ranges do no harm`() throws {
        for room in [Int.max, 100_000] {
            let output = MemoryOutput()
            output.room = room
            let repair = try SessionRepair.repair(MemorySource(hostileFile), into: output)
            #expect(repair.kept > 100)
        }
    }

    @Test func `a repair never happens in place`() throws {
        let folder = try TemporaryFolder()
        let bytes = try write(SampleSession.everyday().events).bytes
        let path = try folder.write(bytes, to: "lab.ndjson")
        let link = folder.path("link.ndjson")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for target in [path, link] {
            #expect(throws: SessionRepair.FileError.sameFile(path: target)) {
                try SessionRepair.repair(path: path, to: target, overwrites: true)
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes))
        let repair = try SessionRepair.repair(path: path, to: folder.path("good.ndjson.zst"))
        #expect(repair.lost == 0)
        let verifier = try SessionVerifier.verify(
            try SessionFileSource(path: folder.path("good.ndjson.zst")))
        #expect(verifier.worst == nil)
    }

    @Test func `an output that fails is told of`() throws {
        let output = MemoryOutput()
        output.room = 300
        let repair = try SessionRepair.repair(
            MemorySource(try write(SampleSession.everyday().events).bytes), into: output)
        #expect(repair.status.pausedBy?.name == "ENOSPC")
    }
}

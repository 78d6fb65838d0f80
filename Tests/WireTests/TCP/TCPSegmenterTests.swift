import Testing
import Wire

@Suite struct TCPSegmenterTests {
    /// A packet in short: who, flags, relative numbers, payload, time.
    private func lines(
        sequence: UInt32 = 0, isUnderWay: Bool = false,
        _ body: (inout TCPSegmenter, TCPSegmenter.Emit) -> Void
    ) throws -> [String] {
        let opener = try #require(IPEndpoint(parsing: "10.0.0.1:1000"))
        let other = try #require(IPEndpoint(parsing: "10.0.0.2:2000"))
        var segmenter = TCPSegmenter(
            opener: opener, other: other, openerSequence: sequence, otherSequence: sequence,
            isUnderWay: isUnderWay)
        var lines: [String] = []
        body(&segmenter) { packet, time in
            func word(_ offset: Int) -> UInt32 {
                packet[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
            }
            let isOpener = packet[15] == 1
            let flags = packet[33]
            let names = [(1, "F"), (2, "S"), (4, "R"), (8, "P"), (16, "A")]
            let text = names.filter { flags & UInt8($0.0) != 0 }.map(\.1).joined()
            let header = Int(packet[32] >> 4) * 4
            let acknowledged = flags & 16 != 0 ? " \(word(28) &- sequence)" : ""
            lines.append(
                "\(isOpener ? ">" : "<") \(text) \(word(24) &- sequence)\(acknowledged)"
                    + " \(packet.count - 20 - header)B @\(time)")
        }
        return lines
    }

    @Test func `a whole connection is handshake, data, acknowledgments and two FINs`() throws {
        let lines = try lines { segmenter, emit in
            segmenter.open(at: 1, emit)
            segmenter.send([1, 2, 3], fromOpener: true, firstTime: 2, time: 2, emit)
            segmenter.send([4, 5], fromOpener: false, firstTime: 3, time: 3, emit)
            segmenter.finish(fromOpener: true, at: 4, emit)
            segmenter.send([6], fromOpener: false, firstTime: 5, time: 5, emit)
            segmenter.finish(fromOpener: false, at: 6, emit)
            segmenter.send([7], fromOpener: true, firstTime: 7, time: 7, emit)
        }
        #expect(
            lines == [
                "> S 0 0B @1", "< SA 0 1 0B @1", "> A 1 1 0B @1",
                "> PA 1 1 3B @2", "< A 1 4 0B @2",
                "< PA 1 4 2B @3", "> A 4 3 0B @3",
                "> FA 4 3 0B @4", "< A 3 5 0B @4",
                "< PA 3 5 1B @5", "> A 5 4 0B @5",
                "< FA 4 5 0B @6", "> A 5 5 0B @6",
            ])
    }

    @Test func `a refused connection is a SYN and a reset`() throws {
        let lines = try lines { segmenter, emit in
            segmenter.open(at: 1, emit)
            segmenter.refuse(at: 2, emit)
            segmenter.establish(emit)
        }
        #expect(lines == ["> S 0 0B @1", "< RA 0 1 0B @2"])
    }

    @Test func `a reset ends both directions`() throws {
        let lines = try lines { segmenter, emit in
            segmenter.open(at: 1, emit)
            segmenter.reset(fromOpener: false, at: 2, emit)
            segmenter.finish(fromOpener: true, at: 3, emit)
            #expect(segmenter.isOver)
        }
        #expect(lines.suffix(1) == ["< RA 1 1 0B @2"])
        #expect(lines.count == 4)
    }

    @Test func `sequence numbers wrap`() throws {
        let lines = try lines(sequence: .max - 1) { segmenter, emit in
            segmenter.open(at: 1, emit)
            segmenter.send(
                Bytes(repeating: 0, count: 3000), fromOpener: true, firstTime: 2, time: 2, emit)
            segmenter.send([1], fromOpener: true, firstTime: 3, time: 3, emit)
        }
        #expect(
            lines.suffix(6) == [
                "> A 1 1 1460B @2", "> A 1461 1 1460B @2", "> PA 2921 1 80B @2",
                "< A 1 3001 0B @2", "> PA 3001 1 1B @3", "< A 1 3002 0B @3",
            ])
    }

    @Test func `what came in two moments is two segments`() throws {
        let lines = try lines(isUnderWay: true) { segmenter, emit in
            segmenter.send([1, 2, 3], fromOpener: true, firstTime: 1, time: 5, emit)
            segmenter.send([1], fromOpener: true, firstTime: 6, time: 7, emit)
            segmenter.send(
                Bytes(repeating: 0, count: 1500), fromOpener: true, firstTime: 8, time: 9, emit)
        }
        #expect(
            lines == [
                "> A 0 0 1B @1", "> PA 1 0 2B @5", "< A 0 3 0B @5",
                "> PA 3 0 1B @6", "< A 0 4 0B @7",
                "> A 4 0 1B @8", "> A 5 0 1460B @9", "> PA 1465 0 39B @9", "< A 0 1504 0B @9",
            ])
    }

    @Test func `what is to stay together is one segment as long as a packet holds it`() throws {
        let lines = try lines(isUnderWay: true) { segmenter, emit in
            segmenter.send(
                Bytes(repeating: 0, count: 32 << 10), fromOpener: true, firstTime: 1, time: 1,
                isTogether: true, emit)
            segmenter.send(
                Bytes(repeating: 0, count: TCPSegmenter.maximumTogether + 1), fromOpener: true,
                firstTime: 2, time: 2, isTogether: true, emit)
        }
        #expect(
            lines == [
                "> PA 0 0 32768B @1", "< A 0 32768 0B @1", "> A 32768 0 65495B @2",
                "> PA 98263 0 1B @2", "< A 0 98264 0B @2",
            ])
    }

    @Test func `bytes that nobody has leave a hole`() throws {
        let lines = try lines(isUnderWay: true) { segmenter, emit in
            segmenter.skip(100, fromOpener: false, emit)
            segmenter.send([1], fromOpener: false, firstTime: 1, time: 1, emit)
        }
        #expect(lines == ["< PA 100 0 1B @1", "> A 0 101 0B @1"])
    }
}

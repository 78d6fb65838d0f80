import Testing
import Wire

@Suite struct TCPReassemblerTests {
    private struct Segment {
        var sequence: UInt32
        var text: String
        var missing = 0
        var isFIN = false
    }

    /// What comes out: bytes as text, and the rest by a word.
    private func run(
        _ segments: [Segment], from start: UInt32 = 0, acknowledged: UInt32? = nil,
        limits: TCPReassembler.Limits = .init()
    ) -> [String] {
        var reassembler = TCPReassembler(limits: limits)
        reassembler.start(at: start)
        var out: [String] = []
        func drain() {
            while let step = reassembler.next() {
                switch step {
                case .bytes(let bytes, _, _): out.append(String(decoding: bytes, as: UTF8.self))
                case .missing(let count, .lost): out.append("lost \(count)")
                case .missing(let count, .snapLength): out.append("cut \(count)")
                case .differing(let count): out.append("differing \(count)")
                case .early(let count): out.append("early \(count)")
                case .behindEnd(let count): out.append("behind end \(count)")
                case .end: out.append("end")
                }
            }
        }
        for (index, segment) in segments.enumerated() {
            let bytes = Bytes(segment.text.utf8)
            let ready = reassembler.receive(
                sequence: segment.sequence, bytes.span, missing: segment.missing,
                isFIN: segment.isFIN, at: Int64(index))
            if !ready.isEmpty { out.append(String(decoding: bytes[ready], as: UTF8.self)) }
            drain()
            if let acknowledged { reassembler.acknowledge(acknowledged) }
            reassembler.tick(at: Int64(index))
            drain()
        }
        reassembler.giveUp()
        drain()
        return out
    }

    @Test func `segments in order come out as they are`() {
        let segments = [
            Segment(sequence: 0, text: "abc"), Segment(sequence: 3, text: "def", isFIN: true),
        ]
        #expect(run(segments) == ["abc", "def", "end"])
    }

    @Test func `segments out of order wait for those before them`() {
        let segments = [
            Segment(sequence: 6, text: "ghi", isFIN: true), Segment(sequence: 3, text: "def"),
            Segment(sequence: 0, text: "abc"),
        ]
        #expect(run(segments) == ["abc", "def", "ghi", "end"])
    }

    @Test func `numbers wrap, in order and out of it`() {
        let start = UInt32.max - 1
        let segments = [
            Segment(sequence: start, text: "abc"), Segment(sequence: 4, text: "ghi"),
            Segment(sequence: 1, text: "def"),
        ]
        #expect(run(segments, from: start) == ["abc", "def", "ghi"])
    }

    @Test func `what came first stands where segments overlap`() {
        let segments = [
            Segment(sequence: 0, text: "abc"), Segment(sequence: 1, text: "bcd"),
            Segment(sequence: 6, text: "GH"), Segment(sequence: 4, text: "efghij"),
        ]
        #expect(run(segments) == ["abc", "d", "differing 2", "ef", "GH", "ij"])
    }

    @Test func `a repetition with other bytes is told`() {
        let segments = [Segment(sequence: 0, text: "abcdef"), Segment(sequence: 2, text: "cXe")]
        #expect(run(segments) == ["abcdef", "differing 1"])
    }

    @Test func `the snap length leaves a hole of known size`() {
        let segments = [
            Segment(sequence: 0, text: "abc", missing: 7), Segment(sequence: 10, text: "k"),
            Segment(sequence: 12, text: "m", missing: 2), Segment(sequence: 11, text: "l"),
            Segment(sequence: 15, text: "p"),
        ]
        #expect(run(segments) == ["abc", "cut 7", "k", "l", "m", "cut 2", "p"])
    }

    @Test func `a hole is given up behind its bounds, and at the end`() {
        var limits = TCPReassembler.Limits()
        limits.packetsBehindAcknowledged = 2
        let segments = (1...5).map { Segment(sequence: UInt32($0 * 2), text: "xy") }
        #expect(
            run(segments, acknowledged: 20, limits: limits)
                == ["lost 2", "xy", "xy", "xy", "xy", "xy", "lost 8"])
        #expect(run(segments) == ["lost 2", "xy", "xy", "xy", "xy", "xy"])
        limits.maximumBytes = 4
        #expect(run(segments, limits: limits).first == "lost 2")
    }

    @Test func `bytes from before the start are told`() {
        let segments = [Segment(sequence: 10, text: "k"), Segment(sequence: 7, text: "hij")]
        #expect(run(segments, from: 10) == ["k", "early 3"])
    }

    @Test func `bytes behind the FIN are told once and left out, but for probes`() {
        let segments = [
            Segment(sequence: 0, text: "abc", isFIN: true), Segment(sequence: 3, text: "\0"),
            Segment(sequence: 2, text: "cde"), Segment(sequence: 9, text: "xy"),
        ]
        #expect(run(segments) == ["abc", "end", "behind end 2"])
    }

    // What cannot be copied cannot be an operand of the expectation macros.

    @Test func `a start that was guessed gives way to what turns out to be before it`() {
        var reassembler = TCPReassembler()
        let payload = Bytes("abc".utf8)
        reassembler.guessStart(at: 112)
        reassembler.guessStart(at: 110)
        let isEmpty = reassembler.hasGivenNothing
        #expect(isEmpty)
        let late = reassembler.receive(
            sequence: 107, payload.span, missing: 0, isFIN: false, at: 0)
        #expect(late == 0..<3)
        let (first, next) = (reassembler.firstSequence, reassembler.nextSequence)
        #expect(first == 107)
        #expect(next == 110)
        let isTooLate = !reassembler.restart(at: 100)
        #expect(isTooLate)
        // A SYN knows better than any data.
        var certain = TCPReassembler()
        certain.start(at: 110)
        certain.guessStart(at: 90)
        let early = certain.receive(
            sequence: 107, payload.span, missing: 0, isFIN: false, at: 0)
        #expect(early.isEmpty)
        let remark = certain.next()
        #expect(remark == .early(3))
        let isEarlier = certain.restart(at: 107)
        let begins = certain.firstSequence
        #expect(isEarlier)
        #expect(begins == 107)
        let isFar = certain.restart(at: 0x8000_0000)
        #expect(!isFar)
    }

    @Test func `what was held comes out with what its segment acknowledged`() {
        var reassembler = TCPReassembler()
        reassembler.start(at: 0)
        let payload = Bytes("abc".utf8)
        for (sequence, acknowledgment) in [(UInt32(3), UInt32(70)), (6, 80)] {
            _ = reassembler.receive(
                sequence: sequence, payload.span, missing: 0, isFIN: sequence == 6,
                acknowledgment: acknowledgment, at: 5)
        }
        let since = reassembler.waitingSince
        #expect(since == 5)
        let nothing = reassembler.next()
        #expect(nothing == nil)
        reassembler.giveUpHole()
        var steps: [TCPReassembler.Step] = []
        while let step = reassembler.next() { steps.append(step) }
        #expect(
            steps == [
                .missing(3, .lost), .bytes(payload, time: 5, acknowledgment: 70),
                .bytes(payload, time: 5, acknowledgment: 80), .end(acknowledgment: 80),
            ])
        let isWaiting = reassembler.waitingSince != nil
        #expect(!isWaiting)
    }

    @Test func `numbers of another connection are not near`() {
        var reassembler = TCPReassembler()
        let isNear = reassembler.isNear(7)
        #expect(isNear)
        reassembler.start(at: .max - 5)
        let near = [1000, .max - 1000, 0x4000_0000, 0x8000_0000].map { reassembler.isNear($0) }
        #expect(near == [true, true, false, false])
    }

    @Test func `a probe is no repetition`() {
        let segments = [Segment(sequence: 0, text: "abc"), Segment(sequence: 2, text: "\0")]
        #expect(run(segments) == ["abc"])
    }

    @Test func `a segment that is taken as the next one leaves what receive leaves`() {
        var random = SystemRandomNumberGenerator()
        var taken = 0
        for _ in 0..<300 {
            var plain = TCPReassembler()
            var quick = TCPReassembler()
            if Bool.random(using: &random) {
                plain.start(at: 0)
                quick.start(at: 0)
            }
            var next: UInt32 = 0
            for time in 0..<60 as Range<Int64> {
                let isUsual = Int.random(in: 0..<8, using: &random) > 0
                let sequence = isUsual ? next : next &+ UInt32.random(in: 0...9, using: &random)
                let payload = Bytes(
                    repeating: UInt8(truncatingIfNeeded: time),
                    count: Int.random(in: 1...6, using: &random))
                let isFIN = Int.random(in: 0..<40, using: &random) == 0
                let missing = Int.random(in: 0..<30, using: &random) == 0 ? 2 : 0
                next = max(next, sequence &+ UInt32(payload.count + missing))
                let range = plain.receive(
                    sequence: sequence, payload.span, missing: missing, isFIN: isFIN, at: time)
                let isTaken =
                    !isFIN && missing == 0
                    && quick.receiveNext(sequence: sequence, payload.span)
                if isTaken {
                    taken += 1
                    #expect(range == 0..<payload.count)
                } else {
                    let other = quick.receive(
                        sequence: sequence, payload.span, missing: missing, isFIN: isFIN,
                        at: time)
                    #expect(other == range)
                }
                var step = plain.next()
                var other = quick.next()
                #expect(other == step)
                while step != nil {
                    (step, other) = (plain.next(), quick.next())
                    #expect(other == step)
                }
                let states = [plain.isWaiting, plain.hasGivenNothing, plain.isEnded]
                let others = [quick.isWaiting, quick.hasGivenNothing, quick.isEnded]
                #expect(others == states)
                let next = plain.nextSequence ?? 0
                let settled = [next, next &+ 1].map { plain.isSettled(before: $0) }
                #expect(settled == [!states[0] && !states[1], false])
            }
        }
        #expect(taken > 1000)
    }

    @Test func `what is repeated with other bytes is found as far back as is remembered`() {
        var random = SystemRandomNumberGenerator()
        var reassembler = TCPReassembler()
        reassembler.start(at: 0)
        var sent = Bytes()
        for _ in 0..<400 {
            let isLong = Int.random(in: 0..<20, using: &random) == 0
            let count = Int.random(in: 1...(isLong ? 20_000 : 900), using: &random)
            let part = Bytes((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            _ = reassembler.receive(
                sequence: UInt32(sent.count), part.span, missing: 0, isFIN: false, at: 0)
            sent += part
            let start = Int.random(in: max(0, sent.count - 20_000)..<sent.count, using: &random)
            let end = min(sent.count, start + Int.random(in: 2...3000, using: &random))
            guard end - start > 1 else { continue }
            var again = Bytes(sent[start..<end])
            let changed = Int.random(in: 0..<again.count, using: &random)
            again[changed] ^= 1
            _ = reassembler.receive(
                sequence: UInt32(start), again.span, missing: 0, isFIN: false, at: 0)
            let isRemembered = start + changed >= sent.count - 16 << 10
            #expect(reassembler.next() == (isRemembered ? .differing(1) : nil))
        }
    }

    @Test func `any order of any cuts gives the same bytes`() {
        let text = String((0..<64).map { Character(UnicodeScalar(UInt8(0x30 + $0))) })
        let bytes = Array(text.utf8)
        var state: UInt64 = 7
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        for _ in 0..<300 {
            var segments = [
                Segment(sequence: .max - 20, text: text), Segment(sequence: .max - 20, text: "0"),
            ]
            segments.removeFirst()
            for _ in 0..<40 {
                let from = random(64)
                let to = min(64, from + 1 + random(12))
                let part = String(decoding: bytes[from..<to], as: UTF8.self)
                segments.append(
                    Segment(sequence: (.max - 20) &+ UInt32(from), text: part))
            }
            segments.append(Segment(sequence: .max - 20, text: text, isFIN: true))
            let out = run(segments, from: .max - 20)
            #expect(out.dropLast().joined() == text)
            #expect(out.last == "end")
        }
    }
}

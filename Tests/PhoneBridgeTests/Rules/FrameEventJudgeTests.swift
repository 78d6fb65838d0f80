import Capture
import Testing
import Wire

@testable import PhoneBridge

/// A small source of chance that gives the same for the same seed.
private struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

@Suite struct FrameEventJudgeTests {
    private static let pieces = 64

    /// A stream of frames, most of them in order; some break this rule or that.
    private func stream(_ dice: inout Dice, side: Side, deflater: Deflater?) -> Bytes {
        var bytes = Bytes()
        for _ in 0..<Int.random(in: 1...12, using: &dice) {
            var frame = frame(&dice, deflater: deflater)
            let isMasked = side == .app
            if isMasked != (Int.random(in: 0..<20, using: &dice) == 0) {
                frame.header.maskingKey = MaskingKey(rawValue: UInt32(dice.next() >> 32))
            }
            if Int.random(in: 0..<20, using: &dice) == 0 { frame.header.lengthForm = .long }
            if Int.random(in: 0..<20, using: &dice) == 0 { frame.header.rsv ^= 1 }
            if Int.random(in: 0..<30, using: &dice) == 0 {
                frame.header.opcode = Opcode(rawValue: UInt8(dice.next() & 15))
            }
            frame.encode(into: &bytes)
        }
        return bytes
    }

    private func frame(_ dice: inout Dice, deflater: Deflater?) -> Frame {
        let kind = Int.random(in: 0..<10, using: &dice)
        var payload = Bytes()
        for _ in 0..<Int.random(in: 0...(kind < 2 ? 100 : 200), using: &dice) {
            payload += Bytes(
                "aé€😀".unicodeScalars.randomElement(using: &dice).map { "\($0)" }?.utf8
                    .map(\.self) ?? [])
        }
        if Int.random(in: 0..<8, using: &dice) == 0 { payload.append(0xe2) }
        switch kind {
        case 0: return Frame(opcode: .ping, payload: payload)
        case 1:
            return Frame(
                opcode: .close,
                payload: Int.random(in: 0..<3, using: &dice) > 0
                    ? ClosePayload(.normal, "ende").bytes : payload)
        case 2, 3: return Frame(fin: kind == 2, opcode: .continuation, payload: payload)
        case 4, 5:
            guard let deflater else { fallthrough }
            return Frame(rsv: 4, opcode: .text, payload: deflater.compress(payload.span))
        default:
            return Frame(
                fin: Bool.random(using: &dice), opcode: Bool.random(using: &dice) ? .text : .binary,
                payload: payload)
        }
    }

    /// What the judge says that is fed from the bytes themselves.
    private func judgedBytes(
        _ bytes: Bytes, _ role: WebSocketRole, _ deflate: PerMessageDeflate?
    ) -> [FrameViolation] {
        var decoder = FrameDecoder(maximumPayload: Self.pieces)
        var assembler = MessageAssembler(
            deflate: deflate, sender: role, maximumMessage: Self.pieces)
        var judge = FrameJudge(sender: role, deflate: deflate != nil)
        var found: [FrameViolation] = []
        var position = 0
        while let step = decoder.next(bytes.span, at: &position) {
            found += judge.judge(step)
            assembler.receive(step)
            while let output = assembler.next() { found += judge.judge(output) }
        }
        return found
    }

    /// What the judge says that is fed from the events of a recording.
    private func judgedEvents(
        _ bytes: Bytes, _ side: Side, extensions: String?
    ) -> [FrameViolation] {
        var limits = ConnectionLimits()
        limits.maximumPiece = Self.pieces
        let decoder = ConnectionDecoder(
            conn: 1, continued: Event.Continued(extensions: extensions, upgraded: true),
            limits: limits)
        var batch = EventBatch()
        decoder.receive(bytes.span, from: side, at: 0, into: &batch)
        var judge = FrameEventJudge(side, extensions: extensions, knowsExtensions: true)
        return batch.take().flatMap { judge.judge($0) }
    }

    /// Where data cannot be inflated both say so in other words.
    private func words(_ found: [FrameViolation]) -> [String] {
        found.map { violation in
            if case .notInflatable = violation { return "not inflatable" }
            return "\(violation)"
        }.sorted()
    }

    @Test(arguments: 1...400)
    func `a judge fed by events agrees with one fed by bytes`(seed: Int) throws {
        var dice = Dice(UInt64(seed))
        let side: Side = Bool.random(using: &dice) ? .app : .board
        let extensions =
            Bool.random(using: &dice)
            ? "permessage-deflate; client_no_context_takeover; server_no_context_takeover" : nil
        let deflate = extensions.flatMap(PerMessageDeflate.init(agreedIn:))
        let role: WebSocketRole = side == .app ? .client : .server
        let bytes = stream(&dice, side: side, deflater: deflate?.makeDeflater(for: role))
        let expected = words(judgedBytes(bytes, role, deflate))
        #expect(words(judgedEvents(bytes, side, extensions: extensions)) == expected)
    }

    @Test func `the streams of the test break every rule that frames can break`() {
        var kinds: Set<String> = []
        for seed in 1...400 {
            var dice = Dice(UInt64(seed))
            let bytes = stream(&dice, side: .app, deflater: nil)
            for violation in judgedEvents(bytes, .app, extensions: nil) {
                kinds.insert(FrameRules.rule(for: violation)?.id ?? "")
            }
        }
        #expect(kinds.count > 10, "\(kinds.sorted())")
    }
}

import Capture
import Wire

/// Holds what one side of a WebSocket sends, as events tell of it, against the rules for frames.
///
/// The judging is `FrameJudge`'s; this gives it the events in its terms. It says nothing that a
/// hole in the session could explain: behind one, the place where frames begin is a guess until
/// some of them in a row are in order, and the message that they belong to may have begun in it.
struct FrameEventJudge: Sendable {
    private let sender: WebSocketRole
    private var judge: FrameJudge
    /// Whether the extensions are known, so that RSV1 and unreadable data are judged.
    private var knowsExtensions: Bool
    private let deflate: Bool
    /// Frames in order since the last hole; nil while nothing casts doubt on where they begin.
    private var framesInOrder: Int?
    /// A message may be under way whose beginning is not known.
    private var mayContinue = false
    /// The `seq` of what is coming in pieces.
    private var openFrame: Int?
    private var openMessage: Int?

    /// So many frames in order are no accident: random bytes pass for one in fifty times.
    private static let trustedRun = 4

    /// Makes a judge for a side.
    ///
    /// - Parameters:
    ///   - extensions: the `Sec-WebSocket-Extensions` that were agreed on; nil for none.
    ///   - knowsExtensions: whether that is known at all.
    init(_ side: Side, extensions: String?, knowsExtensions: Bool) {
        sender = side == .app ? .client : .server
        deflate =
            knowsExtensions ? extensions.flatMap(PerMessageDeflate.init(agreedIn:)) != nil : true
        self.knowsExtensions = knowsExtensions
        judge = FrameJudge(sender: sender, deflate: deflate)
    }

    /// Something before the next event is missing.
    ///
    /// `hasBoundaries` says whether it is sure all the same where the next frame begins.
    mutating func missed(hasBoundaries: Bool) {
        if !hasBoundaries { framesInOrder = 0 }
        mayContinue = true
        // What was compressed in the hole may be referred to.
        knowsExtensions = false
        openFrame = nil
        openMessage = nil
        judge = FrameJudge(sender: sender, deflate: deflate)
    }

    /// What is wrong with an event of this side: a frame, message, piece or note.
    mutating func judge(_ event: Event) -> [FrameViolation] {
        switch event.kind {
        case .frame(let frame): return judge(frame, seq: event.seq)
        case .message(let message):
            let content: Bytes
            switch message.content {
            case .pieces:
                openMessage = event.seq
                return judge.judge(
                    .begin(
                        opcode: message.opcode, compressed: message.compressed, isOneFrame: false))
            case .whole(let whole): content = whole
            }
            return sure(
                judge.judge(
                    .message(
                        MessageAssembler.Message(
                            opcode: message.opcode, content: content, frames: message.frames,
                            compressed: message.compressed, incomplete: message.incomplete))))
        case .piece(let piece): return judge(piece)
        case .note(let note) where note.code == Event.Note.notInflated:
            return sure(judge.judge(.notInflatable(opcode: .text, why: note.text)))
        default: return []
        }
    }

    private mutating func judge(_ frame: Event.FrameRecord, seq: Int) -> [FrameViolation] {
        // A header that was cut short says nothing.
        guard frame.raw == nil else { return [] }
        let found: [FrameViolation]
        switch frame.content {
        case .pieces:
            openFrame = seq
            found = judge.judge(.header(frame.header))
        case .whole(let payload) where frame.incomplete:
            found =
                judge.judge(.header(frame.header))
                + judge.judge(.payload(payload, offset: 0, isLast: false))
        case .whole(let payload):
            found = judge.judge(.frame(Frame(header: frame.header, payload: payload)))
        }
        if frame.header.opcode == .text || frame.header.opcode == .binary { mayContinue = false }
        guard let run = framesInOrder else { return sure(found) }
        guard found.isEmpty || found == [.strayContinuation] else {
            missed(hasBoundaries: false)
            return []
        }
        framesInOrder = run + 1 < Self.trustedRun ? run + 1 : nil
        return []
    }

    private mutating func judge(_ piece: Event.Piece) -> [FrameViolation] {
        if piece.of == openFrame {
            if piece.last { openFrame = nil }
            return sure(
                judge.judge(
                    .payload(
                        piece.content, offset: piece.offset,
                        isLast: piece.last && !piece.incomplete)))
        }
        guard piece.of == openMessage else { return [] }
        var found = judge.judge(
            .part(piece.content, offset: piece.offset, isLast: piece.last))
        if piece.last {
            openMessage = nil
            found += judge.judge(.end(frames: 0, incomplete: piece.incomplete))
        }
        return sure(found)
    }

    /// Those of the violations that nothing unknown can explain.
    private func sure(_ found: [FrameViolation]) -> [FrameViolation] {
        if found.isEmpty || framesInOrder != nil { return [] }
        return found.filter { violation in
            switch violation {
            case .strayContinuation: !mayContinue
            case .notInflatable: knowsExtensions
            default: true
            }
        }
    }
}

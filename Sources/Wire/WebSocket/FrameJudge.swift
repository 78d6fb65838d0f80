/// Says which rules the frames and messages of one direction break.
///
/// Give it each step of the frame decoder and each output of the message assembler, in order.
/// It only looks: nothing is changed or held back.
package struct FrameJudge: Sendable {
    private let sender: WebSocketRole
    private let deflate: Bool
    private var isClosed = false

    private var isWithinMessage = false
    /// The message under way is text without compression: its frames are looked at.
    private var isPlainText = false
    private var validator = UTF8Validator()
    /// The message under way was found not to be UTF-8; once is enough.
    private var isReported = false

    /// The data frame under way is the last of its message; nil for other frames.
    private var frameIsLast: Bool?
    /// The compressed message in parts is text that was found to be UTF-8 so far.
    private var partsAreText = false
    /// Its own, for its last part may come behind the frame that interrupts it.
    private var partsValidator = UTF8Validator()

    /// Makes a judge of one direction; `deflate` tells whether compression was agreed on.
    package init(sender: WebSocketRole, deflate: Bool) {
        self.sender = sender
        self.deflate = deflate
    }

    /// What is wrong with the next step of the frame decoder.
    package mutating func judge(_ step: FrameDecoder.Step) -> [FrameViolation] {
        switch step {
        case .frame(let frame):
            var found = judge(frame.header)
            if let violation = judge(payload: frame.payload, isLast: true) {
                found.append(violation)
            }
            if frame.header.opcode == .close {
                isClosed = true
                if let violation = ClosePayload(frame.payload).violation {
                    found.append(violation)
                }
            }
            return found
        case .header(let header):
            let found = judge(header)
            if header.opcode == .close { isClosed = true }
            return found
        case .payload(let part, _, let isLast):
            return judge(payload: part, isLast: isLast).map { [$0] } ?? []
        }
    }

    /// What is wrong with the next output of the message assembler, beyond its frames.
    package mutating func judge(_ output: MessageAssembler.Output) -> [FrameViolation] {
        switch output {
        case .message(let message):
            guard message.compressed, message.opcode == .text else { return [] }
            var validator = UTF8Validator()
            let isValid = validator.feed(message.content.span)
            return isValid && (validator.isComplete || message.incomplete) ? [] : [.textNotUTF8]
        case .begin(let opcode, let compressed, _):
            partsAreText = compressed && opcode == .text
            // Without compression the frames are looked at, and are in the middle of it.
            partsValidator = UTF8Validator()
            return []
        case .part(let part, _, _):
            guard partsAreText, !partsValidator.feed(part.span) else { return [] }
            partsAreText = false
            return [.textNotUTF8]
        case .end(_, let incomplete):
            defer { partsAreText = false }
            return partsAreText && !incomplete && !partsValidator.isComplete ? [.textNotUTF8] : []
        case .notInflatable(_, let why):
            // Without compression RSV1 is a reserved bit, which the frame was told of.
            return deflate ? [.notInflatable(why: why)] : []
        case .strayContinuation:
            return []
        }
    }

    private mutating func judge(_ header: FrameHeader) -> [FrameViolation] {
        var found = FrameViolation.violations(
            of: header, from: sender, deflate: deflate, isWithinMessage: isWithinMessage)
        if isClosed { found.append(.afterClose(header.opcode)) }
        guard !header.opcode.isControl, header.opcode != .continuation || isWithinMessage else {
            frameIsLast = nil
            return found
        }
        if header.opcode != .continuation {
            isPlainText = header.opcode == .text && header.rsv & 4 == 0
            validator = UTF8Validator()
            isReported = false
        }
        isWithinMessage = true
        frameIsLast = header.fin
        return found
    }

    private mutating func judge(payload: Bytes, isLast: Bool) -> FrameViolation? {
        guard let frameIsLast else { return nil }
        let endsMessage = isLast && frameIsLast
        if endsMessage { isWithinMessage = false }
        guard isPlainText else { return nil }
        return judge(text: payload, isLast: endsMessage)
    }

    private mutating func judge(text part: Bytes, isLast: Bool) -> FrameViolation? {
        let isValid = validator.feed(part.span) && (!isLast || validator.isComplete)
        guard !isValid, !isReported else { return nil }
        isReported = true
        return .textNotUTF8
    }
}

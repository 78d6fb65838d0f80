/// Puts the frames of one direction together into messages, decompressed (RFC 6455 §5.4,
/// RFC 7692 §7.2.2).
///
/// It accepts every order of frames and tells what it can make of them. Give it a step of the
/// frame decoder with `receive`, then call `next` until it gives nil: a small frame may hold a
/// large message, which comes in parts, and never more than one part is kept.
///
///     idle ──first frame──► gathering ──last frame──► idle
///                               └──bad data──► raw ──last frame──► idle
///
/// A copy shares the decompressor with the original: go on with one of them only.
package struct MessageAssembler {
    /// A message that is not longer than a part.
    package struct Message: Equatable, Sendable {
        package var opcode: Opcode
        /// Decompressed.
        package var content: Bytes
        /// How many data frames it came in, up to here.
        package var frames: Int
        package var compressed: Bool
        /// Its last frame never came: the connection ended, bytes are missing, or another
        /// message began.
        package var incomplete: Bool

        package init(
            opcode: Opcode, content: Bytes, frames: Int = 1, compressed: Bool = false,
            incomplete: Bool = false
        ) {
            self.opcode = opcode
            self.content = content
            self.frames = frames
            self.compressed = compressed
            self.incomplete = incomplete
        }

        /// Whether the message says no more than its only frame does.
        package var isItsFrame: Bool { frames == 1 && !compressed && !incomplete }
    }

    /// What came of the frames.
    package enum Output: Equatable, Sendable {
        /// A message of at most the limit. One that `isItsFrame` comes here too, and shares
        /// its frame's bytes.
        case message(Message)
        /// A message has grown over the limit; `part`s follow, then `end`.
        ///
        /// `isOneFrame`: it is one frame without compression, whose payload is the content.
        case begin(opcode: Opcode, compressed: Bool, isOneFrame: Bool)
        /// The next part of such a message. All but the last have the size of the limit,
        /// however the frames and the bytes were cut.
        case part(Bytes, offset: UInt64, isLast: Bool)
        /// Behind the last part: how many frames it had; `incomplete` as in `Message`.
        case end(frames: Int, incomplete: Bool)
        /// The message is compressed and its content cannot be had; its frames are all there is.
        ///
        /// Nothing more comes of this message. Where parts had begun, a last part and an `end`
        /// that is incomplete stand before this.
        case notInflatable(opcode: Opcode, why: String)
        /// A continuation without a message to continue (RFC 6455 §5.4).
        case strayContinuation
    }

    private enum State {
        case idle
        /// A message is under way.
        case gathering
        /// A message is under way whose content cannot be had.
        case raw
    }

    private let deflate: PerMessageDeflate?
    private let sender: WebSocketRole
    private let maximumMessage: Int
    private var inflater: Inflater?
    /// The inflater does not have the earlier messages that later ones may refer to.
    private var contextIsLost = false

    // The message under way.
    private var state = State.idle
    private var opcode = Opcode.continuation
    private var frames = 0
    private var isCompressed = false
    /// Its last frame is complete.
    private var hasLastFrame = false
    /// Its last frame will not come.
    private var isInterrupted = false
    /// What is not handed out of it yet: at most a part and `inflateStep`.
    private var content = Bytes()
    private var handedOut: UInt64 = 0
    private var inParts = false
    /// The inflater met its limit on output, or has given all that there is.
    private var hasMoreOutput = false
    private var isDrained = false
    /// Why no more can be read, while what was read before is handed out.
    private var failure: String?

    // The frame under way.
    /// It belongs to no message: a control frame, a stray continuation.
    private var skipsFrame = false
    private var frameIsLast = false
    /// Payload that waits for `next`.
    private var input = Bytes()
    private var inputPosition = 0

    private var waiting: [Output] = []

    /// How much is decompressed beyond a part to see whether it is the last.
    private static let inflateStep = 1 << 14

    /// Makes an assembler for one direction.
    ///
    /// - Parameters:
    ///   - deflate: what was agreed; nil without compression.
    ///   - sender: whose frames these are.
    ///   - maximumMessage: the longest message that comes whole, and the size of the parts of
    ///     longer ones. The default is the size above which a capture records in pieces.
    package init(
        deflate: PerMessageDeflate?, sender: WebSocketRole, maximumMessage: Int = 1 << 20
    ) {
        precondition(maximumMessage > 0, "a limit of nothing")
        self.deflate = deflate
        self.sender = sender
        self.maximumMessage = maximumMessage
    }

    /// Whether no message is under way and nothing waits for `next`.
    package var isIdle: Bool {
        if case .idle = state { waiting.isEmpty } else { false }
    }

    // MARK: Input

    /// Takes a step of the frame decoder; call `next` until it gives nil before the next one.
    package mutating func receive(_ step: FrameDecoder.Step) {
        switch step {
        case .frame(let frame):
            begin(frame.header)
            take(frame.payload, isLast: true)
        case .header(let header):
            begin(header)
        case .payload(let part, _, let isLast):
            take(part, isLast: isLast)
        }
    }

    /// Ends the frames: takes what there was of an unfinished one, and ends its message; call
    /// `next` until it gives nil.
    package mutating func finish(_ unfinished: FrameDecoder.Unfinished? = nil) {
        if case .payload(let header, let part) = unfinished {
            begin(header)
            take(part, isLast: false)
        }
        if case .idle = state { return }
        isInterrupted = true
    }

    /// Notes that bytes are missing, and ends the message under way.
    ///
    /// With context takeover, what is compressed cannot be read from here on. Call `next`
    /// until it gives nil.
    package mutating func lose() {
        endInterrupted()
        loseContext()
    }

    private mutating func begin(_ header: FrameHeader) {
        precondition(input.isEmpty, "frames are taken faster than their messages")
        skipsFrame = header.opcode.isControl
        guard !skipsFrame else { return }
        if header.opcode == .continuation {
            if case .idle = state {
                skipsFrame = true
                waiting.append(.strayContinuation)
                return
            }
        } else {
            endInterrupted()
            state = .gathering
            opcode = header.opcode
            isCompressed = header.rsv & 4 != 0
        }
        frames += 1
        frameIsLast = header.fin
    }

    private mutating func take(_ payload: Bytes, isLast: Bool) {
        guard !skipsFrame else { return }
        input = payload
        inputPosition = 0
        if isLast && frameIsLast { hasLastFrame = true }
    }

    // MARK: Output

    /// What comes of the frames received; nil when the next step is wanted.
    package mutating func next() -> Output? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        switch state {
        case .idle:
            return nil
        case .raw:
            dropInput()
            if hasLastFrame || isInterrupted { reset() }
            return nil
        case .gathering:
            let output = isCompressed ? inflateMore() : gatherMore()
            if let output { return output }
            guard isInterrupted else { return nil }
            endInterrupted()
            return waiting.isEmpty ? nil : waiting.removeFirst()
        }
    }

    private mutating func gatherMore() -> Output? {
        if content.isEmpty && !inParts && inputPosition == 0 && input.count <= maximumMessage {
            // Handed on without a copy: most messages are one frame, or one and an empty one.
            content = input
            dropInput()
        }
        while inputPosition < input.count {
            guard content.count < maximumMessage else { return handOut() }
            let count = min(maximumMessage - content.count, input.count - inputPosition)
            content.append(contentsOf: input[inputPosition..<inputPosition + count])
            inputPosition += count
        }
        dropInput()
        return hasLastFrame ? endMessage() : nil
    }

    private mutating func inflateMore() -> Output? {
        let inflater: Inflater
        switch preparedInflater() {
        case .ready(let prepared): inflater = prepared
        case .impossible(let why): return fail(why)
        }
        let payload = input
        while true {
            if content.count > maximumMessage { return handOut() }
            if let why = failure { return fail(why) }
            if isDrained { return endMessage() }
            let limit = maximumMessage - content.count + Self.inflateStep
            let isEnding = inputPosition == input.count && !hasMoreOutput
            if isEnding && !hasLastFrame {
                dropInput()
                return nil
            }
            let outcome =
                isEnding
                ? inflater.endMessage(into: &content, limit: limit)
                : inflater.inflate(payload.span, at: &inputPosition, into: &content, limit: limit)
            switch outcome {
            case .inputUsed:
                hasMoreOutput = false
                isDrained = isEnding
            case .outputFull:
                hasMoreOutput = !isEnding
            case .corrupt(let why):
                // What stood before the damage goes first.
                failure = why
            }
        }
    }

    /// Gives the next full part; before the first, the announcement of it.
    private mutating func handOut() -> Output {
        guard inParts else {
            inParts = true
            return .begin(
                opcode: opcode, compressed: isCompressed,
                isOneFrame: frames == 1 && frameIsLast && !isCompressed)
        }
        let part = Bytes(content.prefix(maximumMessage))
        content.removeFirst(part.count)
        let offset = handedOut
        handedOut += UInt64(part.count)
        return .part(part, offset: offset, isLast: false)
    }

    /// Ends the message under way with its last frame.
    private mutating func endMessage() -> Output? {
        guard inParts else {
            let message = Message(
                opcode: opcode, content: content, frames: frames, compressed: isCompressed)
            reset()
            return .message(message)
        }
        waiting.append(.end(frames: frames, incomplete: false))
        let last = Output.part(content, offset: handedOut, isLast: true)
        reset()
        return last
    }

    /// Ends the message under way, if there is one, without its last frame.
    private mutating func endInterrupted() {
        if case .gathering = state {
            if inParts {
                waiting.append(.part(content, offset: handedOut, isLast: true))
                waiting.append(.end(frames: frames, incomplete: true))
            } else {
                waiting.append(
                    .message(
                        Message(
                            opcode: opcode, content: content, frames: frames,
                            compressed: isCompressed, incomplete: true)))
            }
            if isCompressed { loseContext() }
        }
        reset()
    }

    /// Gives up on the content of the message under way.
    private mutating func fail(_ why: String) -> Output? {
        failure = nil
        let failure = Output.notInflatable(opcode: opcode, why: why)
        if inParts {
            waiting.append(.part(content, offset: handedOut, isLast: true))
            waiting.append(.end(frames: frames, incomplete: true))
        }
        waiting.append(failure)
        loseContext()
        if hasLastFrame || isInterrupted {
            reset()
        } else {
            content = []
            dropInput()
            state = .raw
        }
        return waiting.removeFirst()
    }

    private mutating func reset() {
        state = .idle
        frames = 0
        isCompressed = false
        hasLastFrame = false
        isInterrupted = false
        content = []
        handedOut = 0
        inParts = false
        hasMoreOutput = false
        isDrained = false
        failure = nil
        dropInput()
    }

    private mutating func dropInput() {
        input = []
        inputPosition = 0
    }

    // MARK: Decompression

    private enum Preparation {
        case ready(Inflater)
        case impossible(why: String)
    }

    private mutating func preparedInflater() -> Preparation {
        guard let deflate else {
            return .impossible(why: "compression was not agreed on")
        }
        guard !contextIsLost else {
            return .impossible(why: "earlier messages that it may refer to could not be read")
        }
        if let inflater { return .ready(inflater) }
        guard let made = deflate.makeInflater(for: sender) else {
            return .impossible(why: "out of memory")
        }
        inflater = made
        return .ready(made)
    }

    private mutating func loseContext() {
        guard let deflate else { return }
        if deflate.contextTakeover(of: sender) {
            contextIsLost = true
            inflater = nil
        } else {
            inflater?.reset()
        }
    }
}

/// One end of a WebSocket connection behind its handshake, strict in what it takes
/// (RFC 6455, RFC 7692).
///
/// It has no clock, no socket and no chance: times are arguments, bytes go out as actions, and
/// masking keys come from a closure. All times are nanoseconds of one monotonic clock.
///
///     open ──close()──────────────► closing ──peer's close, or its time is over──► ended
///       ├──peer's close, answered──────────────────────────────────────────────► ended
///       └──failure, close sent─────────────────────────────────────────────────► ended
///     open, closing ──TCP ended──► gone ◄──TCP ended, or its time is over── ended
package struct WebSocketEndpoint {
    /// What the endpoint does, and in what limits.
    package struct Options {
        package var role: WebSocketRole
        /// What the handshake agreed on; nil without compression.
        package var deflate: PerMessageDeflate?
        /// The longest message that is read, in bytes after decompression; by default the
        /// board's limit.
        package var maximumMessage = 32768
        /// How messages are cut into frames.
        package var framing = MessageWriter.Framing.whole
        /// The size in bytes from which messages are compressed; by default the board's.
        package var compressionThreshold = 512
        /// Whether pings are answered, as RFC 6455 §5.5.2 demands.
        package var answersPings = true
        /// How long the peer may take to answer a close frame, and to end TCP after that.
        package var closeTimeout: Int64 = 5_000_000_000

        package init(role: WebSocketRole, deflate: PerMessageDeflate? = nil) {
            self.role = role
            self.deflate = deflate
        }
    }

    /// What the caller has to do or to know, in this order.
    package enum Action: Equatable, Sendable {
        /// Send these bytes.
        case send(Bytes)
        /// A whole message came; text is valid UTF-8.
        case message(Opcode, Bytes)
        /// A ping came; if pings are answered, it has been.
        case ping(Bytes)
        case pong(Bytes)
        /// No more messages come, and none can be sent.
        case closed(Closing)
        /// End the sending side of TCP behind all that was sent, and read on.
        case shutdown
        /// Give up the TCP connection, and be done.
        case drop
    }

    /// How the connection came to its end.
    package struct Closing: Equatable, Sendable {
        /// Who or what ended it.
        package enum Cause: Hashable, Sendable {
            /// The peer closed; the payload is its.
            case peer
            /// This end closed, and the peer answered; the payload is the answer.
            case own
            /// This end failed the connection; the payload is what it sent.
            case failure(EndpointFailure)
            /// TCP ended without a close frame of the peer.
            case lost
            /// The peer did not answer the close frame in time.
            case timeout
        }

        package var cause: Cause
        package var payload: ClosePayload

        package init(_ cause: Cause, _ payload: ClosePayload) {
            self.cause = cause
            self.payload = payload
        }
    }

    private enum State {
        case open
        /// This end has sent a close frame and waits for the peer's.
        case closing(deadline: Int64)
        /// Nothing more is said; TCP is still there.
        case ended(deadline: Int64)
        case gone
    }

    private let options: Options
    private let writer: MessageWriter
    private var state = State.open
    /// Gives all payloads in parts as they come, so that what is wrong is seen at once.
    private var decoder = FrameDecoder(maximumPayload: 0)
    private var reader: StrictMessageReader
    private var header = FrameHeader(opcode: .continuation, payloadLength: 0)
    /// The first frame's header of the message that came last; nil where it is the only frame.
    package private(set) var firstFrame: FrameHeader?
    /// What came of a control frame's payload; at most 125 bytes.
    private var control = Bytes()

    /// Makes an endpoint whose handshake is over.
    ///
    /// `nextKey` gives a client's masking keys, which must be random (RFC 6455 §5.3).
    package init(_ options: Options, nextKey: @escaping () -> MaskingKey) {
        self.options = options
        writer = MessageWriter(
            role: options.role, deflate: options.deflate, framing: options.framing,
            compressionThreshold: options.compressionThreshold, nextKey: nextKey)
        reader = StrictMessageReader(
            sender: options.role.peer, deflate: options.deflate,
            maximumMessage: options.maximumMessage)
    }

    /// When `deadlineReached` wants to be called; nil for never.
    package var deadline: Int64? {
        switch state {
        case .open, .gone: nil
        case .closing(let deadline), .ended(let deadline): deadline
        }
    }

    /// Whether messages can be sent.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    // MARK: Input

    /// Takes bytes from `position` on until there is something to do; empty once all are taken.
    ///
    /// Carry out the actions, and answer what came, before the next call: once a failure or a
    /// close frame behind a message has been taken, nothing can be sent any more.
    package mutating func receive(
        _ bytes: Span<UInt8>, at position: inout Int, now: Int64
    ) -> [Action] {
        var actions: [Action] = []
        while actions.isEmpty, takeNext(bytes, at: &position, now: now, &actions) {}
        return actions
    }

    /// Takes all bytes at once, for a caller who has nothing to answer.
    ///
    /// Compressed messages can be a thousand times as long as their frames: who cannot hold
    /// that, or has to answer messages, takes them one by one with `receive(_:at:now:)`.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [Action] {
        var actions: [Action] = []
        var position = 0
        while takeNext(bytes, at: &position, now: now, &actions) {}
        return actions
    }

    /// Sends a text or binary message; nothing, once the connection is closing.
    package mutating func send(_ opcode: Opcode, _ message: Bytes) -> [Action] {
        precondition(opcode == .text || opcode == .binary, "a message is text or binary")
        guard isOpen else { return [] }
        var bytes = Bytes()
        bytes.reserveCapacity(message.count + 2 * FrameHeader.maximumSize)
        writer.write(opcode, message, into: &bytes)
        return [.send(bytes)]
    }

    /// Sends a ping with at most 125 bytes; nothing, once the connection is closing.
    package mutating func ping(_ payload: Bytes = []) -> [Action] {
        isOpen ? [control(.ping, payload)] : []
    }

    /// Begins the closing handshake; nothing, once the connection is closing (RFC 6455 §7.1.2).
    ///
    /// The reason is cut to 123 bytes. Without a code the close frame is empty.
    package mutating func close(_ code: CloseCode?, _ reason: String = "", now: Int64) -> [Action] {
        guard isOpen else { return [] }
        state = .closing(deadline: later(now))
        let payload = code.map { ClosePayload($0, reason) } ?? .empty
        return [control(.close, payload.bytes)]
    }

    /// Ends what takes too long, if `deadline` has come.
    package mutating func deadlineReached(now: Int64) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        switch state {
        case .closing:
            state = .gone
            return [.closed(Closing(.timeout, .empty)), .drop]
        case .ended:
            state = .gone
            return [.drop]
        case .open, .gone:
            return []
        }
    }

    /// The peer's sending side of TCP has ended, in good order or not.
    package mutating func peerClosed() -> [Action] {
        switch state {
        case .open, .closing:
            state = .gone
            return [.closed(Closing(.lost, .empty)), .drop]
        case .ended:
            state = .gone
            return [.drop]
        case .gone:
            return []
        }
    }

    // MARK: Frames

    /// Takes the next step; false where there is none.
    private mutating func takeNext(
        _ bytes: Span<UInt8>, at position: inout Int, now: Int64, _ actions: inout [Action]
    ) -> Bool {
        switch state {
        case .open, .closing:
            guard let step = decoder.next(bytes, at: &position) else { return false }
            do throws(EndpointFailure) {
                try take(step, now: now, &actions)
            } catch {
                fail(error, now: now, &actions)
            }
            return true
        case .ended, .gone:
            position = bytes.count
            return false
        }
    }

    private mutating func take(
        _ step: FrameDecoder.Step, now: Int64, _ actions: inout [Action]
    ) throws(EndpointFailure) {
        switch step {
        case .frame(let frame):
            try begin(frame.header)
            try take(frame.payload, isLast: true, now: now, &actions)
        case .header(let header):
            try begin(header)
        case .payload(let part, _, let isLast):
            try take(part, isLast: isLast, now: now, &actions)
        }
    }

    private mutating func begin(_ header: FrameHeader) throws(EndpointFailure) {
        let violations = FrameViolation.violations(
            of: header, from: options.role.peer, deflate: options.deflate != nil,
            isWithinMessage: reader.isWithinMessage)
        if let violation = violations.first { throw .violation(violation) }
        self.header = header
        if header.opcode == .text || header.opcode == .binary {
            reader.begin(header)
            firstFrame = header.fin ? nil : header
        }
    }

    private mutating func take(
        _ part: Bytes, isLast: Bool, now: Int64, _ actions: inout [Action]
    ) throws(EndpointFailure) {
        guard header.opcode.isControl else {
            if !part.isEmpty { try reader.take(part) }
            guard isLast && header.fin else { return }
            let (opcode, content) = try reader.end()
            actions.append(.message(opcode, content))
            return
        }
        control += part
        guard isLast else { return }
        let payload = control
        control = []
        switch header.opcode {
        case .ping:
            if options.answersPings && isOpen { actions.append(control(.pong, payload)) }
            actions.append(.ping(payload))
        case .pong:
            actions.append(.pong(payload))
        default:
            try takeClose(ClosePayload(payload), now: now, &actions)
        }
    }

    // MARK: Closing

    /// Answers the peer's close frame, or takes it for the answer (RFC 6455 §5.5.1).
    private mutating func takeClose(
        _ payload: ClosePayload, now: Int64, _ actions: inout [Action]
    ) throws(EndpointFailure) {
        if let violation = payload.violation { throw .violation(violation) }
        if isOpen {
            actions.append(control(.close, payload.bytes))
            actions.append(.closed(Closing(.peer, payload)))
        } else {
            actions.append(.closed(Closing(.own, payload)))
        }
        // The server ends TCP, so that the client's port is free at once (RFC 6455 §7.1.1).
        if options.role == .server { actions.append(.shutdown) }
        state = .ended(deadline: later(now))
    }

    /// Says what is wrong, unless a close frame has gone out already, and ends the connection
    /// (RFC 6455 §7.1.7).
    private mutating func fail(
        _ failure: EndpointFailure, now: Int64, _ actions: inout [Action]
    ) {
        let payload = ClosePayload(failure.closeCode, failure.text)
        if isOpen { actions.append(control(.close, payload.bytes)) }
        actions.append(.closed(Closing(.failure(failure), payload)))
        actions.append(.shutdown)
        state = .ended(deadline: later(now))
    }

    private func control(_ opcode: Opcode, _ payload: Bytes) -> Action {
        var bytes = Bytes()
        writer.writeControl(opcode, payload, into: &bytes)
        return .send(bytes)
    }

    private func later(_ now: Int64) -> Int64 {
        let (sum, overflow) = now.addingReportingOverflow(options.closeTimeout)
        return overflow ? .max : sum
    }
}

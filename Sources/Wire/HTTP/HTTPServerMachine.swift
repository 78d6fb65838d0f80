/// The server's end of one HTTP/1 connection, without I/O (RFC 9112).
///
/// Bytes in, whole requests out, one at a time and in order; answers in, bytes out. Requests
/// that the RFC has a server refuse never come out: they are answered here, and the connection
/// ends. Times are nanoseconds of any steady clock.
///
///     idle --> head --> body --> answering --> idle
///       '--------'--------'-----------'------> closed
///                                 '----------> switched
package struct HTTPServerMachine: Sendable {
    /// What the connection's host has to do, in order.
    package enum Action: Equatable, Sendable {
        /// Answer this, with `respond` or `switchProtocols`, now or later.
        case request(HTTPMessage)
        case send(Bytes)
        /// Another protocol begins; these of its bytes have come already.
        case switched(Bytes)
        /// Send what is queued, then close; what arrives from now on counts for nothing.
        case close
    }

    /// Limits of size and time; times are in nanoseconds.
    package struct Limits: Sendable {
        package var http = HTTPLimits()
        /// Bytes of a request's body; more is refused with 413.
        ///
        /// 16 MiB: three times the largest result that was seen.
        package var maximumBody = 16 << 20
        /// Bytes kept of the requests behind the one that is being answered.
        package var maximumPipelined = 64 << 10
        /// Bytes of a body up to which it is sent with its length, above in chunks.
        package var maximumPlainBody = 2_048
        /// From the connect, or a request's first byte, to the end of its head.
        package var headTime: Int64 = 10_000_000_000
        /// From there to the end of the request.
        package var requestTime: Int64 = 30_000_000_000
        /// Between an answer and the next request's first byte.
        package var idleTime: Int64 = 120_000_000_000

        package init() {}
    }

    private enum State {
        /// Before a request; the time at which waiting ends, and when a new connection was made.
        case idle(until: Int64, connected: Int64?)
        /// Within a head that began so.
        case head(began: Int64)
        /// Within the body of a request that began so.
        case body(HTTPMessage, began: Int64)
        /// The host has the request with this head.
        case answering(HTTPHead)
        case switched
        case closed
    }

    private let limits: Limits
    private let refusal: @Sendable (_ status: Int, _ why: String) -> HTTPMessage
    private var decoder: HTTPDecoder
    private var state: State
    /// What came behind the request that is being answered.
    private var pending = Bytes()
    private var peerHasEnded = false

    /// Makes the machine for a connection accepted `now`.
    ///
    /// - Parameter refusal: makes the answers that the machine gives itself, from a status and
    ///   a sentence; the default is plain text.
    package init(
        limits: Limits = .init(), now: Int64,
        refusal: @escaping @Sendable (_ status: Int, _ why: String) -> HTTPMessage = {
            .plainText($0, $1)
        }
    ) {
        self.limits = limits
        self.refusal = refusal
        decoder = HTTPDecoder(.requests, limits: limits.http)
        state = .idle(until: Self.add(now, limits.headTime), connected: now)
    }

    /// When `deadlineReached` wants to be called; nil while nothing is waited for.
    package var deadline: Int64? {
        switch state {
        case .idle(let until, _): until
        case .head(let began): Self.add(began, limits.headTime)
        case .body(_, let began): Self.add(began, limits.requestTime)
        case .answering, .switched, .closed: nil
        }
    }

    /// Whether the host should go on reading; false while enough waits behind the request that
    /// is being answered.
    package var wantsInput: Bool {
        switch state {
        case .idle, .head, .body: true
        case .answering: pending.count < limits.maximumPipelined
        case .switched, .closed: false
        }
    }

    /// What has come of the request whose body is under way; nil at any other time.
    package var unfinishedRequest: HTTPMessage? {
        if case .body(let message, _) = state { message } else { nil }
    }

    /// Takes in bytes that the client sent.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [Action] {
        var actions: [Action] = []
        read(bytes, now, &actions)
        return actions
    }

    /// Takes in the end of the client's sending; what it asked before is still answered.
    package mutating func peerEnded(now: Int64) -> [Action] {
        var actions: [Action] = []
        peerHasEnded = true
        concludeAfterEnd(&actions)
        return actions
    }

    /// Sends the answer to the request last given out; nothing once the connection is closed.
    ///
    /// - Precondition: a request waits for its answer, or the connection is closed.
    package mutating func respond(_ response: HTTPMessage, now: Int64) -> [Action] {
        guard let request = takeRequest() else { return [] }
        let (bytes, keepsAlive) = response.encodedResponse(
            to: request, maximumPlainBody: limits.maximumPlainBody)
        var actions = [Action.send(bytes)]
        guard keepsAlive else {
            close(&actions)
            return actions
        }
        state = .idle(until: Self.add(now, limits.idleTime), connected: nil)
        let waiting = pending
        pending = []
        read(waiting.span, now, &actions)
        concludeAfterEnd(&actions)
        return actions
    }

    /// Answers an upgrade with a 101 head; the connection then speaks the other protocol.
    ///
    /// - Precondition: as for `respond`.
    package mutating func switchProtocols(_ head: HTTPHead) -> [Action] {
        guard takeRequest() != nil else { return [] }
        var bytes = Bytes()
        head.encode(into: &bytes)
        state = .switched
        let waiting = pending
        pending = []
        return [.send(bytes), .switched(waiting)]
    }

    /// Acts on a deadline that has passed: an idle connection or an unfinished head ends
    /// without a word, an unfinished body with 400.
    package mutating func deadlineReached(now: Int64) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        var actions: [Action] = []
        if case .body(let message, _) = state {
            refuse(400, "the request took too long", to: message.head, &actions)
        } else {
            close(&actions)
        }
        return actions
    }

    private mutating func read(_ bytes: Span<UInt8>, _ now: Int64, _ actions: inout [Action]) {
        var position = 0
        while isReading, let step = decoder.next(bytes, at: &position) {
            take(step, now, &actions)
        }
        switch state {
        case .idle(_, let connected):
            if !decoder.isIdle { state = .head(began: connected ?? now) }
        case .answering:
            pending.append(bytes, position..<bytes.count)
        case .head, .body, .switched, .closed:
            break
        }
    }

    private var isReading: Bool {
        switch state {
        case .idle, .head, .body: true
        case .answering, .switched, .closed: false
        }
    }

    private mutating func take(
        _ step: HTTPDecoder.Step, _ now: Int64, _ actions: inout [Action]
    ) {
        switch step {
        case .head(let head, let framing):
            begin(head, framing, now, &actions)
        case .body(let part):
            guard case .body(var message, let began) = state else { return }
            guard part.count <= limits.maximumBody - message.body.count else {
                refuse(413, "the body has over \(limits.maximumBody) bytes", to: nil, &actions)
                return
            }
            // The state lets go of the body first: otherwise each part would copy all of it.
            state = .closed
            message.body.append(contentsOf: part)
            state = .body(message, began: began)
        case .chunk:
            break
        case .trailers(let lines, _):
            guard case .body(var message, let began) = state else { return }
            message.trailers = lines
            state = .body(message, began: began)
        case .end:
            guard case .body(let message, _) = state else { return }
            state = .answering(message.head)
            actions.append(.request(message))
        case .undecodable(_, let why):
            refuse(
                decoder.isOverLimit && !isInBody ? 431 : 400,
                "this is no request that HTTP/1.1 knows: \(why)", to: nil,
                &actions)
        }
    }

    private var isInBody: Bool {
        if case .body = state { true } else { false }
    }

    private mutating func begin(
        _ head: HTTPHead, _ framing: BodyFraming, _ now: Int64, _ actions: inout [Action]
    ) {
        let began: Int64
        switch state {
        case .idle(_, let connected): began = connected ?? now
        case .head(let time): began = time
        case .body, .answering, .switched, .closed: return
        }
        let violations = HTTPViolation.judge(head)
        if let (status, violation) = violations.firstRefusal {
            refuse(status, violation.text, to: head, &actions)
            return
        }
        if head.fieldLines.has("Expect"), head.isAtLeast11, !head.expectsContinue {
            refuse(417, "this expectation cannot be met", to: head, &actions)
            return
        }
        if case .length(let count) = framing, count > UInt64(limits.maximumBody) {
            refuse(413, "the body has over \(limits.maximumBody) bytes", to: head, &actions)
            return
        }
        let hasBody = framing != .none && framing != .length(0)
        if hasBody, head.expectsContinue {
            actions.append(.send(Bytes("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
        }
        state = .body(HTTPMessage(head: head), began: began)
    }

    /// Once the client has ended its sending: closes unless an answer is still owed.
    private mutating func concludeAfterEnd(_ actions: inout [Action]) {
        guard peerHasEnded else { return }
        switch state {
        case .idle, .head:
            close(&actions)
        case .body(let message, _):
            refuse(400, "the request was cut short", to: message.head, &actions)
        case .answering, .switched, .closed:
            break
        }
    }

    private mutating func refuse(
        _ status: Int, _ why: String, to request: HTTPHead?, _ actions: inout [Action]
    ) {
        let request = request ?? HTTPHead(startLine: .request(method: "GET", target: "/"))
        let (bytes, _) = refusal(status, why).encodedResponse(
            to: request, mayKeepAlive: false, maximumPlainBody: limits.maximumPlainBody)
        actions.append(.send(bytes))
        close(&actions)
    }

    private mutating func close(_ actions: inout [Action]) {
        state = .closed
        pending = []
        actions.append(.close)
    }

    private mutating func takeRequest() -> HTTPHead? {
        switch state {
        case .answering(let head): return head
        case .closed: return nil
        case .idle, .head, .body, .switched:
            preconditionFailure("an answer without a request")
        }
    }

    private static func add(_ time: Int64, _ duration: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(duration)
        return overflow ? .max : sum
    }
}

/// Why a request got no whole response.
package enum HTTPClientError: Error, Equatable, Sendable {
    /// Nothing whole came before the deadline.
    case timeout
    /// The server ended the connection before the response, or within it.
    case closed(isWithinResponse: Bool)
    /// What came is not HTTP; the phrase says what it seems to be.
    case notHTTP(why: String)
    /// The response's body has more bytes than the limit.
    case tooLarge(limit: Int)
    /// A 101 came that the request did not ask for.
    case unexpectedSwitch
    /// Bytes came that no request asked for.
    case unsolicited
}

/// The client's end of one HTTP/1 connection, without I/O: one request at a time (RFC 9112).
///
/// Times are nanoseconds of any steady clock.
///
///     idle --> waiting --> reading --> idle
///       '---------'-----------'------> closed
///                 '------------------> switched
package struct HTTPClientMachine: Sendable {
    /// What the connection's host has to do, in order.
    package enum Action: Equatable, Sendable {
        case send(Bytes)
        /// An interim response (1xx) but 101; the final one is still to come.
        case interim(HTTPHead)
        case response(HTTPMessage)
        /// The server switched protocols; these of the other one's bytes have come already.
        case switched(HTTPHead, Bytes)
        /// The request failed; `close` follows.
        case failed(HTTPClientError)
        /// Close the connection; it takes no further request.
        case close
    }

    /// Limits of size and time; times are in nanoseconds.
    package struct Limits: Sendable {
        package var http = HTTPLimits()
        /// Bytes of a response's body.
        package var maximumBody = 16 << 20
        /// How long a body is held back for a 100 that was asked for (RFC 9110 §10.1.1).
        package var continueTime: Int64 = 1_000_000_000

        package init() {}
    }

    private struct Waiting {
        var request: HTTPHead
        var until: Int64
        /// What waits for a 100, and how long.
        var heldBody: (bytes: Bytes, until: Int64)?
    }

    private enum State {
        case idle
        case waiting(Waiting)
        /// Within the final response.
        case reading(HTTPMessage, BodyFraming, Waiting)
        case switched
        case closed
    }

    private let limits: Limits
    private var decoder: HTTPDecoder
    private var state = State.idle

    /// Makes the machine for a new connection.
    package init(limits: Limits = .init()) {
        self.limits = limits
        decoder = HTTPDecoder(.responses, limits: limits.http)
    }

    /// Whether a request can be sent.
    package var canSend: Bool {
        if case .idle = state { true } else { false }
    }

    /// When `deadlineReached` wants to be called; nil while nothing is waited for.
    package var deadline: Int64? {
        switch state {
        case .waiting(let waiting): min(waiting.until, waiting.heldBody?.until ?? .max)
        case .reading(_, _, let waiting): waiting.until
        case .idle, .switched, .closed: nil
        }
    }

    /// Sends a request, whose whole response must be there within `timeout` nanoseconds.
    ///
    /// With `Expect: 100-continue` the body waits for the 100, a second at most.
    ///
    /// - Precondition: `canSend`.
    package mutating func send(
        _ request: HTTPMessage, timeout: Int64, now: Int64
    ) -> [Action] {
        precondition(canSend, "a request while another one is under way, or after the end")
        let (head, body) = request.encodedRequest()
        var waiting = Waiting(request: request.head, until: Self.add(now, timeout))
        decoder.expectResponse(to: request.head.method ?? "")
        if request.head.expectsContinue, !body.isEmpty {
            waiting.heldBody = (body, Self.add(now, limits.continueTime))
            state = .waiting(waiting)
            return [.send(head)]
        }
        state = .waiting(waiting)
        return [.send(head + body)]
    }

    /// Takes in bytes that the server sent.
    package mutating func receive(_ bytes: Span<UInt8>, now: Int64) -> [Action] {
        var actions: [Action] = []
        var position = 0
        loop: while true {
            switch state {
            case .idle, .waiting, .reading:
                guard let step = decoder.next(bytes, at: &position) else { break loop }
                take(step, &actions)
                if case .switched = state {
                    endSwitch(bytes, at: &position, &actions)
                }
            case .switched, .closed:
                break loop
            }
        }
        if case .idle = state, !decoder.isIdle { fail(.unsolicited, &actions) }
        return actions
    }

    /// Takes in the end of the server's sending.
    package mutating func peerEnded(now: Int64) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .idle:
            close(&actions)
        case .waiting:
            fail(.closed(isWithinResponse: !decoder.isIdle), &actions)
        case .reading:
            if decoder.finish() == .end {
                take(.end, &actions)
            } else {
                fail(.closed(isWithinResponse: true), &actions)
            }
        case .switched, .closed:
            break
        }
        return actions
    }

    /// Acts on a deadline that has passed: sends a body that was held back, or gives up.
    package mutating func deadlineReached(now: Int64) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        var actions: [Action] = []
        if case .waiting(var waiting) = state, now < waiting.until, let body = waiting.heldBody {
            waiting.heldBody = nil
            state = .waiting(waiting)
            return [.send(body.bytes)]
        }
        fail(.timeout, &actions)
        return actions
    }

    private mutating func take(_ step: HTTPDecoder.Step, _ actions: inout [Action]) {
        switch step {
        case .head(let head, let framing):
            begin(head, framing, &actions)
        case .body(let part):
            guard case .reading(var message, let framing, let waiting) = state else { return }
            guard part.count <= limits.maximumBody - message.body.count else {
                fail(.tooLarge(limit: limits.maximumBody), &actions)
                return
            }
            // The state lets go of the body first: otherwise each part would copy all of it.
            state = .closed
            message.body.append(contentsOf: part)
            state = .reading(message, framing, waiting)
        case .chunk:
            break
        case .trailers(let lines, _):
            guard case .reading(var message, let framing, let waiting) = state else { return }
            message.trailers = lines
            state = .reading(message, framing, waiting)
        case .end:
            // The end of an interim response finds the machine waiting.
            guard case .reading(let message, let framing, let waiting) = state else { return }
            actions.append(.response(message))
            // A request whose body was held back is not whole: nothing can follow it.
            if message.head.keepsAlive, waiting.request.keepsAlive, framing != .close,
                waiting.heldBody == nil
            {
                state = .idle
            } else {
                close(&actions)
            }
        case .undecodable(_, let why):
            fail(.notHTTP(why: why), &actions)
        }
    }

    private mutating func begin(
        _ head: HTTPHead, _ framing: BodyFraming, _ actions: inout [Action]
    ) {
        guard case .waiting(var waiting) = state else {
            fail(.unsolicited, &actions)
            return
        }
        switch head.status ?? 0 {
        case 101:
            guard waiting.request.fieldLines.has("Upgrade") else {
                fail(.unexpectedSwitch, &actions)
                return
            }
            actions.append(.switched(head, []))
            state = .switched
        case 100...199:
            actions.append(.interim(head))
            if head.status == 100, let body = waiting.heldBody {
                actions.append(.send(body.bytes))
                waiting.heldBody = nil
                state = .waiting(waiting)
            }
        default:
            state = .reading(HTTPMessage(head: head), framing, waiting)
        }
    }

    /// Hands over the bytes behind a 101, which belong to the other protocol.
    private mutating func endSwitch(
        _ bytes: Span<UInt8>, at position: inout Int, _ actions: inout [Action]
    ) {
        guard case .switched(let head, _)? = actions.last else { return }
        actions[actions.count - 1] = .switched(head, bytes.bytes(position..<bytes.count))
        position = bytes.count
    }

    private mutating func fail(_ error: HTTPClientError, _ actions: inout [Action]) {
        actions.append(.failed(error))
        close(&actions)
    }

    private mutating func close(_ actions: inout [Action]) {
        state = .closed
        actions.append(.close)
    }

    private static func add(_ time: Int64, _ duration: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(duration)
        return overflow ? .max : sum
    }
}

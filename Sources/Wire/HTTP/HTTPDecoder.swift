/// Reads one direction of an HTTP/1 connection, legal or not, losing no byte (RFC 9112).
///
/// It says what is there and judges nothing (`HTTPViolation` does): heads of any sloppy form,
/// bodies of every framing, one message behind the other. What cannot be HTTP comes out as
/// `undecodable` at once. `HTTPEncoder.encode` turns its steps back into the bytes fed.
///
///     head --> length ----------.
///      ^ |---> untilClose ------|
///      | |---> chunkLine <-> chunkData
///      | |         '-> trailers-|
///      | '-----------------> ended
///      '-----------------------'
///
/// Any state but `length`, `untilClose` and `chunkData` can turn to `undecodable` for good.
package struct HTTPDecoder: Sendable {
    /// Which messages cross in the direction.
    package enum Role: Sendable {
        case requests
        case responses
    }

    /// A part of the direction's bytes and what it is.
    package enum Step: Equatable, Sendable {
        /// A head, and how the body's end is found.
        case head(HTTPHead, BodyFraming)
        /// A part of a body as it arrived, without chunk lines; never empty.
        case body(Bytes)
        /// The line before a chunk's data: its size, and the exact bytes since the end of the
        /// data before it.
        ///
        /// Canonical is `SIZE\r\n` for the first and `\r\nSIZE\r\n` for later ones; size 0 is
        /// the last. See `HTTPEncoder.isCanonical(chunkLine:size:isFirst:)`.
        case chunk(size: UInt64, line: Bytes)
        /// The trailer section; behind every last chunk, also when empty.
        ///
        /// `raw` has its exact bytes with the closing empty line, where they are not canonical.
        case trailers([FieldLine], raw: Bytes?)
        /// The message is complete.
        case end
        /// Bytes that are not HTTP, as are all that follow, which come out with the same `why`:
        /// a phrase for a person, such as `a TLS handshake`.
        case undecodable(Bytes, why: String)
    }

    private enum State {
        /// Before or within a head.
        case head
        /// So many bytes of the body are to come, at least one.
        case length(UInt64)
        case untilClose
        case chunkLine
        /// So many bytes of the chunk are to come, at least one.
        case chunkData(UInt64)
        case trailers
        /// Only `end` is to be told.
        case ended
        case undecodable(why: String)
    }

    private let role: Role
    private let limits: HTTPLimits
    private var state = State.head
    private var held = HTTPHeldSection()
    private var headParser: HTTPHeadParser
    private var chunkLine = HTTPChunkLine(isFirst: true)
    private var trailers = HTTPFieldSection()
    private var expected: HTTPExpectedMethods

    /// Makes a decoder for the start of a connection, or any place between two messages.
    package init(_ role: Role, limits: HTTPLimits = .init()) {
        self.role = role
        self.limits = limits
        headParser = HTTPHeadParser(role, maximumMethod: limits.maximumMethod)
        expected = HTTPExpectedMethods(maximumRuns: limits.maximumExpectedRuns)
    }

    /// Tells the method of a request, in order, before its response's head can arrive.
    ///
    /// HEAD and CONNECT change the framing; a response that nobody announced answers GET.
    package mutating func expectResponse(to method: String) {
        expected.append(HTTPExpectedMethods.Kind(method))
    }

    /// Whether it gave up because a head, a chunk line or trailers are over their limit.
    package var isOverLimit: Bool { held.isOverLimit }

    /// Whether the decoder stands between messages and has seen no byte of the next one.
    package var isIdle: Bool {
        if case .head = state { held.bytes.isEmpty } else { false }
    }

    /// The bytes of a head, chunk line or trailer section that is not complete yet.
    package var tail: Bytes { held.bytes }

    /// Reads on from `position`, and moves it behind the bytes of the step returned.
    ///
    /// Nil when the step needs more bytes; then all of `bytes` has been taken in. Behind `end`
    /// the position is that of the next message's first byte. Interim responses (1xx), 101
    /// and 2xx to CONNECT come as a head with framing `none` and `end`; it is for the caller to
    /// go on with another decoder where the protocol changes.
    package mutating func next(_ bytes: Span<UInt8>, at position: inout Int) -> Step? {
        switch state {
        case .head:
            return nextHead(bytes, at: &position)
        case .length(let remaining):
            guard let part = take(bytes, at: &position, atMost: remaining) else { return nil }
            let rest = remaining - UInt64(part.count)
            state = rest == 0 ? .ended : .length(rest)
            return .body(part)
        case .untilClose:
            return take(bytes, at: &position, atMost: .max).map { .body($0) }
        case .chunkLine:
            return nextChunkLine(bytes, at: &position)
        case .chunkData(let remaining):
            guard let part = take(bytes, at: &position, atMost: remaining) else { return nil }
            let rest = remaining - UInt64(part.count)
            state = rest == 0 ? .chunkLine : .chunkData(rest)
            return .body(part)
        case .trailers:
            return nextTrailers(bytes, at: &position)
        case .ended:
            state = .head
            return .end
        case .undecodable(let why):
            return take(bytes, at: &position, atMost: .max).map { .undecodable($0, why: why) }
        }
    }

    /// Tells that the direction has ended, after `next` gave nil.
    ///
    /// `end` where the close ends the message, `undecodable` with the tail where there is one
    /// (a head, chunk line or trailer section cut short), nil otherwise: then the message is
    /// incomplete unless the decoder was idle.
    package mutating func finish() -> Step? {
        let what: String
        switch state {
        case .untilClose, .ended:
            state = .head
            return .end
        case .head: what = "head"
        case .chunkLine: what = "chunk line"
        case .trailers: what = "trailer section"
        case .length, .chunkData, .undecodable: return nil
        }
        guard !held.bytes.isEmpty else { return nil }
        let why = "a \(what) cut short by the end of the connection"
        state = .undecodable(why: why)
        return .undecodable(held.takeAll(), why: why)
    }

    /// Skips `count` bytes that are missing, if they lie within the data of the body under way.
    ///
    /// False where they do not: the decoder then stands before a message, for whoever finds
    /// one, and the bytes of the head, chunk line or trailer section it was in are `tail` before.
    package mutating func skip(_ count: UInt64) -> Bool {
        switch state {
        case .untilClose, .undecodable:
            return true
        case .length(let remaining) where count <= remaining:
            state = count == remaining ? .ended : .length(remaining - count)
            return true
        case .chunkData(let remaining) where count <= remaining:
            state = count == remaining ? .chunkLine : .chunkData(remaining - count)
            return true
        case .head, .length, .chunkLine, .chunkData, .trailers, .ended:
            self = HTTPDecoder(role, limits: limits)
            return false
        }
    }

    private mutating func nextHead(_ bytes: Span<UInt8>, at position: inout Int) -> Step? {
        switch held.gather(
            &headParser, bytes, at: &position, limit: limits.maximumHeadSize, name: "a head")
        {
        case .more, .complete(nil): return nil
        case .impossible(let all, let why): return giveUp(all, why)
        case .complete(let head?):
            let framing = framing(of: head)
            switch framing {
            case .none, .length(0): state = .ended
            case .length(let count): state = .length(count)
            case .chunked:
                chunkLine = HTTPChunkLine(isFirst: true)
                state = .chunkLine
            case .close: state = .untilClose
            }
            return .head(head, framing)
        }
    }

    private mutating func framing(of head: HTTPHead) -> BodyFraming {
        guard case .status(let code, _) = head.startLine else {
            return BodyFraming(ofRequest: head)
        }
        let framing = BodyFraming(ofResponse: head, to: expected.next)
        // The final response to the request is still to come behind an interim one.
        if !(100...199).contains(code) { expected.removeFirst() }
        return framing
    }

    private mutating func nextChunkLine(_ bytes: Span<UInt8>, at position: inout Int) -> Step? {
        switch held.gather(
            &chunkLine, bytes, at: &position, limit: limits.maximumChunkLine, name: "a chunk line")
        {
        case .more: return nil
        case .impossible(let all, let why): return giveUp(all, why)
        case .complete(let chunk):
            state = chunk.size == 0 ? .trailers : .chunkData(chunk.size)
            return .chunk(size: chunk.size, line: chunk.line)
        }
    }

    private mutating func nextTrailers(_ bytes: Span<UInt8>, at position: inout Int) -> Step? {
        switch held.gather(
            &trailers, bytes, at: &position, limit: limits.maximumTrailers,
            name: "a trailer section")
        {
        case .more: return nil
        case .impossible(let all, let why): return giveUp(all, why)
        case .complete(let section):
            state = .ended
            return .trailers(section.fieldLines, raw: section.raw)
        }
    }

    private mutating func giveUp(_ bytes: Bytes, _ why: String) -> Step {
        state = .undecodable(why: why)
        return .undecodable(bytes, why: why)
    }

    private func take(
        _ bytes: Span<UInt8>, at position: inout Int, atMost maximum: UInt64
    ) -> Bytes? {
        let available = bytes.count - position
        guard available > 0 else { return nil }
        let count = maximum < UInt64(available) ? Int(maximum) : available
        let start = position
        position += count
        return bytes.bytes(start..<position)
    }
}

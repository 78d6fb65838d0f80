import Wire

/// Turns the bytes of one connection, both directions, into events.
///
/// It is told the bytes as they come, in wire order a direction, and the time; it never fails:
/// what no decoder can take becomes `data`. The concatenation of what the events of a direction
/// stand for is what was received, which `ConnectionEncoder` gives back.
///
/// A direction goes through these modes:
///
///     http ──(upgrade request, app only)──> undecided ──(frame byte, or 101)──> webSocket
///       │  <──(upper-case letter, or a refusal)──┘
///       └──(101 to WebSocket, board)──> webSocket      (anything else) ──> opaque
///
/// Missing bytes, or a start within the connection, make it `searching` for a place where one
/// of them goes on.
///
/// A class, since a connection has an identity and owns inflaters; not `Sendable`.
package final class ConnectionDecoder {
    /// The number of the connection in its session.
    package let conn: Int
    let limits: ConnectionLimits
    let app: Direction
    let board: Direction

    /// Requests that wait for their response, oldest first.
    private var awaiting: [Awaited] = []
    private var requests = 0
    private var closed = false
    private var lanes = FrameLanes()

    private struct Awaited {
        var exchange: Int
        var method: String
        /// The extensions offered, if this is an upgrade to WebSocket.
        var isUpgrade: Bool
    }

    package init(conn: Int, limits: ConnectionLimits = ConnectionLimits()) {
        self.conn = conn
        self.limits = limits
        app = Direction(side: .app, limits: limits)
        board = Direction(side: .board, limits: limits)
    }

    /// Makes a decoder for a connection that is met after its handshake (capture format,
    /// `continued`).
    package convenience init(
        conn: Int, continued: Event.Continued, limits: ConnectionLimits = ConnectionLimits()
    ) {
        self.init(conn: conn, limits: limits)
        if continued.upgraded {
            becomeWebSocket(extensions: continued.extensions)
        }
    }

    /// Bytes that `side` has sent so far.
    package func byteCount(of side: Side) -> UInt64 { lanes.byteCount(of: side) }

    /// Whether the connection has become a WebSocket.
    package var isWebSocket: Bool { board.mode == .webSocket }

    /// What a file that begins now has to say of this connection.
    package var continued: Event.Continued {
        Event.Continued(extensions: extensions, upgraded: isWebSocket)
    }

    /// Whether it is known what was agreed on: the 101 was seen.
    private(set) var hasMetUpgrade = false
    /// The `Sec-WebSocket-Extensions` of the 101, if there was one.
    private var extensions: String?

    /// Takes in bytes that `side` sent.
    ///
    /// - Parameters:
    ///   - time: nanoseconds of the session; never less than in the call before.
    ///   - packetTime: where the bytes come from a file that is out of order, their own time.
    package func receive(
        _ bytes: Span<UInt8>, from side: Side, at time: Int64, packetTime: Int64? = nil,
        into batch: inout EventBatch
    ) {
        let taken = lanes.receive(
            bytes, of: conn, from: side, at: time, packetTime: packetTime,
            maximumPayload: UInt64(limits.maximumPiece), into: &batch)
        if taken == bytes.count { return }
        closeLanes()
        let direction = direction(side)
        direction.time = time
        direction.packetTime = packetTime == time ? nil : packetTime
        decode(bytes.extracting((taken ?? 0)..<bytes.count), on: direction, into: &batch)
        lanes.open(app, board)
    }

    /// Before anything is done to a direction but by whole frames.
    func closeLanes() {
        lanes.close(app, board)
    }

    func decode(_ bytes: Span<UInt8>, on direction: Direction, into batch: inout EventBatch) {
        var position = 0
        while true {
            if position < bytes.count {
                direction.start = direction.start ?? direction.packetTime ?? direction.time
            }
            switch direction.mode {
            case .http:
                // The end of a message is a step that takes no bytes.
                guard let step = direction.http.next(bytes, at: &position) else { return }
                receive(step, on: direction, into: &batch)
            case .undecided:
                guard position < bytes.count else { return }
                let isHTTP = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[position])
                direction.mode = isHTTP ? .http : .webSocket
            case .webSocket:
                receiveFrames(bytes, at: position, on: direction, into: &batch)
                return
            case .searching:
                guard position < bytes.count else { return }
                search(bytes.bytes(from: position), on: direction, into: &batch)
                return
            case .opaque(let why):
                guard position < bytes.count else { return }
                emitData(bytes.bytes(from: position), why: why, on: direction, into: &batch)
                return
            }
        }
    }

    /// Takes note of how the sending of `side` ended, and of what it left unfinished.
    ///
    /// `fin` ends one direction; every other way ends both. Later calls change nothing.
    package func end(
        _ side: Side, how: Event.Ending, detail: String? = nil, at time: Int64,
        packetTime: Int64? = nil, into batch: inout EventBatch
    ) {
        let direction = direction(side)
        guard !closed, !direction.ended else { return }
        closeLanes()
        for ending in how == .fin ? [direction] : [direction, self.direction(side.peer)]
        where !ending.ended {
            ending.time = time
            ending.packetTime = packetTime == time ? nil : packetTime
            finish(ending, into: &batch)
            ending.ended = true
        }
        closed = app.ended && board.ended
        batch.append(
            Event(
                time: time, packetTime: direction.packetTime, conn: conn, from: side,
                kind: .close(Event.Close(how: how, detail: detail))))
    }

    /// Writes out what both directions hold, where a session ends before its connections do.
    package func flush(at time: Int64, into batch: inout EventBatch) {
        closeLanes()
        for direction in [app, board] where !direction.ended {
            direction.time = max(time, direction.time)
            direction.packetTime = nil
            finish(direction, into: &batch)
        }
    }

    func direction(_ side: Side) -> Direction {
        side == .app ? app : board
    }

    // MARK: HTTP

    private func receive(
        _ step: HTTPDecoder.Step, on direction: Direction, into batch: inout EventBatch
    ) {
        guard !direction.isBroken || !receiveBroken(step, on: direction, into: &batch) else {
            return
        }
        switch step {
        case .head(let head, let framing):
            open(head, framing: framing, on: direction, into: &batch)
        case .body(let bytes):
            append(bytes, on: direction, into: &batch)
        case .chunk(let size, let line):
            appendChunk(size: size, line: line, on: direction, into: &batch)
        case .trailers(let fieldLines, let raw):
            direction.open?.trailers = fieldLines
            direction.open?.rawTrailers = raw
            direction.open?.lastLine = []
        case .end:
            guard let item = direction.open else { return }
            close(item, incomplete: false, on: direction, into: &batch)
            direction.start = nil
            itemEnded(item.kind, on: direction, into: &batch)
        case .undecodable(let bytes, let why):
            var rest = bytes
            if let item = direction.open {
                close(item, incomplete: true, on: direction, into: &batch)
                rest = item.lastLine + bytes
            }
            emitData(rest, why: why, on: direction, into: &batch)
            direction.mode = .opaque(why: why)
        }
    }

    func itemEnded(
        _ kind: Direction.OpenItem.Kind, on direction: Direction, into batch: inout EventBatch
    ) {
        switch kind {
        case .request: requestEnded(on: direction)
        case .response(let response): responseEnded(response, into: &batch)
        case .frame: break
        }
    }

    private func open(
        _ head: HTTPHead, framing: BodyFraming, on direction: Direction,
        into batch: inout EventBatch
    ) {
        let body = Event.Body(framing: framing)
        switch head.startLine {
        case .request(let method, let target):
            requests += 1
            let isUpgrade = head.isUpgradeToWebSocket
            awaiting.append(
                Awaited(exchange: requests, method: method, isUpgrade: isUpgrade))
            board.http.expectResponse(to: method)
            direction.openItem(
                .request(
                    Event.Request(
                        exchange: requests, method: method, target: target,
                        version: head.version, headers: head.fieldLines, raw: head.raw,
                        body: body)))
        case .status(let code, let reason):
            let exchange = awaiting.first?.exchange ?? 0
            if code == 101, head.fieldLines.has("Sec-WebSocket-Extensions") {
                extensions = head.fieldLines.members(of: "Sec-WebSocket-Extensions")
                    .joined(separator: ", ")
            }
            direction.openItem(
                .response(
                    Event.Response(
                        exchange: exchange, status: code, reason: reason,
                        version: head.version, headers: head.fieldLines, raw: head.raw,
                        body: body)))
        }
    }

    private func requestEnded(on direction: Direction) {
        if awaiting.count > limits.maximumPipelined {
            direction.mode = .opaque(
                why: "more than \(limits.maximumPipelined) requests without an answer")
        } else if awaiting.last?.isUpgrade == true {
            direction.mode = .undecided
        }
    }

    private func responseEnded(_ response: Event.Response, into batch: inout EventBatch) {
        let isInterim = (100..<200).contains(response.status) && response.status != 101
        guard !isInterim else { return }
        let answered = awaiting.isEmpty ? nil : awaiting.removeFirst()
        if response.status == 101 {
            if response.headers.has(token: "websocket", in: "Upgrade") {
                becomeWebSocket(extensions: extensions)
            } else {
                let upgrade = response.headers.first("Upgrade") ?? "nothing"
                let why = "a tunnel after an upgrade to \(upgrade)"
                becomeOpaque(app, why: why, into: &batch)
                becomeOpaque(board, why: why, into: &batch)
            }
        } else if answered?.isUpgrade == true {
            upgradeRefused(status: response.status, into: &batch)
        }
    }

    private func upgradeRefused(status: Int, into batch: inout EventBatch) {
        switch app.mode {
        case .undecided:
            app.mode = .http
        case .webSocket:
            batch.append(
                Event(
                    time: board.time, conn: conn, from: .app,
                    kind: .note(
                        Event.Note(
                            code: "upgrade_refused",
                            text:
                                "the app sent frames before the answer, which was \(status): the upgrade was refused"
                        ))))
            if app.frames.isIdle { app.mode = .http }
        case .http, .searching, .opaque:
            break
        }
    }

    /// Both directions carry frames from here on; the app's may have begun before.
    func becomeWebSocket(extensions: String?) {
        self.extensions = extensions
        hasMetUpgrade = true
        let deflate = extensions.flatMap(PerMessageDeflate.init(agreedIn:))
        for direction in [app, board] {
            direction.deflate = deflate
            switch direction.mode {
            case .http where direction.http.isIdle && direction.open == nil, .undecided:
                direction.mode = .webSocket
            case .searching:
                direction.search.expectsFrames = true
            case .http, .webSocket, .opaque:
                break
            }
        }
    }

    /// Forgets requests whose answers may have been missed, all but the last one, for whose
    /// answer the board's decoder is set.
    func forgetAwaited() {
        awaiting = awaiting.suffix(1)
        if let last = awaiting.last { board.http.expectResponse(to: last.method) }
    }

    /// Gives up on a direction between two of its bytes, and writes what its decoder holds.
    private func becomeOpaque(
        _ direction: Direction, why: String, into batch: inout EventBatch
    ) {
        // It is the board's answer that ends it, now.
        direction.time = max(direction.time, board.time)
        switch direction.mode {
        case .http, .undecided:
            var held = direction.http.tail
            if let item = direction.open {
                close(item, incomplete: true, on: direction, into: &batch)
                held = item.lastLine + held
            }
            emitData(held, why: why, on: direction, into: &batch)
        case .webSocket:
            finishWebSocket(direction, into: &batch)
        case .searching:
            let held = direction.search.takeAll()
            emitData(held, why: why, on: direction, into: &batch)
        case .opaque:
            return
        }
        direction.mode = .opaque(why: why)
    }

    // MARK: Ends and bytes that are nobody's

    private func finish(_ direction: Direction, into batch: inout EventBatch) {
        switch direction.mode {
        case .http, .undecided:
            finishHTTP(direction, into: &batch)
        case .webSocket:
            finishWebSocket(direction, into: &batch)
        case .searching:
            let rest = direction.search.takeAll()
            emitData(rest, why: BoundarySearch.why, on: direction, into: &batch)
        case .opaque:
            break
        }
        direction.isBroken = false
        direction.start = nil
    }

    private func finishHTTP(_ direction: Direction, into batch: inout EventBatch) {
        let step = direction.http.finish()
        if case .end? = step {
            receive(.end, on: direction, into: &batch)
        } else if let item = direction.open {
            let lastLine = item.lastLine
            close(item, incomplete: true, on: direction, into: &batch)
            var tail = lastLine
            if case .undecodable(let bytes, _)? = step { tail += bytes }
            emitData(
                tail, why: "the connection ended within a body's framing", on: direction,
                into: &batch)
        } else if case .undecodable(let bytes, let why)? = step {
            emitData(bytes, why: why, on: direction, into: &batch)
        }
    }

    func emitData(
        _ bytes: Bytes, why: String, on direction: Direction, into batch: inout EventBatch
    ) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(limits.maximumData)
            rest = rest[part.endIndex...]
            emit(.data(Event.Data(bytes: Bytes(part), why: why)), on: direction, into: &batch)
        }
        direction.start = nil
    }

    @discardableResult
    func emit(
        _ kind: Event.Kind, since first: Int64? = nil, on direction: Direction,
        into batch: inout EventBatch
    ) -> Int {
        let first = first ?? direction.start
        let seen = direction.packetTime ?? direction.time
        return batch.append(
            Event(
                time: direction.time, firstTime: first == seen ? nil : first,
                packetTime: direction.packetTime, conn: conn, from: direction.side, kind: kind))
    }
}

extension Span where Element == UInt8 {
    /// The bytes from `start` to the end, copied.
    func bytes(from start: Int) -> Bytes {
        unsafe extracting(start..<count).withUnsafeBufferPointer { unsafe Bytes($0) }
    }
}

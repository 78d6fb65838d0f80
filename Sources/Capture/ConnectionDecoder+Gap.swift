import Wire

/// Connections of which a part is not there: missing bytes, and a start in the middle.
extension ConnectionDecoder {
    static let behindGap = "the rest of what was under way before missing bytes"

    /// What is assumed of compression where the handshake is not known: a message may refer to
    /// those before it that could be read.
    ///
    /// The first one has none, which is right for peers without context takeover. References to
    /// what was not seen are found out: zlib refuses those behind the beginning.
    private static let assumedExtensions = "permessage-deflate"

    /// Makes a decoder for a connection that is met somewhere within it, of which nothing is
    /// known but what `expectsFrames` says: that it carries frames.
    package convenience init(
        joining conn: Int, expectsFrames: Bool = false,
        limits: ConnectionLimits = ConnectionLimits()
    ) {
        self.init(conn: conn, limits: limits)
        for direction in [app, board] {
            direction.mode = .searching
            guard expectsFrames else { continue }
            direction.search.expectsFrames = true
            direction.deflate = PerMessageDeflate(agreedIn: Self.assumedExtensions)
        }
    }

    /// Takes note that bytes which `side` sent at this place are missing.
    ///
    /// What was under way is written as incomplete. Where its length tells the place behind the
    /// missing bytes, decoding goes on there; otherwise at the next message or frame that can be
    /// found, and what is skipped before it is `data`.
    ///
    /// - Parameters:
    ///   - length: how many bytes, if that is known.
    ///   - why: a word for the event, such as `missing_packets`.
    package func gap(
        _ side: Side, length: UInt64?, why: String, at time: Int64, packetTime: Int64? = nil,
        into batch: inout EventBatch
    ) {
        let direction = direction(side)
        guard !direction.ended, length != 0 else { return }
        closeLanes()
        direction.time = time
        direction.packetTime = packetTime == time ? nil : packetTime
        let count = length ?? .max
        switch direction.mode {
        case .http: breakHTTP(skipping: count, on: direction, into: &batch)
        case .webSocket: breakFrames(skipping: count, on: direction, into: &batch)
        case .undecided: beginSearch(expectsFrames: false, on: direction)
        case .searching:
            let rest = direction.search.takeAll()
            emitData(rest, why: BoundarySearch.why, on: direction, into: &batch)
        case .opaque: break
        }
        direction.start = nil
        emit(.gap(Event.Gap(length: length, why: why)), on: direction, into: &batch)
    }

    private func beginSearch(expectsFrames: Bool, on direction: Direction) {
        direction.mode = .searching
        direction.isBroken = false
        direction.search = BoundarySearch(side: direction.side)
        direction.search.expectsFrames = expectsFrames
    }

    private func breakHTTP(
        skipping count: UInt64, on direction: Direction, into batch: inout EventBatch
    ) {
        let tail = direction.http.tail
        let isKnown = direction.http.skip(count)
        if let item = direction.open {
            close(item, incomplete: true, on: direction, into: &batch)
            if isKnown { direction.broken = item.kind }
            emitData(item.lastLine, why: Self.behindGap, on: direction, into: &batch)
        }
        if isKnown {
            direction.isBroken = true
        } else {
            emitData(
                tail, why: "missing bytes cut what was under way", on: direction, into: &batch)
            beginSearch(expectsFrames: false, on: direction)
        }
    }

    private func breakFrames(
        skipping count: UInt64, on direction: Direction, into batch: inout EventBatch
    ) {
        let (unfinished, resumption) = direction.frames.skip(count)
        finish(
            direction.isBroken ? nil : unfinished, why: "missing bytes cut a frame's header",
            on: direction, into: &batch)
        // Later messages may refer to what is missing; those that do are found out.
        direction.inflater?.reset()
        direction.isInMessage = false
        direction.brokenKey = direction.frames.openHeader?.maskingKey
        switch resumption {
        case .known: direction.isBroken = !direction.frames.isIdle
        case .unknown: beginSearch(expectsFrames: true, on: direction)
        }
    }

    /// Writes what comes of a body behind missing bytes; false for steps that are no part of it.
    func receiveBroken(
        _ step: HTTPDecoder.Step, on direction: Direction, into batch: inout EventBatch
    ) -> Bool {
        switch step {
        case .head:
            direction.isBroken = false
            return false
        case .body(let bytes), .chunk(_, let bytes):
            emitData(bytes, why: Self.behindGap, on: direction, into: &batch)
        case .trailers(let fieldLines, let raw):
            var bytes = Bytes()
            HTTPEncoder.encodeTrailers(fieldLines, raw: raw, into: &bytes)
            emitData(bytes, why: Self.behindGap, on: direction, into: &batch)
        case .end:
            direction.isBroken = false
            direction.start = nil
            if let kind = direction.broken.take() {
                itemEnded(kind, on: direction, into: &batch)
            }
        case .undecodable:
            direction.isBroken = false
            return false
        }
        return true
    }

    /// Looks for a message or a frame in what came, and goes on there.
    func search(_ bytes: Bytes, on direction: Direction, into batch: inout EventBatch) {
        let (skipped, found) = direction.search.receive(bytes)
        emitData(skipped, why: BoundarySearch.why, on: direction, into: &batch)
        guard let found else { return }
        direction.start = direction.packetTime ?? direction.time
        let rest = direction.search.takeAll()
        switch found {
        case .message:
            direction.mode = .http
            direction.http = HTTPDecoder(
                direction.side == .app ? .requests : .responses, limits: limits.http)
            if direction.side == .board { forgetAwaited() }
        case .frame:
            direction.mode = .webSocket
            direction.frames = FrameDecoder(maximumPayload: limits.maximumPiece)
            meetFrames(of: direction)
        }
        decode(rest.span, on: direction, into: &batch)
    }

    /// Both directions carry frames, since one was found that does.
    private func meetFrames(of direction: Direction) {
        let peer = self.direction(direction.side.peer)
        if !hasMetUpgrade {
            for direction in [direction, peer] where direction.deflate == nil {
                direction.deflate = PerMessageDeflate(agreedIn: Self.assumedExtensions)
            }
        }
        switch peer.mode {
        case .http where peer.http.isIdle && peer.open == nil, .undecided:
            beginSearch(expectsFrames: true, on: peer)
        case .searching:
            peer.search.expectsFrames = true
        case .http, .webSocket, .opaque:
            break
        }
    }
}

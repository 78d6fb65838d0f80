import Wire

/// Frames, and the messages that differ from their last frame.
extension ConnectionDecoder {
    /// Takes in all bytes from `position` on; a direction that carries frames does so for ever.
    func receiveFrames(
        _ bytes: Span<UInt8>, at position: Int, on direction: Direction,
        into batch: inout EventBatch
    ) {
        let start = position
        var position = position
        // A segment of a capture is one frame, mostly: it needs no more than a look.
        if let (header, place) = direction.frames.nextWhole(bytes, at: &position) {
            if isMessage(header, on: direction) {
                gather(header, bytes.extracting(place), on: direction, into: &batch)
                if position == bytes.count { return }
            } else {
                position = start
            }
        }
        // Taken out of the object for the while: exclusive access is looked after once a read and
        // not once a frame.
        var frames = FrameDecoder()
        swap(&frames, &direction.frames)
        defer { swap(&frames, &direction.frames) }
        while true {
            if position < bytes.count, direction.start == nil {
                direction.start = direction.packetTime ?? direction.time
            }
            let start = position
            if let (header, place) = frames.nextWhole(bytes, at: &position) {
                if isMessage(header, on: direction) {
                    gather(header, bytes.extracting(place), on: direction, into: &batch)
                    continue
                }
                position = start
            }
            guard let step = frames.next(bytes, at: &position) else { return }
            receive(step, on: direction, into: &batch)
        }
    }

    /// Takes a frame that stands by itself; `payload` is as it came.
    @inline(__always)
    private func gather(
        _ header: FrameHeader, _ payload: Span<UInt8>, on direction: Direction,
        into batch: inout EventBatch
    ) {
        let seen = direction.packetTime ?? direction.time
        let first = direction.start ?? seen
        batch.append(
            GatheredFrame(
                time: direction.time, firstTime: first == seen ? nil : first,
                packetTime: direction.packetTime, conn: conn, from: direction.side,
                header: header),
            payload: payload)
        direction.start = nil
    }

    /// Whether the frame stands by itself: one of control, or a whole message as it is.
    @inline(__always)
    private func isMessage(_ header: FrameHeader, on direction: Direction) -> Bool {
        if header.opcode.isControl { return true }
        guard header.fin, header.opcode != .continuation else { return false }
        if case .some = direction.message { return false }
        guard header.rsv & 4 != 0 else { return true }
        return direction.deflate == nil
    }

    private func receive(
        _ step: FrameDecoder.Step, on direction: Direction, into batch: inout EventBatch
    ) {
        switch step {
        case .frame(let frame):
            let start = direction.start
            emit(
                .frame(
                    Event.FrameRecord(header: frame.header, content: .whole(frame.payload))),
                on: direction, into: &batch)
            if beginFragment(frame.header, start: start, on: direction, into: &batch) {
                appendToMessage(frame.payload, on: direction, into: &batch)
                endFragment(frame.header, on: direction, into: &batch)
            }
            direction.start = nil
        case .header(let header):
            direction.openItem(.frame(header))
            direction.isInMessage = beginFragment(
                header, start: direction.start, on: direction, into: &batch)
        case .payload(let bytes, let offset, let isLast):
            guard !direction.isBroken else {
                var bytes = bytes
                direction.brokenKey?.apply(to: &bytes, from: 0, offset: offset)
                emitData(bytes, why: Self.behindGap, on: direction, into: &batch)
                direction.isBroken = !isLast
                return
            }
            append(bytes, on: direction, into: &batch)
            guard isLast, let item = direction.open, case .frame(let header) = item.kind else {
                return
            }
            closeLongFrame(item, incomplete: false, on: direction, into: &batch)
            if direction.isInMessage { endFragment(header, on: direction, into: &batch) }
            direction.isInMessage = false
            direction.start = nil
        }
    }

    private func closeLongFrame(
        _ item: Direction.OpenItem, incomplete: Bool, on direction: Direction,
        into batch: inout EventBatch
    ) {
        let rest = close(item, incomplete: incomplete, on: direction, into: &batch)
        if direction.isInMessage { appendToMessage(rest, on: direction, into: &batch) }
    }

    /// Whether the frame's payload belongs to a message that will have an event of its own.
    private func beginFragment(
        _ header: FrameHeader, start: Int64?, on direction: Direction,
        into batch: inout EventBatch
    ) -> Bool {
        guard !header.opcode.isControl else { return false }
        if header.opcode == .continuation {
            direction.message?.frames += 1
            return direction.message != nil
        }
        if direction.message != nil {
            // A new message inside a fragmented one (RFC 6455 §5.4 forbids it).
            closeMessage(incomplete: true, on: direction, into: &batch)
        }
        let isCompressed = direction.deflate != nil && header.rsv & 4 != 0
        guard !header.fin || isCompressed else { return false }
        direction.message = Direction.OpenMessage(
            opcode: header.opcode, isCompressed: isCompressed, frames: 1, start: start,
            content: direction.makeContent())
        return true
    }

    func appendToMessage(
        _ payload: Bytes, on direction: Direction, into batch: inout EventBatch
    ) {
        guard let message = direction.message else { return }
        if message.isCompressed {
            inflate(payload, on: direction, into: &batch)
        } else {
            appendToContent(payload, on: direction, into: &batch)
        }
    }

    private func endFragment(
        _ header: FrameHeader, on direction: Direction, into batch: inout EventBatch
    ) {
        guard header.fin, let message = direction.message else { return }
        if message.isCompressed {
            inflate(nil, on: direction, into: &batch)
        }
        closeMessage(incomplete: false, on: direction, into: &batch)
    }

    /// Inflates a fragment's payload, or with nil the end of the message.
    private func inflate(
        _ payload: Bytes?, on direction: Direction, into batch: inout EventBatch
    ) {
        guard direction.message?.failure == nil else { return }
        guard let inflater = direction.inflater ?? direction.makeInflater() else {
            direction.message?.failure = "no memory for its decompressor"
            direction.message?.isGivenUp = true
            return
        }
        direction.inflater = inflater
        var position = 0
        var outcome: Inflater.Outcome
        repeat {
            var part: Bytes = []
            if let payload {
                outcome = inflater.inflate(
                    payload.span, at: &position, into: &part, limit: limits.maximumPiece)
            } else {
                outcome = inflater.endMessage(into: &part, limit: limits.maximumPiece)
            }
            let inflated = (direction.message?.inflated ?? 0) + UInt64(part.count)
            direction.message?.inflated = inflated
            if inflated > limits.maximumInflated {
                outcome = .corrupt(why: "it inflates to more than \(limits.maximumInflated) bytes")
                direction.message?.isGivenUp = true
            } else {
                appendToContent(part, on: direction, into: &batch)
            }
        } while outcome == .outputFull
        if case .corrupt(let why) = outcome {
            direction.message?.failure = why
            // The window is lost; a message that does not refer back can still be read.
            inflater.reset()
        }
    }

    private func appendToContent(
        _ bytes: Bytes, on direction: Direction, into batch: inout EventBatch
    ) {
        guard var message = direction.message.take() else { return }
        let description = message.event(content: .pieces, incomplete: false)
        let start = message.start
        message.content.append(bytes, at: direction.packetTime ?? direction.time) { cut, head in
            let head =
                head ?? emit(.message(description), since: start, on: direction, into: &batch)
            emit(
                .piece(
                    Event.Piece(of: head, offset: cut.offset, content: cut.bytes, last: false)),
                since: cut.firstTime, on: direction, into: &batch)
            return head
        }
        direction.message = message
    }

    /// Writes the message, or its last piece, or a note why there is none.
    func closeMessage(
        incomplete: Bool, on direction: Direction, into batch: inout EventBatch
    ) {
        guard var message = direction.message.take() else { return }
        let head = message.content.head
        let rest = message.content.takeRest()
        if let head {
            emit(
                .piece(
                    Event.Piece(
                        of: head, offset: rest.offset, content: rest.bytes, last: true,
                        incomplete: incomplete || message.failure != nil)),
                since: rest.firstTime ?? direction.packetTime ?? direction.time, on: direction,
                into: &batch)
        } else if message.failure == nil {
            emit(
                .message(message.event(content: .whole(rest.bytes), incomplete: incomplete)),
                since: message.start, on: direction, into: &batch)
        }
        if let failure = message.failure {
            emit(
                .note(
                    Event.Note(
                        code: message.isGivenUp
                            ? Event.Note.inflationGivenUp : Event.Note.notInflated,
                        text:
                            "a compressed message of \(message.frames) frames stays as it is: \(failure)"
                    )), since: direction.packetTime ?? direction.time, on: direction, into: &batch)
        }
    }

    func finishWebSocket(_ direction: Direction, into batch: inout EventBatch) {
        let unfinished = direction.isBroken ? nil : direction.frames.finish()
        finish(
            unfinished, why: "the connection ended within a frame's header", on: direction,
            into: &batch)
    }

    /// Writes out a frame that goes no further, and the message that it is of.
    func finish(
        _ unfinished: FrameDecoder.Unfinished?, why: String, on direction: Direction,
        into batch: inout EventBatch
    ) {
        switch unfinished {
        case .header(let bytes)?:
            emitData(bytes, why: why, on: direction, into: &batch)
        case .payload(let header, let payload)?:
            let start = direction.start
            emit(
                .frame(
                    Event.FrameRecord(
                        header: header, content: .whole(payload), incomplete: true)),
                on: direction, into: &batch)
            if beginFragment(header, start: start, on: direction, into: &batch) {
                appendToMessage(payload, on: direction, into: &batch)
            }
        case .longPayload?:
            if let item = direction.open {
                closeLongFrame(item, incomplete: true, on: direction, into: &batch)
            }
        case nil:
            break
        }
        if direction.message != nil {
            closeMessage(incomplete: true, on: direction, into: &batch)
        }
    }
}

extension Event.Note {
    /// A compressed message could not be read: its bytes are not what was agreed on, or earlier
    /// ones that it refers to are missing.
    package static let notInflated = "not_inflated"
    /// A compressed message was not read to its end, for want of memory or beyond a limit.
    package static let inflationGivenUp = "inflation_given_up"
}

extension Direction.OpenMessage {
    func event(content: Event.Content, incomplete: Bool) -> Event.Message {
        Event.Message(
            opcode: opcode, content: content, frames: frames, compressed: isCompressed,
            incomplete: incomplete)
    }
}

import Wire

/// Bodies and long payloads: whole in their event, or in pieces behind it.
extension ConnectionDecoder {
    func append(_ bytes: Bytes, on direction: Direction, into batch: inout EventBatch) {
        guard var item = direction.open.take() else { return }
        let kind = item.kind
        item.content.append(bytes, at: direction.packetTime ?? direction.time) { cut, head in
            writePiece(cut, of: head, kind: kind, on: direction, into: &batch)
        }
        direction.open = item
    }

    func appendChunk(
        size: UInt64, line: Bytes, on direction: Direction, into batch: inout EventBatch
    ) {
        guard var item = direction.open.take() else { return }
        if size == 0 {
            item.content.endChunks(line: line)
            item.lastLine = line
        } else {
            let kind = item.kind
            let now = direction.packetTime ?? direction.time
            item.content.beginChunk(size: size, line: line, at: now) { cut, head in
                writePiece(cut, of: head, kind: kind, on: direction, into: &batch)
            }
        }
        direction.open = item
    }

    /// Writes the item's event, or its last piece; gives back the content of that.
    @discardableResult
    func close(
        _ item: Direction.OpenItem, incomplete: Bool, on direction: Direction,
        into batch: inout EventBatch
    ) -> Bytes {
        var item = item
        direction.open = nil
        if incomplete, !item.lastLine.isEmpty {
            // The last chunk's line is written as data: nothing says that the body got there.
            item.content.forgetLastLine()
        }
        let head = item.content.head
        let rest = item.content.takeRest()
        if let head {
            emit(
                .piece(
                    Event.Piece(
                        of: head, offset: rest.offset, content: rest.bytes, last: true,
                        chunks: rest.chunks, trailers: item.trailers,
                        rawTrailers: item.rawTrailers, incomplete: incomplete)),
                since: rest.firstTime ?? direction.packetTime ?? direction.time, on: direction,
                into: &batch)
            return rest.bytes
        }
        var body = item.kind.body
        body.content = .whole(rest.bytes)
        body.chunks = body.framing == .chunked ? rest.chunks ?? Event.Chunks() : nil
        body.trailers = item.trailers
        body.rawTrailers = item.rawTrailers
        body.incomplete = incomplete
        emit(item.kind.event(with: body), on: direction, into: &batch)
        return rest.bytes
    }

    /// Writes a full piece, and the head event before the first; gives the head's number.
    private func writePiece(
        _ cut: ContentAccumulator.Cut, of head: Int?, kind: Direction.OpenItem.Kind,
        on direction: Direction, into batch: inout EventBatch
    ) -> Int {
        var body = kind.body
        body.content = .pieces
        let head = head ?? emit(kind.event(with: body), on: direction, into: &batch)
        emit(
            .piece(
                Event.Piece(
                    of: head, offset: cut.offset, content: cut.bytes, last: false,
                    chunks: cut.chunks)),
            since: cut.firstTime, on: direction, into: &batch)
        if direction.isInMessage {
            // By pieces, not as the bytes arrive: the order of events must not depend on that.
            appendToMessage(cut.bytes, on: direction, into: &batch)
        }
        return head
    }
}

extension Direction.OpenItem.Kind {
    var body: Event.Body {
        switch self {
        case .request(let request): request.body
        case .response(let response): response.body
        case .frame: Event.Body()
        }
    }

    /// The event with its content.
    func event(with body: Event.Body) -> Event.Kind {
        switch self {
        case .request(var request):
            request.body = body
            return .request(request)
        case .response(var response):
            response.body = body
            return .response(response)
        case .frame(let header):
            return .frame(
                Event.FrameRecord(
                    header: header, content: body.content, incomplete: body.incomplete))
        }
    }
}

package import Capture
package import PhoneBridge
package import Wire

/// A session without what it tells about people, for recordings that travel: each content keeps its
/// form and its length, so that every other command reads it as before.
///
/// What cannot be read, such as compressed frames, loses all of its bytes; the message that they
/// made stays, masked.
package struct SessionMask {
    private var mask: ContentMask
    /// The events without their meaning, in order.
    private var events: [Event] = []
    /// The pieces of the event with that number.
    private var pieces: [Int: [Int]] = [:]

    /// The session could not be read, or not be written.
    package enum Failure: Error {
        case unreadable(SessionError)
        case cannotWrite(OutputError)
    }

    package init(_ mask: ContentMask) {
        self.mask = mask
    }

    /// The session as NDJSON, with what its events mean.
    ///
    /// - Parameter session: an NDJSON session of moderate size.
    package static func masked(
        _ session: Bytes, _ mask: ContentMask, contract: Contract = .current
    ) throws(Failure) -> Bytes {
        var own = SessionMask(mask)
        var info: SessionInfo?
        var reader = SessionReader(MemorySource(session))
        do {
            while let item = try reader.next() {
                guard case .event(let event) = item else { continue }
                if case .session(let first) = event.kind { info = first } else { own.take(event) }
            }
        } catch {
            throw .unreadable(error)
        }
        guard var info else { return [] }
        info.redacted = ["rules": "personal texts"]
        return try own.written(info, contract)
    }

    private mutating func take(_ event: Event) {
        var event = event
        event.bridge = []
        if case .piece(let piece) = event.kind {
            pieces[piece.of, default: []].append(events.count)
        }
        events.append(event)
    }

    private mutating func written(
        _ info: SessionInfo, _ contract: Contract
    ) throws(Failure) -> Bytes {
        let memory = SessionMemory()
        let writer: SessionWriter
        do {
            writer = try SessionWriter(session: info) { (_) throws(OutputError) in memory }
        } catch {
            throw .cannotWrite(error)
        }
        for index in events.indices { mask(index) }
        var meaning = MeaningReader(contract: contract)
        var last: Int64 = 0
        for var event in events {
            meaning.annotate(&event)
            last = max(last, event.time)
            writer.receive(event)
        }
        writer.close(now: last)
        return memory.bytes
    }

    // MARK: Events

    private mutating func mask(_ index: Int) {
        switch events[index].kind {
        case .request(var request):
            let target = mask.masked(target: request.target)
            // The same length, so that a head that was not canonical stays what it was.
            request.raw?.replace(Bytes(request.target.utf8), with: Bytes(target.utf8))
            request.target = target
            request.headers = request.headers.map { mask.masked($0) }
            request.raw = request.raw.map { mask.masked($0) }
            request.body = masked(request.body, at: index)
            events[index].kind = .request(request)
        case .response(var response):
            response.headers = response.headers.map { mask.masked($0) }
            response.raw = response.raw.map { mask.masked($0) }
            response.body = masked(response.body, at: index)
            events[index].kind = .response(response)
        case .frame(let frame): mask(frame, at: index)
        case .message(var message):
            message.content = masked(message.content, at: index)
            events[index].kind = .message(message)
        case .data(var data):
            data.bytes = mask.masked(data.bytes)
            events[index].kind = .data(data)
        case .note(var note):
            note.text =
                note.text.hasPrefix("{")
                ? String(decoding: mask.masked(Bytes(note.text.utf8)), as: UTF8.self)
                : mask.masked(sentence: note.text)
            events[index].kind = .note(note)
        case .session, .open, .piece, .gap, .close, .end: break
        }
    }

    private mutating func masked(_ body: Event.Body, at index: Int) -> Event.Body {
        var body = body
        body.content = masked(body.content, at: index)
        body.rawTrailers = body.rawTrailers.map { mask.masked($0) }
        body.trailers = body.trailers.map { mask.masked($0) }
        return body
    }

    private mutating func masked(_ content: Event.Content, at index: Int) -> Event.Content {
        switch content {
        case .whole(let bytes): return .whole(mask.masked(bytes))
        case .pieces:
            maskTogether(pieces[events[index].seq] ?? [])
            return .pieces
        }
    }

    /// A message's frames are masked together, at its first one.
    private mutating func mask(_ frame: Event.FrameRecord, at index: Int) {
        if frame.header.opcode.isControl {
            setContent(masked(frame.content, at: index), at: index)
            return
        }
        guard frame.header.opcode != .continuation else { return }
        let isCompressed = frame.header.rsv != 0
        var places = [index]
        if !frame.header.fin {
            for other in events.indices where other > index {
                guard events[other].conn == events[index].conn,
                    events[other].from == events[index].from,
                    case .frame(let next) = events[other].kind, !next.header.opcode.isControl
                else { continue }
                guard next.header.opcode == .continuation else { break }
                places.append(other)
                if next.header.fin { break }
            }
        }
        places += places.flatMap { pieces[events[$0].seq] ?? [] }
        maskTogether(places.sorted(), blanks: isCompressed)
    }

    /// Masks contents as if they were one.
    private mutating func maskTogether(_ places: [Int], blanks: Bool = false) {
        var whole: Bytes = []
        for place in places { whole += content(at: place) }
        let masked = blanks ? Bytes(repeating: 0x78, count: whole.count) : mask.masked(whole)
        guard masked.count == whole.count else { return }
        var start = 0
        for place in places {
            let count = content(at: place).count
            guard count > 0 else { continue }
            setContent(.whole(Bytes(masked[start..<start + count])), at: place)
            start += count
        }
    }

    private func content(at place: Int) -> Bytes {
        switch events[place].kind {
        case .frame(let frame): if case .whole(let bytes) = frame.content { bytes } else { [] }
        case .piece(let piece): piece.content
        default: []
        }
    }

    private mutating func setContent(_ content: Event.Content, at place: Int) {
        switch events[place].kind {
        case .frame(var frame):
            frame.content = content
            events[place].kind = .frame(frame)
        case .piece(var piece):
            if case .whole(let bytes) = content { piece.content = bytes }
            events[place].kind = .piece(piece)
        default: break
        }
    }
}

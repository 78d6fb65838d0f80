import Capture
import Wire

extension Redactor {
    /// A connection begins.
    func begin(_ conn: Int, _ continued: Event.Continued?) {
        var connection = RedactedConnection()
        connection.deflate = continued?.extensions.flatMap(PerMessageDeflate.init(agreedIn:))
        connections[conn] = connection
    }

    /// A connection becomes a WebSocket.
    func upgraded(_ conn: Int, _ headers: [FieldLine]) {
        let agreed = headers.members(of: "Sec-WebSocket-Extensions").joined(separator: ", ")
        connections[conn, default: RedactedConnection()].deflate = PerMessageDeflate(
            agreedIn: agreed)
    }

    // MARK: Frames

    func take(_ frame: Event.FrameRecord, _ event: Event) {
        guard let side = event.from else { return wait(event, isOpen: false) }
        let header = frame.header
        guard !header.opcode.isControl else { return takeControl(frame, event) }
        var direction = connections[event.conn]?[side] ?? RedactedDirection()
        let deflate = connections[event.conn]?.deflate
        if header.opcode == .continuation {
            guard let last = direction.open.indices.last, !direction.open[last].isCut else {
                return fill(frame, event)
            }
        } else {
            if let last = direction.open.indices.last { direction.open[last].isCut = true }
            let isCompressed = deflate != nil && header.rsv & 4 != 0
            if header.fin, !isCompressed, !frame.incomplete {
                connections[event.conn]?[side] = direction
                return takeWhole(frame, event)
            }
            // An unfinished frame that would be a whole message has none of its own.
            if header.fin, !isCompressed {
                connections[event.conn]?[side] = direction
                return fill(frame, event)
            }
            direction.open.append(
                .init(opcode: header.opcode, isCompressed: isCompressed))
        }
        if frame.content == .pieces {
            // Its message comes in pieces as well, or is not read at all.
            let isCompressed = direction.open.last?.isCompressed == true
            heads[event.seq] = PieceHead(
                conn: event.conn, filler: isCompressed ? 0xff : UInt8(ascii: "x"))
        }
        if let last = direction.open.indices.last, direction.open[last].isFilled {
            connections[event.conn, default: RedactedConnection()][side] = direction
            return fill(frame, event, isCompressed: direction.open[last].isCompressed)
        }
        let place = held.count
        if let last = direction.open.indices.last { direction.open[last].frames.append(place) }
        connections[event.conn, default: RedactedConnection()][side] = direction
        wait(event, isOpen: true)
    }

    private func takeWhole(_ frame: Event.FrameRecord, _ event: Event) {
        var event = event
        var frame = frame
        guard case .whole(let payload) = frame.content else {
            heads[event.seq] = PieceHead(conn: event.conn, filler: UInt8(ascii: "x"))
            return wait(event, isOpen: false)
        }
        let header = frame.header
        // What an unknown extension made of it, and what unknown opcodes mean, nobody knows.
        let opcode = header.rsv == 0 ? header.opcode : .binary
        let other = redacted(message: payload, opcode: opcode)
        guard other != payload else { return wait(event, isOpen: false) }
        text.manifest.changedEvents += 1
        frame.header = Self.header(header, length: other.count)
        frame.content = .whole(other)
        event.kind = .frame(frame)
        wait(event, isOpen: false)
    }

    private func takeControl(_ frame: Event.FrameRecord, _ event: Event) {
        guard case .whole(let payload) = frame.content, !frame.incomplete,
            frame.header.rsv == 0
        else { return fill(frame, event) }
        var event = event
        var frame = frame
        let other = redacted(control: payload, opcode: frame.header.opcode)
        if other != payload { text.manifest.changedEvents += 1 }
        frame.header = Self.header(frame.header, length: other.count)
        frame.content = .whole(other)
        event.kind = .frame(frame)
        wait(event, isOpen: false)
    }

    /// A frame of which nothing is understood: filler of its length.
    func fill(_ frame: Event.FrameRecord, _ event: Event, isCompressed: Bool = false) {
        var event = event
        var frame = frame
        switch frame.content {
        case .pieces:
            heads[event.seq] = PieceHead(
                conn: event.conn, filler: isCompressed ? 0xff : UInt8(ascii: "x"))
        case .whole(let payload):
            let isText = isValidUTF8(payload.span) && frame.header.rsv == 0 && !isCompressed
            frame.content = .whole(filled(payload, isText ? UInt8(ascii: "x") : 0xff))
            event.kind = .frame(frame)
            if !payload.isEmpty { text.manifest.changedEvents += 1 }
        }
        wait(event, isOpen: false)
    }

    /// A header for another length, in as long a form as before where that is needed no more.
    static func header(_ header: FrameHeader, length: Int) -> FrameHeader {
        var header = header
        let minimal = LengthForm(minimalFor: UInt64(length))
        header.lengthForm =
            header.isMinimal || header.lengthForm.rawValue < minimal.rawValue
            ? minimal : header.lengthForm
        header.payloadLength = UInt64(length)
        return header
    }

    // MARK: Messages

    func take(_ message: Event.Message, _ event: Event) {
        var event = event
        var message = message
        guard let side = event.from, var direction = connections[event.conn]?[side],
            !direction.open.isEmpty
        else {
            // Its frames are not in the session: it stands for itself.
            switch message.content {
            case .pieces:
                heads[event.seq] = PieceHead(conn: event.conn, filler: UInt8(ascii: "x"))
            case .whole(let content):
                message.content = .whole(
                    message.incomplete
                        ? filled(content, UInt8(ascii: "x"))
                        : redacted(message: content, opcode: message.opcode))
                event.kind = .message(message)
            }
            return wait(event, isOpen: false)
        }
        let open = direction.open[0]
        guard case .whole(let content) = message.content else {
            takePieces(event, open, side)
            return
        }
        direction.open.removeFirst()
        var other =
            message.incomplete
            ? filled(content, UInt8(ascii: "x"))
            : redacted(message: content, opcode: message.opcode)
        if message.incomplete, !isValidUTF8(content.span), !open.isCompressed {
            other = Bytes(repeating: 0xff, count: content.count)
        }
        if open.isFilled {
            other = filled(content, UInt8(ascii: "x"))
        } else if open.frames.isEmpty {
            // All of them were given out without content.
            other = []
        } else if open.isCompressed {
            let deflater = direction.deflater ?? makeDeflater(event.conn, side)
            direction.deflater = deflater
            if let deflater {
                text.manifest.recompressed += 1
                distribute(deflater.compress(other.span), to: open.frames)
            } else {
                other = []
                distribute([], to: open.frames)
            }
        } else {
            if message.incomplete { other.removeLast(min(other.count, open.spent)) }
            distribute(other, to: open.frames)
        }
        connections[event.conn]?[side] = direction
        message.content = .whole(other)
        event.kind = .message(message)
        text.manifest.changedEvents += 1
        wait(event, isOpen: false)
    }

    private func makeDeflater(_ conn: Int, _ side: Side) -> Deflater? {
        guard let deflate = connections[conn]?.deflate else { return nil }
        let role: WebSocketRole = side == .app ? .client : .server
        // zlib writes no window of 8 bits; readers take one of 9.
        return Deflater(
            windowBits: max(9, deflate.windowBits(of: role)),
            contextTakeover: deflate.contextTakeover(of: role))
    }

    /// Cuts a payload over frames where their own payloads were cut.
    private func distribute(_ payload: Bytes, to places: [Int]) {
        var sizes: [Int] = []
        for place in places {
            guard held.indices.contains(place), case .frame(let frame) = held[place].event.kind,
                case .whole(let bytes) = frame.content
            else {
                sizes.append(0)
                continue
            }
            sizes.append(bytes.count)
        }
        let total = sizes.reduce(0, +)
        var cut = 0
        var start = 0
        for (index, place) in places.enumerated() {
            guard held.indices.contains(place) else { continue }
            cut += sizes[index]
            var end = payload.count
            if total > 0 {
                // As far into the new payload as the cut was into the old one.
                end = Int(
                    min(UInt64(payload.count), UInt64(payload.count) * UInt64(cut) / UInt64(total)))
            } else if index < places.count - 1 {
                end = 0
            }
            end = max(start, end)
            setPayload(Bytes(payload[start..<end]), at: place)
            start = end
        }
        if start < payload.count, let last = places.last, held.indices.contains(last),
            case .frame(let frame) = held[last].event.kind, case .whole(let bytes) = frame.content
        {
            setPayload(bytes + payload[start...], at: last)
        }
    }

    /// Gives a frame that waits its payload; it waits no more.
    func setPayload(_ payload: Bytes, at place: Int) {
        guard case .frame(var frame) = held[place].event.kind else { return }
        held[place].isOpen = false
        guard case .whole(let old) = frame.content else { return }
        var header = Self.header(frame.header, length: payload.count)
        if frame.incomplete {
            // Of a frame that was cut off, as much is missing as before.
            header.payloadLength = HTTPRedactor.length(
                frame.header.payloadLength, old: old.count, new: payload.count)
            let minimal = LengthForm(minimalFor: header.payloadLength)
            if header.lengthForm.rawValue < minimal.rawValue { header.lengthForm = minimal }
        }
        frame.header = header
        frame.content = .whole(payload)
        held[place].event.kind = .frame(frame)
        text.manifest.changedEvents += 1
    }
}

import Capture
import Wire

/// What is too large to be understood, or cannot be read.
extension Redactor {
    /// A message begins to come in pieces: it and its frames become filler.
    func takePieces(_ event: Event, _ open: RedactedDirection.OpenMessage, _ side: Side) {
        let isCompressed = open.isCompressed
        fillFrames(of: open, isCompressed ? 0xff : UInt8(ascii: "x"))
        connections[event.conn]?[side].open[0].frames = []
        connections[event.conn]?[side].open[0].isFilled = true
        heads[event.seq] = PieceHead(
            conn: event.conn, filler: isCompressed ? nil : UInt8(ascii: "x"),
            shortened: UInt64(open.spent), side: side)
        guard isCompressed else { return wait(event, isOpen: false) }
        // Its frames say nothing any more, so that there is no message.
        text.manifest.givenUp += 1
    }

    private func fillFrames(of open: RedactedDirection.OpenMessage, _ byte: UInt8) {
        for place in open.frames where held.indices.contains(place) {
            if case .frame(let frame) = held[place].event.kind,
                case .whole(let payload) = frame.content
            {
                setPayload(filled(payload, byte), at: place)
            }
            held[place].isOpen = false
        }
    }

    func take(_ piece: Event.Piece, _ event: Event) {
        var event = event
        var piece = piece
        guard var head = heads[piece.of] else {
            // Nobody knows what it is a part of.
            piece.content = filled(piece.content, UInt8(ascii: "x"))
            event.kind = .piece(piece)
            return wait(event, isOpen: false)
        }
        defer { heads[piece.of] = piece.last ? nil : head }
        if piece.last, let side = head.side {
            connections[event.conn]?[side].endFilled(incomplete: piece.incomplete)
        }
        guard let byte = head.filler else {
            guard piece.last else { return }
            event.kind = .note(
                Event.Note(
                    code: Event.Note.notInflated,
                    text: "a compressed message was too large to be redacted and is filler"))
            return wait(event, isOpen: false)
        }
        let short = min(head.shortened, UInt64(piece.content.count))
        let moved = piece.offset.subtractingReportingOverflow(head.removed)
        piece.offset = moved.overflow ? 0 : moved.partialValue
        head.shortened -= short
        head.removed += short
        piece.content = filled(Bytes(piece.content.dropFirst(Int(short))), byte)
        piece.trailers = piece.trailers.map { FieldLine($0.name, text.redacted($0.value, .free)) }
        piece.rawTrailers = nil
        if let chunks = piece.chunks {
            piece.chunks = HTTPRedactor.rechunked(
                chunks, total: piece.content.count, isChanged: false)
        }
        event.kind = .piece(piece)
        text.manifest.changedEvents += 1
        wait(event, isOpen: false)
    }

    /// A compressed message turned out not to be readable: its frames become filler that is no
    /// compressed data either.
    func giveUp(_ conn: Int, _ side: Side?) {
        guard let side, let open = connections[conn]?[side].takeUnreadable() else { return }
        fillFrames(of: open, 0xff)
        // The reader begins anew behind it, and so does the writer.
        connections[conn]?[side].deflater = nil
    }

    /// Gives up on waiting for the ends of messages: their frames go without content, which comes
    /// with a later one.
    ///
    /// - Parameter keepsLast: last frames of messages wait on for the message that follows them.
    func giveUpWaiting(keepsLast: Bool) {
        guard held.contains(where: { $0.isOpen }) else { return }
        for conn in connections.keys {
            for side in Side.allCases {
                guard var direction = connections[conn]?[side] else { continue }
                for index in direction.open.indices {
                    var spent = direction.open[index].spent
                    var isFilled = direction.open[index].isFilled
                    let isCompressed = direction.open[index].isCompressed
                    direction.open[index].frames.removeAll { place in
                        guard held.indices.contains(place),
                            case .frame(let frame) = held[place].event.kind
                        else { return true }
                        if keepsLast, frame.header.fin { return false }
                        if case .whole(let payload) = frame.content {
                            if !isCompressed, isFilled || spent + payload.count > Self.maximumSpent
                            {
                                // Too much to come with a later frame: the message is filler.
                                isFilled = true
                                let count = spent + payload.count
                                text.manifest.filler += UInt64(count)
                                setPayload(
                                    Bytes(repeating: UInt8(ascii: "x"), count: count), at: place)
                                spent = 0
                            } else {
                                spent += payload.count
                                setPayload([], at: place)
                            }
                        }
                        held[place].isOpen = false
                        return true
                    }
                    direction.open[index].spent = spent
                    direction.open[index].isFilled = isFilled
                }
                connections[conn]?[side] = direction
            }
        }
    }
}

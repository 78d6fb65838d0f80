import Capture
import Foundation
import Wire

/// A session file, read back and judged.
struct RecordedSession {
    /// One connection of it.
    final class Connection {
        fileprivate(set) var open: Event.Open?
        fileprivate(set) var events: [Event] = []
        /// What each side sent, rebuilt from the events.
        fileprivate(set) var octets: [Side: Digest] = [.app: Digest(), .board: Digest()]
        fileprivate(set) var messages: [Side: MessageDigest] = [
            .app: MessageDigest(), .board: MessageDigest(),
        ]
        /// Bytes that are missing.
        fileprivate(set) var gaps: [Side: UInt64] = [:]
        fileprivate(set) var closes: [Side: Event.Ending] = [:]
        fileprivate var encoder = ConnectionEncoder()
        fileprivate var pieces: [Int: (side: Side, isText: Bool, content: Bytes)] = [:]

        func sent(by side: Side) -> Tally? { octets[side]?.tally }

        func messages(of side: Side) -> Tally? { messages[side]?.tally }

        var requests: [Event.Request] {
            events.compactMap { if case .request(let request) = $0.kind { request } else { nil } }
        }

        var responses: [Event.Response] {
            events.compactMap {
                if case .response(let response) = $0.kind { response } else { nil }
            }
        }

        /// What each frame of data from a side holds, in order.
        func frames(from side: Side) -> [Bytes] {
            events.compactMap {
                guard $0.from == side, case .frame(let frame) = $0.kind,
                    case .whole(let content) = frame.content, !frame.incomplete
                else { return nil }
                return content
            }
        }
    }

    private(set) var info: SessionInfo?
    private(set) var connections: [Int: Connection] = [:]
    private(set) var notes: [Event.Note] = []
    private(set) var end: Event.End?
    /// What its reader remarked, such as a last line cut short.
    private(set) var remarks: [String] = []
    /// What contradicts the capture format.
    private(set) var faults: [String] = []
    private(set) var events = 0
    private let hasParts: Bool

    /// Reads the parts of a session.
    init(_ paths: some Sequence<String>) throws {
        hasParts = paths.underestimatedCount > 1
        var reader = try SessionReader(paths.map { SessionFileInput(path: $0) })
        var lastTime: Int64 = 0
        while let item = try reader.next() {
            switch item {
            case .remark(let remark): remarks.append(remark.text)
            case .event(let event):
                if event.time < lastTime { faults.append("t falls at seq \(event.seq)") }
                lastTime = event.time
                try take(event)
            }
        }
    }

    private mutating func take(_ event: Event) throws {
        if case .session(let info) = event.kind {
            self.info = info
            return
        }
        if end != nil { faults.append("seq \(event.seq) stands behind the end") }
        if case .end(let end) = event.kind {
            self.end = end
            return
        }
        events += 1
        // Lines that only repeat what an earlier part told are left out, and count.
        if hasParts ? event.seq < events : event.seq != events {
            faults.append("seq \(event.seq), expected \(events)")
        }
        if case .note(let note) = event.kind { notes.append(note) }
        guard event.conn > 0 else { return }
        let connection = connections[event.conn] ?? Connection()
        connections[event.conn] = connection
        connection.events.append(event)
        switch event.kind {
        case .open(let open):
            if connection.open != nil { faults.append("\(event.conn) is opened twice") }
            connection.open = open
        case .close(let close):
            if let side = event.from { connection.closes[side] = close.how }
        default:
            if connection.open == nil { faults.append("seq \(event.seq) before its open") }
        }
        rebuild(event, of: connection)
        collectMessage(event, of: connection)
    }

    private mutating func rebuild(_ event: Event, of connection: Connection) {
        var bytes = Bytes()
        let outcome = connection.encoder.encode(event, into: &bytes)
        guard let side = event.from else { return }
        switch outcome {
        case .nothing: break
        case .bytes: connection.octets[side]?.add(bytes)
        case .missing(let length): connection.gaps[side, default: 0] += length ?? 0
        case .contradiction(let why): faults.append("seq \(event.seq): \(why)")
        }
    }

    private func collectMessage(_ event: Event, of connection: Connection) {
        guard let side = event.from else { return }
        switch event.kind {
        case .frame(let frame):
            let opcode = frame.header.opcode
            // A `message` event follows where the content is another than the frame's.
            guard frame.header.fin, frame.header.rsv == 0, opcode == .text || opcode == .binary
            else { return }
            collect(frame.content, isText: opcode == .text, event, of: connection, side)
        case .message(let message):
            collect(message.content, isText: message.opcode == .text, event, of: connection, side)
        case .piece(let piece):
            guard var whole = connection.pieces[piece.of] else { return }
            whole.content += piece.content
            connection.pieces[piece.of] = piece.last ? nil : whole
            if piece.last { connection.messages[side]?.add(isText: whole.isText, whole.content) }
        default: break
        }
    }

    private func collect(
        _ content: Event.Content, isText: Bool, _ event: Event, of connection: Connection,
        _ side: Side
    ) {
        switch content {
        case .whole(let bytes): connection.messages[side]?.add(isText: isText, bytes)
        case .pieces: connection.pieces[event.seq] = (side, isText, [])
        }
    }

    // MARK: Judging

    /// The only connection; nil where there are none or several.
    var onlyConnection: Connection? {
        connections.count == 1 ? connections.values.first : nil
    }

    /// What a file that was closed in good order must not show; empty for a good one.
    var flaws: [String] {
        var flaws = remarks + faults
        guard info != nil else { return flaws + ["no session line"] }
        guard let end else { return flaws + ["no end line"] }
        if hasParts ? end.events < events : end.events != events {
            flaws.append("end.events is \(end.events), not \(events)")
        }
        for (side, count) in [(Side.app, end.bytesApp), (.board, end.bytesBoard)] {
            let sum = connections.values.reduce(0) {
                $0 + ($1.octets[side]?.bytes ?? 0) + Int64($1.gaps[side] ?? 0)
            }
            if sum != Int64(count) {
                flaws.append("end says \(count) bytes, not \(sum), of \(side)")
            }
        }
        return flaws
    }
}

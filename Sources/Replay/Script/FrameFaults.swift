import Capture
import Wire

/// Finds the frames of a session that break RFC 6455, since those cannot be sent as messages.
struct FrameFaults {
    /// How a frame stands among those of its side.
    enum Place {
        /// A frame of control, or a message that needs no other frame and no decompression.
        case alone
        /// The first frame of a message, though one may be under way.
        case first
        case further
        /// A part of a message whose beginning is not in the file.
        case behindGap
    }

    private struct State {
        /// A message has begun and has not ended.
        var isWithin = false
        /// Its close frame was sent.
        var isClosed = false
        /// Bytes are missing, and no message has begun since.
        var isBehindGap = false
    }

    /// Connections that agreed on compression.
    private var deflated: Set<Int> = []
    private var states: [FrameSender: State] = [:]

    /// A handshake was answered.
    mutating func opened(_ response: Event.Response, on conn: Int) {
        guard response.status == 101 else { return }
        let agreed = response.headers.filter { $0.isNamed("Sec-WebSocket-Extensions") }
            .contains { $0.value.contains(PerMessageDeflate.name) }
        if agreed { deflated.insert(conn) }
    }

    /// Bytes of a side are missing.
    mutating func missing(from sender: FrameSender) {
        states[sender, default: State()].isWithin = false
        states[sender, default: State()].isBehindGap = true
    }

    /// Where the next frame of a side stands, and what is wrong with it, as a phrase; nil where
    /// nothing is.
    mutating func look(
        at frame: Event.FrameRecord, from sender: FrameSender
    ) -> (place: Place, fault: String?) {
        let header = frame.header
        let isDeflated = deflated.contains(sender.conn)
        let before = states[sender, default: State()]
        let place = place(of: header, before, isDeflated)
        if case .behindGap = place { return (place, nil) }
        var state = before
        if header.opcode == .close { state.isClosed = true }
        if !header.opcode.isControl {
            state.isWithin = !header.fin
            state.isBehindGap = false
        }
        states[sender] = state
        var violations = FrameViolation.violations(
            of: header, from: sender.side == .app ? .client : .server, deflate: isDeflated,
            isWithinMessage: before.isWithin)
        if case .whole(let payload) = frame.content {
            if header.opcode == .close, let violation = ClosePayload(payload).violation {
                violations.append(violation)
            }
            if header.opcode == .text, case .alone = place, !isValidUTF8(payload.span) {
                violations.append(.textNotUTF8)
            }
        }
        // A pong behind it is an answer that crossed it.
        if before.isClosed, header.opcode != .pong {
            violations.append(.afterClose(header.opcode))
        }
        guard let violation = violations.first else { return (place, nil) }
        let isPart = !header.opcode.isControl && (before.isWithin || !header.fin)
        let what = isPart ? "a part of a message" : "a frame"
        return (place, "\(what) that breaks \(violation.section): \(violation.text)")
    }

    private func place(
        of header: FrameHeader, _ state: State, _ isDeflated: Bool
    ) -> Place {
        if header.opcode.isControl { return .alone }
        if state.isBehindGap, header.opcode == .continuation { return .behindGap }
        if state.isWithin { return header.opcode == .continuation ? .further : .first }
        let isFirst = header.opcode == .text || header.opcode == .binary
        let isCompressed = isDeflated && isFirst && header.rsv & 4 != 0
        return header.fin && !isCompressed ? .alone : .first
    }
}

/// One direction of a connection.
struct FrameSender: Hashable {
    var conn: Int
    var side: Side
}

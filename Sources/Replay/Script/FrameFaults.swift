import Capture
import Wire

/// Finds the frames of a session that break RFC 6455, since those cannot be sent as messages.
struct FrameFaults {
    /// What is wrong with a frame.
    struct Fault {
        /// A phrase.
        var text: String
        /// Whether it is a frame of its own, and no part of a message in several frames.
        var standsForItself: Bool
    }

    private struct Sender: Hashable {
        var conn: Int
        var side: Side
    }

    /// Connections that agreed on compression.
    private var deflated: Set<Int> = []
    /// Who has begun a message and not ended it.
    private var within: Set<Sender> = []
    /// Whose last frame was a broken one that stood for itself.
    private var broken: Set<Sender> = []

    /// A handshake was answered.
    mutating func opened(_ response: Event.Response, on conn: Int) {
        guard response.status == 101 else { return }
        let agreed = response.headers.filter { $0.isNamed("Sec-WebSocket-Extensions") }
            .contains { $0.value.contains(PerMessageDeflate.name) }
        if agreed { deflated.insert(conn) }
    }

    /// What is wrong with the next frame of a side; nil where nothing is.
    mutating func fault(of header: FrameHeader, from side: Side, on conn: Int) -> Fault? {
        let sender = Sender(conn: conn, side: side)
        let isWithin = within.contains(sender)
        if !header.opcode.isControl {
            if header.fin { within.remove(sender) } else { within.insert(sender) }
        }
        broken.remove(sender)
        guard
            let violation = FrameViolation.violations(
                of: header, from: side == .app ? .client : .server,
                deflate: deflated.contains(conn), isWithinMessage: isWithin
            ).first
        else { return nil }
        let isAlone = header.fin && (header.opcode.isControl || !isWithin)
        if isAlone { broken.insert(sender) }
        return Fault(
            text: isAlone
                ? "a frame that breaks \(violation.section): \(violation.text)"
                : "a part of a message that breaks \(violation.section): \(violation.text)",
            standsForItself: isAlone)
    }

    /// Whether a message is the content of a broken frame, which says it already.
    func wasBroken(_ message: Event.Message, from side: Side, on conn: Int) -> Bool {
        message.frames == 1 && broken.contains(Sender(conn: conn, side: side))
    }
}

import Capture
import Wire

/// What the peer made of the broken frames of the side that is played.
struct FrameReactions {
    /// Connections that the peer ended for a broken frame.
    private var ended: Set<Int> = []
    /// How long it kept a connection behind the frame with this `seq`, in nanoseconds.
    private var kept: [Int: Int64] = [:]

    /// Who fails a connection does so in a moment.
    private static let reactionTime: Int64 = 5_000_000_000
    /// How long the peer is looked at, in nanoseconds.
    private static let lookTime: Int64 = 1_000_000_000

    init(_ session: RecordedSession, to role: Side) {
        /// The last broken frame on each connection that is open.
        var broken: [Int: RecordedSession.Item] = [:]
        var over: Set<Int> = []
        for item in session.items where !over.contains(item.conn) {
            switch item.kind {
            case .brokenFrame(role, _, _):
                if let earlier = broken[item.conn], item.time - earlier.time > Self.lookTime {
                    keep(behind: earlier, until: item.time)
                }
                broken[item.conn] = item
            case .brokenFrame(_, let frame, _) where frame.header.opcode == .close:
                end(of: item, ClosePayload(frame.payload).code, &broken, &over)
            case .closeFrame(let side, let payload):
                if side == role {
                    over.insert(item.conn)
                    if let last = broken.removeValue(forKey: item.conn) {
                        keep(behind: last, until: item.time)
                    }
                } else {
                    end(of: item, payload.code, &broken, &over)
                }
            case .ended(let side, _):
                if side == role {
                    over.insert(item.conn)
                    if let last = broken.removeValue(forKey: item.conn) {
                        keep(behind: last, until: item.time)
                    }
                } else {
                    end(of: item, nil, &broken, &over)
                }
            default: break
            }
        }
        for item in broken.values { keep(behind: item, until: session.end) }
    }

    private mutating func keep(behind item: RecordedSession.Item, until time: Int64) {
        kept[item.seq] = min(Self.lookTime, time - item.time)
    }

    /// The peer ended a connection.
    private mutating func end(
        of item: RecordedSession.Item, _ code: CloseCode?,
        _ broken: inout [Int: RecordedSession.Item], _ over: inout Set<Int>
    ) {
        over.insert(item.conn)
        guard let last = broken.removeValue(forKey: item.conn) else { return }
        let failures: [CloseCode] = [
            .protocolError, .unsupportedData, .invalidData, .messageTooBig, .mandatoryExtension,
        ]
        if item.time - last.time <= Self.reactionTime || code.map(failures.contains) ?? false {
            ended.insert(item.conn)
        } else {
            keep(behind: last, until: item.time)
        }
    }

    /// Whether the peer ended a connection because of a broken frame.
    func ends(_ conn: Int) -> Bool { ended.contains(conn) }

    /// How long the peer is seen to have kept the connection behind a broken frame, in nanoseconds,
    /// at most a second; nil where that shows nothing.
    func time(keptBehind seq: Int) -> Int64? {
        kept[seq].flatMap { $0 > 0 ? $0 : nil }
    }
}

import Capture
import Wire

/// The rules for what both ends of a WebSocket owe each other: the answer to a close frame, the
/// end of the TCP connection, pongs.
///
/// Where the RFC names no time, nobody is blamed before he has shown that he was there: by other
/// frames long after the one that he should have answered, or by ending the connection himself.
struct ConversationRules: RuleGroup {
    static let rules: [Rule] = [closeAnswered, boardEndsTCP, pong]

    static let closeAnswered = Rule(
        "ws-close-answered", .sure, nil, section: "RFC 6455 §5.5.1",
        "Who gets a close frame and has sent none sends one")
    static let boardEndsTCP = Rule(
        "ws-board-ends-tcp", .sure, .board, section: "RFC 6455 §5.5.1, §7.1.1",
        "The board ends the TCP connection once both close frames have crossed")
    static let pong = Rule(
        "ws-ping-answered", .sure, nil, section: "RFC 6455 §5.5.2",
        "Who gets pings answers the latest of them at least with a pong of the same bytes")

    private struct Mark {
        var time: Int64
        var seq: Int
    }

    private struct Ping {
        var mark: Mark
        var payload: Bytes
    }

    /// What one side has said, as far as the other one owes something for it.
    private struct Speaker {
        var close: Mark?
        /// Pings that the other side has not answered, oldest first.
        var pings: [Ping] = []
        var lastFrame: Mark?
        var hasEnded = false
    }

    private struct Talk {
        var app = Speaker()
        var board = Speaker()
        /// When the second close frame came; nil once the end of the connection is judged.
        var bothClosed: Mark?

        subscript(side: Side) -> Speaker {
            get { side == .app ? app : board }
            set { if side == .app { app = newValue } else { board = newValue } }
        }
    }

    /// Pings without a pong that are remembered for a side; the oldest is what counts.
    private static let maximumPings = 16
    /// Milliseconds within which a peer that lives ends, or answers, what it has read.
    private static let endLimit: Int64 = 10_000
    private static let pongLimit: Int64 = 15_000

    private var talks = ConnectionTable<Talk>()
    /// Whether the last packets of a connection may be missing without a trace.
    private var isPackets = false
    /// Connections that wait for the board to end them.
    private var ending: Set<Int> = []

    static let interests: RuleInterests = [.sessions, .frames, .hole, .ended, .gone, .time]

    init(contract: Contract, profile: Profile) {}

    mutating func advance(to time: Int64, _ context: inout RuleContext) {
        guard !ending.isEmpty else { return }
        let limit = context.nanoseconds(Self.endLimit).clampedAdding(context.slack)
        for conn in ending.sorted() {
            guard let mark = talks[conn]?.bothClosed else {
                ending.remove(conn)
                continue
            }
            guard time > mark.time.clampedAdding(limit) else { continue }
            ending.remove(conn)
            talks[conn]?.bothClosed = nil
            guard let facts = context.connections[conn], facts.board.ended == nil,
                facts.isCertain(.board, since: mark.time), context.isCertain(since: mark.time)
            else { continue }
            context.exercise(Self.boardEndsTCP)
            context.report(
                Self.boardEndsTCP, rating: isPackets ? .likely : nil, by: .board, conn: conn,
                events: [mark.seq],
                "the connection is still open \(Self.endLimit / 1000) s after both close frames")
        }
    }

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        if case .session(let info) = event.kind {
            isPackets = info.source == "pcap" || info.source == "interface"
        }
        guard case .frame(let frame) = event.kind, !frame.incomplete, let side = event.from
        else { return }
        let mark = Mark(time: event.time, seq: event.seq)
        if Self.heard(
            frame, from: side, mark, event.conn, &talks[event.conn, default: Talk()], &context)
        {
            ending.insert(event.conn)
        }
    }

    /// Takes a frame; true when it is the second of both close frames.
    private static func heard(
        _ frame: Event.FrameRecord, from side: Side, _ mark: Mark, _ conn: Int,
        _ talk: inout Talk, _ context: inout RuleContext
    ) -> Bool {
        talk[side].lastFrame = mark
        switch frame.header.opcode {
        case .close:
            return talk[side].close == nil && closed(side, mark, &talk, &context)
        case .ping where frame.header.fin && frame.header.payloadLength <= 125:
            guard case .whole(let payload) = frame.content, talk.app.close == nil,
                talk.board.close == nil
            else { break }
            // The oldest is what counts, and the latest is what is answered.
            if talk[side].pings.count == maximumPings { talk[side].pings.removeLast() }
            talk[side].pings.append(Ping(mark: mark, payload: payload))
        case .pong:
            guard case .whole(let payload) = frame.content,
                let index = talk[side.peer].pings.lastIndex(where: { $0.payload == payload })
            else { break }
            context.exercise(pong)
            talk[side.peer].pings.removeFirst(index + 1)
        default:
            judgePing(side, mark, conn, &talk, &context)
        }
        return false
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .hole:
            for conn in fact.conn == 0 ? talks.keys : [fact.conn] {
                talks[conn]?.app.pings = []
                talks[conn]?.board.pings = []
            }
        case .ended(let side, let how): ended(side, how, fact, &context)
        case .closed:
            if talks[fact.conn]?.bothClosed != nil { context.exercise(Self.boardEndsTCP) }
            talks[fact.conn] = nil
        case .forgotten: talks[fact.conn] = nil
        default: break
        }
    }

    private static func closed(
        _ side: Side, _ mark: Mark, _ talk: inout Talk, _ context: inout RuleContext
    ) -> Bool {
        talk[side].close = mark
        // From here on nobody has to answer a ping.
        talk.app.pings = []
        talk.board.pings = []
        guard talk[side.peer].close != nil else { return false }
        context.exercise(closeAnswered)
        talk.bothClosed = mark
        return true
    }

    private static func judgePing(
        _ side: Side, _ mark: Mark, _ conn: Int, _ talk: inout Talk,
        _ context: inout RuleContext
    ) {
        guard let ping = talk[side.peer].pings.first,
            mark.time.clampedSubtracting(ping.mark.time) > context.nanoseconds(pongLimit)
        else { return }
        talk[side.peer].pings = []
        guard context.connections[conn]?.isCertain(side, since: ping.mark.time) ?? false else {
            return
        }
        context.exercise(pong)
        context.report(
            pong, by: side, conn: conn, events: [ping.mark.seq, mark.seq],
            "the \(side.rawValue) went on for \(pongLimit / 1000) s without a pong")
    }

    private mutating func ended(
        _ side: Side, _ how: Event.Ending, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard let talk = talks[fact.conn], !talk[side].hasEnded else { return }
        talks[fact.conn]?[side].hasEnded = true
        guard how == .fin, let close = talk[side.peer].close, talk[side].close == nil,
            // Who has gone himself waits for no answer.
            !talk[side.peer].hasEnded,
            context.connections[fact.conn]?.isCertain(side, since: close.time) ?? false
        else { return }
        context.exercise(Self.closeAnswered)
        let since = fact.time.clampedSubtracting(close.time)
        let spoke = (talk[side].lastFrame?.time ?? .min) > close.time.clampedAdding(context.slack)
        // Within the slack both may have ended it at the same moment; much later it may have
        // been a suspended app that its system ended.
        guard spoke || since > context.slack && since <= context.nanoseconds(Self.endLimit) else {
            return
        }
        context.report(
            Self.closeAnswered, by: side, conn: fact.conn, events: [close.seq, fact.seq],
            "the \(side.rawValue) ended the connection without an answer to the close frame")
    }
}

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

    private struct Talk {
        var closes: [Side: Mark] = [:]
        /// When the second of them came; nil once the end of the connection is judged.
        var bothClosed: Mark?
        /// Pings that a side sent and the other one has not answered, oldest first.
        var pings: [Side: [Ping]] = [:]
        /// When a side sent a frame last.
        var lastFrames: [Side: Mark] = [:]
        var ended: Set<Side> = []
    }

    /// Pings without a pong that are remembered for a side; the oldest is what counts.
    private static let maximumPings = 16
    /// Milliseconds within which a peer that lives ends, or answers, what it has read.
    private static let endLimit: Int64 = 10_000
    private static let pongLimit: Int64 = 15_000

    private var talks: [Int: Talk] = [:]
    /// Connections that wait for the board to end them.
    private var ending: Set<Int> = []

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
                Self.boardEndsTCP, by: .board, conn: conn, events: [mark.seq],
                "the connection is still open \(Self.endLimit / 1000) s after both close frames")
        }
    }

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        guard case .frame(let frame) = event.kind, !frame.incomplete, let side = event.from
        else { return }
        let mark = Mark(time: event.time, seq: event.seq)
        var talk = talks.removeValue(forKey: event.conn) ?? Talk()
        talk.lastFrames[side] = mark
        switch frame.header.opcode {
        case .close:
            if talk.closes[side] == nil { closed(side, mark, event.conn, &talk, &context) }
        case .ping where frame.header.fin && frame.header.payloadLength <= 125:
            guard case .whole(let payload) = frame.content, talk.closes.isEmpty else { break }
            if talk.pings[side, default: []].count < Self.maximumPings {
                talk.pings[side, default: []].append(Ping(mark: mark, payload: payload))
            } else {
                talk.pings[side]?[Self.maximumPings - 1] = Ping(mark: mark, payload: payload)
            }
        case .pong:
            guard case .whole(let payload) = frame.content,
                let index = talk.pings[side.peer]?.lastIndex(where: { $0.payload == payload })
            else { break }
            context.exercise(Self.pong)
            talk.pings[side.peer]?.removeFirst(index + 1)
        default:
            judgePing(side, mark, event.conn, &talk, &context)
        }
        talks[event.conn] = talk
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .hole where fact.conn == 0: for conn in talks.keys { talks[conn]?.pings = [:] }
        case .hole: talks[fact.conn]?.pings = [:]
        case .ended(let side, let how): ended(side, how, fact, &context)
        case .closed:
            if talks[fact.conn]?.bothClosed != nil { context.exercise(Self.boardEndsTCP) }
            talks[fact.conn] = nil
        case .forgotten: talks[fact.conn] = nil
        default: break
        }
    }

    private mutating func closed(
        _ side: Side, _ mark: Mark, _ conn: Int, _ talk: inout Talk,
        _ context: inout RuleContext
    ) {
        talk.closes[side] = mark
        // From here on nobody has to answer a ping.
        talk.pings = [:]
        guard talk.closes[side.peer] != nil else { return }
        context.exercise(Self.closeAnswered)
        talk.bothClosed = mark
        ending.insert(conn)
    }

    private func judgePing(
        _ side: Side, _ mark: Mark, _ conn: Int, _ talk: inout Talk,
        _ context: inout RuleContext
    ) {
        guard let ping = talk.pings[side.peer]?.first,
            mark.time - ping.mark.time > context.nanoseconds(Self.pongLimit)
        else { return }
        talk.pings[side.peer] = []
        guard context.connections[conn]?.isCertain(side, since: ping.mark.time) ?? false else {
            return
        }
        context.exercise(Self.pong)
        context.report(
            Self.pong, by: side, conn: conn, events: [ping.mark.seq, mark.seq],
            "the \(side.rawValue) went on for \(Self.pongLimit / 1000) s without a pong")
    }

    private mutating func ended(
        _ side: Side, _ how: Event.Ending, _ fact: LinkFact, _ context: inout RuleContext
    ) {
        guard var talk = talks[fact.conn], !talk.ended.contains(side) else { return }
        talk.ended.insert(side)
        defer { talks[fact.conn] = talk }
        guard how == .fin, let close = talk.closes[side.peer], talk.closes[side] == nil,
            // Who has gone himself waits for no answer.
            !talk.ended.contains(side.peer),
            context.connections[fact.conn]?.isCertain(side, since: close.time) ?? false
        else { return }
        context.exercise(Self.closeAnswered)
        let since = fact.time - close.time
        let spoke = (talk.lastFrames[side]?.time ?? .min) > close.time.clampedAdding(context.slack)
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

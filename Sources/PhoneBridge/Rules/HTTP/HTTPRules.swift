import Capture
import Wire

/// The rules for HTTP/1.1: one for each `HTTPViolation.Rule`.
///
/// Only what crossed as bytes is judged: a HAR file has requests as a browser tells of them. What
/// a board-side tool sends is nobody's concern here.
struct HTTPRules: RuleGroup {
    static let rules: [Rule] = HTTPViolation.Rule.allCases.map(make)

    private static let byKind: [HTTPViolation.Rule: Rule] = Dictionary(
        uniqueKeysWithValues: HTTPViolation.Rule.allCases.map { ($0, make($0)) })

    /// Requests whose final response is still to come, as far as responses are judged by them.
    private struct Connection {
        var requests: [Int: HTTPHead] = [:]
        var hasGap = false
        var isWebSocket = false
        /// Bodies in pieces: whose they are, and whether the first chunk's line has come.
        var bodies: [Int: Body] = [:]
    }

    private struct Body {
        var side: Side
        var hasChunk = false
    }

    /// Pipelined requests without an answer that are remembered.
    private static let maximumRequests = 256

    private var connections = ConnectionTable<Connection>()
    private var hasWire = true
    private var counts = (requests: 0, responses: 0)

    static let interests: RuleInterests = [
        .sessions, .opens, .requests, .responses, .pieces, .gaps, .data, .frames, .gone,
    ]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        switch event.kind {
        case .session(let info): hasWire = info.source != "har"
        case .open(let open):
            var connection = Connection()
            connection.hasGap = open.continued != nil
            connection.isWebSocket = open.continued?.upgraded ?? false
            connections[event.conn] = connection
        case .request(let request): judge(request, event, &context)
        case .response(let response): judge(response, event, &context)
        case .piece(let piece): judge(piece, event, &context)
        case .gap: connections[event.conn]?.hasGap = true
        case .data(let data): judge(data, event, &context)
        case .frame: connections[event.conn]?.isWebSocket = true
        case .message, .close, .note, .end: break
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .closed, .forgotten: connections[fact.conn] = nil
        default: break
        }
    }

    mutating func finish(at time: Int64, _ context: inout RuleContext) {
        for rule in Self.rules {
            let times =
                switch rule.obliged {
                case .app: counts.requests
                case .board: counts.responses
                case nil: counts.requests + counts.responses
                }
            if times > 0 { context.exercise(rule, times: times) }
        }
    }

    // MARK: - Messages

    private mutating func judge(
        _ request: Event.Request, _ event: Event, _ context: inout RuleContext
    ) {
        guard hasWire else { return }
        let head = request.head
        if (connections[event.conn]?.requests.count ?? 0) < Self.maximumRequests {
            // Method and version are what a response is held against.
            connections[event.conn, default: Connection()].requests[request.exchange] = HTTPHead(
                startLine: .request(method: request.method, target: ""), version: request.version)
        }
        let isTool = context.connections[event.conn]?.isTool ?? false
        if !isTool { counts.requests += 1 }
        let found = HTTPViolation.judge(head) + judge(request.body, event)
        guard !isTool else { return }
        report(found, event, by: .app, &context)
    }

    private mutating func judge(
        _ response: Event.Response, _ event: Event, _ context: inout RuleContext
    ) {
        guard hasWire else { return }
        counts.responses += 1
        let isFinal = response.status >= 200 || response.status == 101
        let request =
            isFinal
            ? connections[event.conn]?.requests.removeValue(forKey: response.exchange)
            : connections[event.conn]?.requests[response.exchange]
        let found = HTTPViolation.judge(response.head, to: request) + judge(response.body, event)
        report(found, event, by: .board, &context)
        if response.status == 101 { connections[event.conn]?.isWebSocket = true }
    }

    private mutating func judge(_ body: Event.Body, _ event: Event) -> [HTTPViolation] {
        var found = HTTPViolation.judge(trailers: body.trailers, raw: body.rawTrailers)
        var isFirst = true
        found += Self.judge(body.chunks, &isFirst)
        if body.incomplete { found.append(HTTPViolation(.incomplete)) }
        if body.content == .pieces, let side = event.from {
            connections[event.conn, default: Connection()].bodies[event.seq] = Body(
                side: side, hasChunk: !isFirst)
        }
        return found
    }

    private mutating func judge(
        _ piece: Event.Piece, _ event: Event, _ context: inout RuleContext
    ) {
        guard let body = connections[event.conn]?.bodies[piece.of] else { return }
        var isFirst = !body.hasChunk
        var found = Self.judge(piece.chunks, &isFirst)
        found += HTTPViolation.judge(trailers: piece.trailers, raw: piece.rawTrailers)
        if piece.incomplete { found.append(HTTPViolation(.incomplete)) }
        connections[event.conn]?.bodies[piece.of]?.hasChunk = !isFirst
        if piece.last { connections[event.conn]?.bodies[piece.of] = nil }
        let isTool = context.connections[event.conn]?.isTool ?? false
        guard body.side == .board || !isTool else { return }
        report(found, event, by: body.side, &context)
    }

    private static func judge(_ chunks: Event.Chunks?, _ isFirst: inout Bool) -> [HTTPViolation] {
        guard let chunks else { return [] }
        defer { if !chunks.sizes.isEmpty { isFirst = false } }
        guard let lines = chunks.lines else { return [] }
        var found: [HTTPViolation] = []
        for (index, line) in lines.enumerated() {
            for violation in HTTPViolation.judge(chunkLine: line, isFirst: isFirst && index == 0)
            where !found.contains(where: { $0.rule == violation.rule }) {
                found.append(violation)
            }
        }
        return found
    }

    private mutating func judge(
        _ data: Event.Data, _ event: Event, _ context: inout RuleContext
    ) {
        guard hasWire, let side = event.from, let connection = connections[event.conn],
            !connection.hasGap, !connection.isWebSocket
        else { return }
        // Once a direction is not HTTP, none of it is.
        connections[event.conn]?.hasGap = true
        guard !data.why.hasPrefix("missing bytes") else { return }
        let isCut =
            data.why.hasSuffix("the end of the connection")
            || data.why.hasPrefix("the connection ended")
        let violation = HTTPViolation(isCut ? .incomplete : .notHTTP, data.why)
        if let rule = Self.byKind[violation.rule] { context.exercise(rule) }
        report([violation], event, by: side, &context)
    }

    private func report(
        _ found: [HTTPViolation], _ event: Event, by side: Side, _ context: inout RuleContext
    ) {
        for violation in found {
            guard let rule = Self.byKind[violation.rule] else { continue }
            context.report(rule, by: side, conn: event.conn, events: [event.seq], violation.text)
        }
    }
}

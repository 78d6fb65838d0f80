import Capture
import Wire

/// Every message is a JSON object (contract, "Message Format").
struct MessageRules: RuleGroup {
    private static let object = Rule(
        "message-object", .likely, nil, section: #"contract, "Message Format""#,
        "Every message of the WebSocket, and every result that is posted, is a JSON object")

    private static let known = Rule(
        "message-known", .likely, nil, section: #"contract, "Message Format""#,
        "A message is a heartbeat, a command, an answer or an event")

    static let rules = [object, known]

    static let interests: RuleInterests = [.message, .request]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .message(let message) where !message.isBehindClose:
            // What is too deep or too long for the reader is not judged.
            switch message.fault {
            case .tooDeep, .tooLarge: return
            default: break
            }
            judge(
                message.json, message.fault.map { "\($0)" }, by: message.from, "the message", fact,
                &context)
            guard message.json?.tape.kind(0) == .object else { return }
            context.exercise(Self.known)
            guard case .other = message.sort else { return }
            context.report(
                Self.known, by: message.from, conn: fact.conn, events: [fact.seq],
                "the message has no field by which it could be told")
        case .request(let request) where request.route == .result:
            guard case .whole = request.request.body.content else { return }
            judge(request.json, "it is not JSON", by: .app, "the body", fact, &context)
        default: break
        }
    }

    private func judge(
        _ json: JSONDocument?, _ fault: String?, by side: Side, _ what: String, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        context.exercise(Self.object)
        let kind = json?.tape.kind(0)
        guard kind != .object else { return }
        let why = kind.map { "it is \($0.words)" } ?? fault ?? "it is not JSON"
        context.report(
            Self.object, by: side, conn: fact.conn, events: [fact.seq],
            "\(what) is no JSON object: \(why)")
    }
}

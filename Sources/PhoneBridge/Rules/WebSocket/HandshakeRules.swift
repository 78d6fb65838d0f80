import Capture
import Wire

/// The rules for the opening handshake: one for each kind of `HandshakeViolation`, and that a
/// broken request is not answered with a 101.
struct HandshakeRules: RuleGroup {
    static let rules: [Rule] = [
        method, httpVersion, host, upgrade, connection, key, oneKey, keyForm, version, extensions,
        refusesBroken, answerUpgrade, answerConnection, accept, subprotocol, offered,
        answerExtensions,
    ]

    static let method = Rule(
        "ws-request-method", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake is a GET request")
    static let httpVersion = Rule(
        "ws-request-http-version", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake is a request of HTTP/1.1 or later")
    static let host = Rule(
        "ws-request-host", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake has one Host")
    static let upgrade = Rule(
        "ws-request-upgrade", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake's Upgrade names websocket")
    static let connection = Rule(
        "ws-request-connection", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake's Connection names Upgrade")
    static let key = Rule(
        "ws-request-key", .sure, .app, section: "RFC 6455 §4.1",
        "The handshake has a Sec-WebSocket-Key")
    static let oneKey = Rule(
        "ws-request-one-key", .sure, .app, section: "RFC 6455 §11.3.1",
        "The handshake has no second Sec-WebSocket-Key")
    static let keyForm = Rule(
        "ws-request-key-form", .sure, .app, section: "RFC 6455 §4.1",
        "Sec-WebSocket-Key is the base64 of 16 bytes")
    static let version = Rule(
        "ws-request-version", .sure, .app, section: "RFC 6455 §4.1",
        "Sec-WebSocket-Version is 13")
    static let extensions = Rule(
        "ws-request-extensions", .sure, .app, section: "RFC 6455 §9.1",
        "Sec-WebSocket-Extensions is a list of extensions")
    static let refusesBroken = Rule(
        "ws-refuses-broken-handshake", .sure, .board, section: "RFC 6455 §4.2.1",
        "The board does not answer 101 to a handshake that lacks what the RFC asks of it")
    static let answerUpgrade = Rule(
        "ws-answer-upgrade", .sure, .board, section: "RFC 6455 §4.2.2",
        "The board's answer names websocket in Upgrade")
    static let answerConnection = Rule(
        "ws-answer-connection", .sure, .board, section: "RFC 6455 §4.2.2",
        "The board's answer names Upgrade in Connection")
    static let accept = Rule(
        "ws-answer-accept", .sure, .board, section: "RFC 6455 §4.2.2",
        "Sec-WebSocket-Accept is the hash of the key that the app sent")
    static let subprotocol = Rule(
        "ws-answer-subprotocol", .sure, .board, section: "RFC 6455 §4.2.2",
        "The board chooses a subprotocol only out of those that the app offered")
    static let offered = Rule(
        "ws-answer-extension-offered", .sure, .board, section: "RFC 6455 §9.1",
        "The board agrees on an extension only if the app offered it")
    static let answerExtensions = Rule(
        "ws-answer-extensions", .sure, .board, section: "RFC 6455 §9.1, RFC 7692 §7.1",
        "The board's extensions fit what the app offered, with parameters that exist")

    private var hasWire = true

    static let interests: RuleInterests = [.sessions, .request, .exchange]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        if case .session(let info) = event.kind { hasWire = info.source != "har" }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        guard hasWire else { return }
        switch fact.kind {
        case .request(let request):
            judge(request, fact.conn, &context)
        case .exchange(let exchange) where exchange.response.status == 101:
            guard let request = exchange.request else { return }
            judge(exchange.response, to: request, fact, &context)
        default: break
        }
    }

    /// Whether somebody wants a WebSocket, however badly.
    private static func isHandshake(_ request: Event.Request) -> Bool {
        request.headers.has("Sec-WebSocket-Key")
            || request.headers.has(token: "websocket", in: "Upgrade")
    }

    private func judge(_ fact: RequestFact, _ conn: Int, _ context: inout RuleContext) {
        guard Self.isHandshake(fact.request) else { return }
        for rule in Self.rules where rule.obliged == .app { context.exercise(rule) }
        for violation in WebSocketHandshake.violations(ofRequest: fact.request.head) {
            guard let rule = Self.requestRule(for: violation) else { continue }
            context.report(rule, by: .app, conn: conn, events: [fact.seq], violation.text)
        }
    }

    private func judge(
        _ response: Event.Response, to request: RequestFact, _ fact: LinkFact,
        _ context: inout RuleContext
    ) {
        for rule in Self.rules where rule.obliged == .board { context.exercise(rule) }
        let head = request.request.head
        let events = [request.seq, fact.seq]
        let broken = WebSocketHandshake.violations(ofRequest: head)
        let refusable = broken.first { violation in
            // A list of extensions that cannot be read is no list: the board may do without.
            if case .extensions = violation { false } else { true }
        }
        if let refusable {
            context.report(
                Self.refusesBroken, by: .board, conn: fact.conn, events: events,
                "the answer is 101, and \(refusable.text)")
        }
        for violation in WebSocketHandshake.violations(ofResponse: response.head, to: head) {
            // Without one key there is nothing to hash.
            if case .accept = violation, head.fieldLines.values(of: "Sec-WebSocket-Key").count != 1
            {
                continue
            }
            guard let rule = Self.answerRule(for: violation) else { continue }
            context.report(rule, by: .board, conn: fact.conn, events: events, violation.text)
        }
    }

    /// The rule that a request breaks with this; nil for what no request can do.
    static func requestRule(for violation: HandshakeViolation) -> Rule? {
        switch violation {
        case .method: method
        case .httpVersion: httpVersion
        case .host: host
        case .upgradeMissing: upgrade
        case .connectionMissing: connection
        case .keyMissing: key
        case .keyRepeated: oneKey
        case .keyMalformed: keyForm
        case .version: version
        case .extensions: extensions
        case .status, .accept, .subprotocol: nil
        }
    }

    /// The rule that an answer breaks with this; nil for what no answer can do.
    static func answerRule(for violation: HandshakeViolation) -> Rule? {
        switch violation {
        case .upgradeMissing: answerUpgrade
        case .connectionMissing: answerConnection
        case .accept: accept
        case .subprotocol: subprotocol
        case .extensions(.notOffered): offered
        case .extensions: answerExtensions
        case .status, .method, .httpVersion, .host, .keyMissing, .keyRepeated, .keyMalformed,
            .version:
            nil
        }
    }
}

extension Event.Request {
    /// The head as the decoder read it.
    var head: HTTPHead {
        HTTPHead(
            startLine: .request(method: method, target: target), version: version,
            fieldLines: headers, raw: raw)
    }
}

extension Event.Response {
    /// The head as the decoder read it.
    var head: HTTPHead {
        HTTPHead(
            startLine: .status(code: status, reason: reason), version: version,
            fieldLines: headers, raw: raw)
    }
}

import Testing
import Wire

@testable import PhoneBridge

extension RuleCase {
    /// A handshake with something replaced, by the app or by the board.
    private static func handshake(
        _ rule: String, _ about: String = "", request: [(String, String)] = [],
        answer: [(String, String)] = [], status: String? = nil, others: [String] = []
    ) -> RuleCase {
        var app = SessionScript.handshake
        for (old, new) in request { app = app.replacing(old, with: new) }
        var board = SessionScript.acceptance
        for (old, new) in answer { board = board.replacing(old, with: new) }
        var row = RuleCase(
            rule, about, breaks: "0 open\n0 app> \(app)\n0.1 board> \(status ?? board)",
            close: "0 dial")
        row.others = Set(others)
        return row
    }

    private static let refused = "400 no"

    static let handshakes: [RuleCase] = [
        handshake("ws-request-method", request: [("GET", "PUT")], status: refused),
        handshake(
            "ws-request-host", request: [("<Host: ", "<!Host: ")], status: refused,
            others: ["http-missing-host"]),
        handshake(
            "ws-request-upgrade", request: [("<Upgrade: websocket>", "")], status: refused),
        handshake(
            "ws-request-connection", request: [("<Connection: Upgrade>", "")], status: refused,
            others: ["http-upgrade-without-connection"]),
        handshake(
            "ws-request-key", request: [("<Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==>", "")],
            status: refused),
        handshake(
            "ws-request-one-key",
            request: [("<Sec-WebSocket-Key:", "<Sec-WebSocket-Key: a> <Sec-WebSocket-Key:")],
            status: refused),
        handshake(
            "ws-request-key-form", request: [("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIA==")],
            status: refused),
        handshake(
            "ws-request-version", request: [("Version: 13", "Version: 8")], status: refused),
        handshake(
            "ws-request-extensions",
            request: [("Version: 13>", "Version: 13> <Sec-WebSocket-Extensions: a;;=>")],
            status: refused),
        handshake(
            "ws-refuses-broken-handshake", request: [("Version: 13", "Version: 8")],
            others: ["ws-request-version"]),
        handshake("ws-answer-upgrade", answer: [("<Upgrade: websocket>", "<Upgrade: h2c>")]),
        handshake(
            "ws-answer-connection", answer: [("<Connection: Upgrade>", "")],
            others: ["http-upgrade-without-connection"]),
        handshake("ws-answer-accept", answer: [("s3pPLM", "S3PPLM")]),
        handshake(
            "ws-answer-subprotocol", answer: [("101 ", "101 <Sec-WebSocket-Protocol: chat> ")]),
        handshake(
            "ws-answer-extension-offered",
            answer: [("101 ", "101 <Sec-WebSocket-Extensions: permessage-deflate> ")]),
        handshake(
            "ws-answer-extensions",
            request: [
                ("Version: 13>", "Version: 13> <Sec-WebSocket-Extensions: permessage-deflate>")
            ],
            answer: [
                ("101 ", "101 <Sec-WebSocket-Extensions: permessage-deflate; window=9> ")
            ]),
    ]

    static let oldHandshake: [RuleCase] = [
        RuleCase(
            "ws-request-http-version",
            breaks: "0 open\n0 app> version=1.0 \(SessionScript.handshake)\n0.1 board> 426 no",
            close: "0 dial")
    ].map { row in
        var row = row
        row.others = ["http-missing-upgrade"]
        return row
    }
}

@Suite struct HandshakeRulesTests {
    @Test func `a request that wants no WebSocket is no handshake`() {
        let script = """
            0    open
            0    app> GET /api/phone-bridge
            0.1  board> 426 <Connection: Upgrade> <Upgrade: websocket> no
            """
        #expect(RuleChecker.check(script).breaches.isEmpty)
    }

    @Test func `every violation of a handshake has its rule`() {
        let requests: [HandshakeViolation] = [
            .method("PUT"), .httpVersion("1.0"), .host, .upgradeMissing, .connectionMissing,
            .keyMissing, .keyRepeated, .keyMalformed(""), .version(""),
            .extensions(.malformed("")),
        ]
        let answers: [HandshakeViolation] = [
            .upgradeMissing, .connectionMissing, .accept("", expected: ""), .subprotocol(""),
            .extensions(.notOffered("")), .extensions(.repeated),
        ]
        let rules =
            requests.compactMap { HandshakeRules.requestRule(for: $0)?.id }
            + answers.compactMap { HandshakeRules.answerRule(for: $0)?.id }
        #expect(rules.count == requests.count + answers.count && Set(rules).count == rules.count)
    }
}

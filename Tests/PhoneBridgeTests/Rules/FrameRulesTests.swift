import Capture
import Testing
import Wire

@testable import PhoneBridge

extension RuleCase {
    /// A frame that breaks a rule, and one nearly like it.
    private static func frame(
        _ rule: String, _ about: String = "", breaks: String, close: String
    ) -> RuleCase {
        RuleCase(
            rule, about, breaks: "0 connect\n1 \(breaks)\n1.1 \(breaks.peer)> close 1002",
            close: "0 connect\n1 \(close)\n1.1 \(breaks.peer)> close 1002")
    }

    static let frames: [RuleCase] = [
        frame(
            "ws-reserved-bits", breaks: "app> frame rsv=2 {}", close: "app> frame rsv=0 {}"),
        frame(
            "ws-reserved-bits", "RSV1 without compression", breaks: "board> frame rsv=4 {}",
            close: "board> frame rsv=0 {}"),
        frame(
            "ws-reserved-opcode", breaks: "app> frame opcode=3 {}",
            close: "app> frame opcode=2 {}"),
        frame(
            "ws-client-masks", breaks: "app> frame masked=0 {}", close: "app> frame masked=1 {}"),
        frame(
            "ws-server-does-not-mask", breaks: "board> frame masked=1 {}",
            close: "board> frame masked=0 {}"),
        frame(
            "ws-control-length",
            breaks: "app> frame opcode=9 \(String(repeating: "x", count: 126))",
            close: "app> frame opcode=9 \(String(repeating: "x", count: 125))"),
        frame(
            "ws-control-whole", breaks: "app> frame opcode=9 fin=0 x",
            close: "app> frame opcode=9 x"),
        frame(
            "ws-length-minimal", breaks: "app> frame long=1 {}", close: "app> frame long=0 {}"),
        RuleCase(
            "ws-length-top-bit", breaks: "0 connect\n1 app> frame length=9223372036854775808",
            close: "0 connect\n1 app> frame opcode=2 x"),
        frame(
            "ws-continuation-continues", breaks: "app> frame opcode=0 x",
            close: "app> frame fin=0 x\n1 app> frame opcode=0 x"),
        frame(
            "ws-message-uninterrupted", breaks: "app> frame fin=0 x\n1 app> frame y",
            close: "app> frame fin=0 x\n1 app> ping y\n1 app> frame opcode=0 z"),
        frame(
            "ws-text-utf8", breaks: "app> frame hex=c328", close: "app> frame hex=c3a9"),
        frame(
            "ws-text-utf8", "a character cut by the message's end",
            breaks: "app> frame fin=0 hex=c3\n1 app> frame opcode=0 hex=",
            close: "app> frame fin=0 hex=c3\n1 app> frame opcode=0 hex=a9"),
        frame(
            "ws-close-payload", breaks: "app> frame opcode=8 hex=03",
            close: "app> frame opcode=8 hex="),
        frame("ws-close-code", breaks: "app> close 1005", close: "app> close 1000"),
        frame("ws-close-code", "below 1000", breaks: "app> close 999", close: "app> close 4999"),
        frame("ws-close-code-registered", breaks: "app> close 2000", close: "app> close 3000"),
        frame(
            "ws-close-reason-utf8", breaks: "app> frame opcode=8 hex=03e8ff",
            close: "app> frame opcode=8 hex=03e8c3a9"),
        frame(
            "ws-no-data-after-close", breaks: "app> close 1000\n1 app> {}",
            close: "app> close 1000\n1 app> pong x"),
        frame(
            "ws-one-close", breaks: "app> close 1000\n1 app> close 1000",
            close: "app> close 1000"),
        RuleCase(
            "ws-inflatable",
            breaks: """
                0 connect-deflate
                1 app> frame rsv=4 hex=ff
                1 app> note not_inflated a compressed message stays as it is
                1 board> close 1002
                """,
            close: """
                0 connect-deflate
                1 app> frame rsv=4 hex=ab5600
                1 app> message compressed=1 {}
                1 board> close 1002
                """),
        RuleCase(
            "ws-waits-for-answer",
            breaks: """
                0    open
                0    app> \(SessionScript.handshake)
                0.1  app> frame {"id":"heartbeat"}
                0.2  board> \(SessionScript.acceptance)
                0.3  app> \(SessionScript.environment)
                """,
            close: """
                0    open
                0    app> \(SessionScript.handshake)
                0.2  board> \(SessionScript.acceptance)
                0.2  app> \(SessionScript.environment)
                """),
        RuleCase(
            "ws-fails-invalid-text",
            breaks: """
                0   connect
                1   board> frame hex=c328
                12  app> {"id":"heartbeat"}
                """,
            close: """
                0    connect
                1    board> frame hex=c328
                1.1  app> close 1007
                """),
        RuleCase(
            "ws-fails-broken-frame",
            breaks: """
                0   connect
                1   app> frame rsv=1 {}
                12  board> {"id":"heartbeat"}
                """,
            close: """
                0   connect
                1   app> frame rsv=1 {}
                11  board> {"id":"heartbeat"}
                """),
    ].map(\.allowingTheCause)

    /// Where the rule is that somebody fails a broken frame, the frame is broken as well.
    private var allowingTheCause: RuleCase {
        var row = self
        if rule.hasPrefix("ws-fails") { row.others = ["ws-text-utf8", "ws-reserved-bits"] }
        return row
    }
}

extension String {
    /// The side that did not send the first line.
    fileprivate var peer: String { hasPrefix("app") ? "board" : "app" }
}

@Suite struct FrameRulesTests {
    private func rules(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.filter { $0.rule.id.hasPrefix("ws-") }
            .map { "\($0.rule.id) \($0.side)" }
    }

    @Test func `every violation of a frame has its rule, and every rule its violation`() {
        let violations: [FrameViolation] = [
            .reservedBits(1, .text), .reservedOpcode(Opcode(rawValue: 3)), .unmasked, .masked,
            .controlTooLong(.ping, 126), .controlFragmented(.ping), .lengthNotMinimal(.long, 0),
            .lengthTopBit(1 << 63), .strayContinuation, .interruptedMessage(.text), .textNotUTF8,
            .closeOfOneByte, .closeCode(.noStatus), .closeCode(CloseCode(rawValue: 2000)),
            .closeReasonNotUTF8, .afterClose(.text), .afterClose(.close), .notInflatable(why: ""),
        ]
        let rules = violations.compactMap { FrameRules.rule(for: $0)?.id }
        #expect(rules.count == violations.count && Set(rules).count == rules.count)
        // Who has sent a close frame still owes pongs.
        #expect(FrameRules.rule(for: .afterClose(.pong)) == nil)
        // Codes that nobody registered are not forbidden.
        #expect(FrameRules.rule(for: .closeCode(CloseCode(rawValue: 1016)))?.rating == .likely)
    }

    @Test func `nothing is said of frames behind a hole until some are in order`() {
        let broken = #"app> frame rsv=7 masked=0 {}"#
        let good = #"app> frame {"id":"heartbeat"}"#
        #expect(rules("0 connect\n1 gap app\n2 \(broken)") == [])
        #expect(rules("0 connect\n1 data app\n2 \(broken)") == [])
        let run = Array(repeating: "3 \(good)", count: 4).joined(separator: "\n")
        #expect(
            rules("0 connect\n1 gap app\n2 \(broken)\n\(run)\n4 \(broken)")
                == ["ws-reserved-bits app", "ws-client-masks app"])
        // The other side's frames are where they were.
        #expect(
            rules("0 connect\n1 gap app\n2 board> frame masked=1 {}")
                == ["ws-server-does-not-mask board"])
        // A continuation may continue what began in the hole.
        #expect(
            rules("0 connect\n1 gap app\n\(run)\n4 app> frame opcode=0 x") == [
                "ws-continuation-continues app"
            ])
        #expect(
            rules("0 open continued websocket\n1 app> frame opcode=0 x") == [])
    }

    @Test func `frames of which only a browser tells have no mask`() {
        let session = Event(
            time: 0,
            kind: .session(
                SessionInfo(id: "h", startedAt: "2026-01-01T00:00:00Z", tool: "t", source: "har")))
        var checker = RuleChecker()
        var breaches = checker.receive(session)
        for event in SessionScript(
            "0 connect\n1 app> frame masked=0 {\"id\":\"ping\"}", greets: true
        ).events {
            breaches += checker.receive(event)
        }
        #expect(breaches.map(\.rule.id) == [])
    }
}

import PhoneBridge
import Testing

extension RuleCase {
    static let heartbeatEcho: [RuleCase] = [
        RuleCase(
            "heartbeat-echoed",
            breaks: """
                0     connect
                1     app> {"id":"heartbeat"}
                6     app> {"id":"heartbeat"}
                6.1   board> {"id":"heartbeat"}
                21.3  wait
                """,
            close: """
                0     connect
                1     app> {"id":"heartbeat"}
                16.2  board> {"id":"heartbeat"}
                20    wait
                """),
        RuleCase(
            "heartbeat-echo-id",
            breaks: """
                0     connect
                1     app> {"id":"ping"}
                1.1   board> {"id":"heartbeat"}
                """,
            close: """
                0     connect
                1     app> {"id":"ping"}
                1.1   app> {"id":"heartbeat"}
                1.2   board> {"id":"heartbeat"}
                1.3   board> {"id":"ping"}
                """),
    ]
}

@Suite struct HeartbeatEchoRulesTests {
    private func breaches(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.map { "\($0.rule.id): \($0.text)" }
    }

    @Test func `no echo is missed where it may not have been seen`() {
        let unsure = [
            // The board's side has a hole.
            """
            0   connect
            1   app> {"id":"heartbeat"}
            9   gap board
            20  app> {"id":"heartbeat"}
            30  wait
            """,
            // Nothing was decoded of the board since the hole.
            """
            0   connect
            1   gap board
            2   app> {"id":"heartbeat"}
            30  wait
            """,
            // The hole comes to light behind the deadline.
            """
            0   connect
            1   app> {"id":"heartbeat"}
            20  gap board
            """,
            // The recording had a pause.
            """
            0   connect
            1   app> {"id":"heartbeat"}
            20  hole
            """,
            // The connection was met in the middle, and the board never heard.
            """
            0   open continued websocket
            1   app> {"id":"heartbeat"}
            30  wait
            """,
            // It ended before.
            """
            0   connect
            1   app> {"id":"heartbeat"}
            9   app fin
            30  wait
            """,
            // The session ends before the limit.
            """
            0   connect
            1   app> {"id":"heartbeat"}
            16  wait
            """,
        ]
        for script in unsure + [
            // It is more than a heartbeat.
            """
            0   connect
            1   app> {"id":"heartbeat","method":5}
            30  wait
            """,
            """
            0   connect
            1   app> frame opcode=2 {"id":"heartbeat"}
            2   app> {"id":"ping"}
            3   board> {"id":"ping"}
            30  wait
            """,
        ] { #expect(breaches(script) == [], "\(script)") }
    }

    @Test func `what is missed again is reported again, once each`() {
        #expect(
            breaches(
                """
                0   open continued websocket
                1   app> {"id":"heartbeat"}
                2   board> {"id":"heartbeat"}
                3   app> {"id":"heartbeat"}
                9   app> {"id":"ping"}
                40  wait
                """) == [
                    "heartbeat-echoed: the heartbeat \"heartbeat\" got no echo within 15000 ms",
                    "heartbeat-echoed: the heartbeat \"ping\" got no echo within 15000 ms",
                ])
    }

    @Test func `a target that runs faster has less time`() {
        var profile = Profile(name: "fast")
        profile.timeScale = 100
        let script = """
            0    connect
            1    app> {"id":"heartbeat"}
            1.5  wait
            """
        #expect(RuleChecker.check(script, profile: profile).breaches.count == 1)
        #expect(RuleChecker.check(script).breaches.isEmpty)
    }
}

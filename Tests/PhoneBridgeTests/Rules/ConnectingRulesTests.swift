import PhoneBridge
import Testing

extension RuleCase {
    private static let echoed = """
        6.0   app> {"id":"heartbeat"}
        6.0   board> {"id":"heartbeat"}
        """

    /// The board ends a connection; the app comes back, so many seconds later each time.
    private static func returns(_ pauses: [Double]) -> String {
        var lines = ["0 connect"]
        var time = 1.0
        for (index, pause) in pauses.enumerated() {
            let conn = index + 1
            lines += [
                "\(time) #\(conn) board> close 1001 bye", "\(time) #\(conn) app> close 1001",
                "\(time) #\(conn) board fin", "\(time) #\(conn) app fin",
            ]
            time += pause
            lines.append("\(time) #\(conn + 1) connect")
            time += 1
        }
        return lines.joined(separator: "\n")
    }

    /// The board ends the connection; the app polls in the foreground.
    private static func polls(until last: Double) -> String {
        let polls = [2, 7, 12, last].map {
            "\($0) #9 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=active"
        }
        return (["0 connect", "1 board fin", "1 app fin"] + polls).joined(separator: "\n")
    }

    /// The same, and it tries to come back; the board refuses.
    private static let handshake =
        "app> GET /api/phone-bridge?platform=ios&phone_id=p1 <Connection: Upgrade> "
        + "<Upgrade: websocket> <Sec-WebSocket-Version: 13> "
        + "<Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==>"

    /// A handshake that gets no response, and that the board lets go of later than the app.
    private static func givenUp(at second: Double, andBackAt back: Double) -> String {
        """
        0 connect
        1 board fin
        1 app fin
        4.5 #3 \(handshake)
        \(second) #3 app fin
        \(back - 0.5) #3 board reset
        \(back) #4 connect
        """
    }

    private static var refusals: String {
        var lines = ["0 connect", "1 board fin", "1 app fin"]
        for second in stride(from: 5, through: 25, by: 5) {
            lines += [
                "\(second) #\(second) \(handshake)",
                "\(second) #\(second) board> 404", "\(second) #\(second) app fin",
                "\(second).5 #2 app> "
                    + "GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=active",
            ]
        }
        return lines.joined(separator: "\n")
    }

    static let connecting: [RuleCase] = [
        RuleCase(
            "environment-on-connect", breaks: "0 dial\n\(echoed)",
            close: """
                0    dial
                5.2  app> \(SessionScript.environment)
                \(echoed)
                """),
        RuleCase(
            "environment-first",
            breaks: """
                0  dial
                1  app> {"id":"heartbeat"}
                1  app> \(SessionScript.environment)
                """,
            close: """
                0  dial
                1  app> \(SessionScript.environment)
                1  app> {"id":"heartbeat"}
                """),
        RuleCase("reconnect-interval", breaks: returns([2.5]), close: returns([2.9])),
        RuleCase(
            "reconnect-interval", "too late",
            breaks: polls(until: 17.5), close: polls(until: 17) + "\n18 #3 connect"),
        RuleCase("reconnect-interval", "refused", breaks: polls(until: 17.5), close: refusals),
        RuleCase(
            "reconnect-interval", "behind a handshake that the app gave up",
            breaks: givenUp(at: 14, andBackAt: 15.5), close: givenUp(at: 14, andBackAt: 17.5)),
        RuleCase(
            "reconnect-interval", "behind a connection of which a part is missing",
            breaks: polls(until: 17.5),
            close: """
                0    connect
                1    board fin
                1    app fin
                4.5  #3 connect
                14   #3 board> wire-end 817e00ff61
                14   #3 app fin
                15   #9 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=active
                17   #9 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1&app_state=active
                """),
        RuleCase(
            "reconnect-storm", breaks: returns([0.1, 0.1, 0.1, 0.1]),
            close: returns([0.1, 0.1, 4, 0.1])),
        RuleCase(
            "one-connection",
            breaks: """
                0  connect
                1  #2 connect
                4  app> {"id":"heartbeat"}
                """,
            close: """
                0  connect
                1  #2 connect
                3  app> {"id":"heartbeat"}
                """),
        RuleCase(
            "old-connection-closed",
            breaks: """
                0  connect
                1  #2 connect
                7  wait
                """,
            close: """
                0  connect
                1  #2 connect
                5  board> close 1001 new connection
                7  wait
                """),
        RuleCase(
            "old-connection-not-heard",
            breaks: """
                0  connect
                1  #2 connect
                4  board> {"id":"c","type":"clipboard_read"}
                """,
            close: """
                0  connect
                1  #2 connect
                2  board> {"id":"c","type":"clipboard_read"}
                """),
        RuleCase(
            "old-connection-not-heard", "an echo",
            breaks: """
                0    connect
                1    #2 connect
                4    app> {"id":"heartbeat"}
                4.1  board> {"id":"heartbeat"}
                """,
            close: """
                0    connect
                1    #2 connect
                1.1  app> {"id":"heartbeat"}
                4.1  board> {"id":"heartbeat"}
                """),
        RuleCase(
            "old-connection-not-heard", "an echo that the app had not read",
            breaks: """
                0    connect
                0.5  app> {"id":"heartbeat"}
                1    #2 connect
                4    app> {"id":"heartbeat"}
                4.1  board> {"id":"heartbeat"}
                4.2  board> {"id":"heartbeat"}
                """,
            close: """
                0    connect
                0.5  app> {"id":"heartbeat"}
                1    #2 connect
                4    app> {"id":"heartbeat"}
                4.1  board> {"id":"heartbeat"}
                """),
    ]
}

@Suite struct ConnectingRulesTests {
    private func ids(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.map(\.rule.id)
    }

    @Test func `two phones are two`() {
        let script = """
            0    connect platform=ios&phone_id=p1
            1    #2 connect platform=android&phone_id=p2
            1.1  board> close 1001 new connection
            4    app> {"id":"heartbeat"}
            """
        #expect(!ids(script).contains("one-connection"))
        let storm = (1...4).map { index in
            """
            \(index)    #\(index) connect platform=ios&phone_id=p\(index)
            \(index).1  #\(index) board fin
            \(index).1  #\(index) app fin
            """
        }
        #expect(ids(storm.joined(separator: "\n")) == [])
    }

    @Test func `an app that ended the connection itself comes back when it likes`() {
        let script = """
            0    connect
            1    app> close 1000
            1    board> close 1000
            1    board fin
            1    app fin
            1.1  #2 connect
            """
        #expect(ids(script) == [])
    }

    @Test func `a connection that was met within tells nothing of its beginning`() {
        #expect(ids("0 open continued websocket\n9 app> {\"id\":\"c\",\"data\":{}}") == [])
        #expect(ids("0 dial\n1 gap app\n9 app> {\"id\":\"c\",\"data\":{}}") == [])
    }
}

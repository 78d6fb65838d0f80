import PhoneBridge
import Testing

extension RuleCase {
    static let answer: [RuleCase] = [
        RuleCase(
            "result-id-known", "nobody asked, and the recording is old enough to know",
            breaks: """
                0    connect
                400  app> {"id":"c9"}
                """,
            close: """
                0    connect
                400  board> {"id":"c9","type":"clipboard_read"}
                401  app> {"id":"c9","data":{"text":""}}
                """),
        RuleCase(
            "result-id-known", "it may have been sent before the recording began",
            breaks: "0 connect\n9 app> {\"id\":\"c9\"}",
            close: """
                0  app> POST /api/phone-bridge/commands {"command":{"id":"c9","type":"clipboard_read"}}
                1  #2 app> GET /api/phone-bridge/commands?platform=ios
                2  #2 board> 200 {"commands":[{"id":"c9","type":"clipboard_read"}]}
                3  #2 app> POST /api/phone-bridge/results {"id":"c9","data":{"text":""}}
                """, rating: .likely),
        RuleCase(
            "result-id-known", "answered before it was handed out",
            breaks: """
                0    app> POST /api/phone-bridge/commands {"command":{"id":"c9","type":"open_app","app":"x"}}
                400  #2 app> POST /api/phone-bridge/commands {"command":{"id":"d","type":"open_app","app":"x"}}
                401  #3 app> POST /api/phone-bridge/results {"id":"d"}
                """,
            close: """
                0    app> GET /api/phone-bridge/commands?platform=ios
                1    board> 200 {"commands":[{"id":"d","type":"open_app","app":"x"}]}
                2    app> POST /api/phone-bridge/results {"id":"d"}
                """),
        RuleCase(
            "result-once", "over the WebSocket",
            breaks: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                1.1  app> {"id":"c1","method":"open_url"}
                1.2  app> {"id":"c1","method":"open_url"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                1.1  app> {"id":"c1","method":"open_url"}
                1.2  board> {"id":"c1","type":"open_app","app":"x"}
                1.3  app> {"id":"c1","method":"open_url"}
                """),
        RuleCase(
            "result-once", "posted again though it was acknowledged",
            breaks: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                2    app> POST /api/phone-bridge/results {"id":"c1"}
                2.1  board> 200 {"status":"acknowledged"}
                3    app> POST /api/phone-bridge/results {"id":"c1"}
                """,
            close: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                2    #2 app> POST /api/phone-bridge/results {"id":"c1"}
                2.1  #2 board reset
                3    app> POST /api/phone-bridge/results {"id":"c1"}
                """),
        RuleCase(
            "result-once", "again on a new connection: the first may be lost",
            breaks: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                1.1  app> {"id":"c1"}
                1.2  app> {"id":"c1","error":{"category":"a","code":"b","message":"c"}}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                1.1  app> {"id":"c1"}
                1.2  app reset
                5    #2 connect
                5.2  #2 app> {"id":"c1"}
                """),
        RuleCase(
            "result-in-time", "the contract's 5 seconds",
            breaks: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                6.3  app> {"id":"c1"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                6.2  app> {"id":"c1"}
                """),
        RuleCase(
            "result-in-time", "the command's own time",
            breaks: """
                1    board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                1.6  app> {"id":"c1"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x","timeout_ms":10000}
                11   app> {"id":"c1"}
                """),
        RuleCase(
            "result-in-time", "sent again in between",
            breaks: """
                1    board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                1.5  board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                2.1  app> {"id":"c1"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                1.5  board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                2    app> {"id":"c1"}
                """),
        RuleCase(
            "result-in-time", "a board that waits longer for its queue",
            breaks: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                12   app> POST /api/phone-bridge/results {"id":"c1"}
                """,
            close: """
                1    app> GET /api/phone-bridge/commands?platform=ios
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                11   app> POST /api/phone-bridge/results {"id":"c1"}
                """, profile: .board12),
        RuleCase(
            "result-in-time", "the session ends, and the app could have answered",
            breaks: """
                1  board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                2  app> {"id":"heartbeat"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x","timeout_ms":300}
                1.2  board> {"id":"c2","type":"open_app","app":"x","timeout_ms":300}
                1.5  app> {"id":"c2"}
                """),
        RuleCase(
            "command-answered", "over the WebSocket",
            breaks: """
                0   connect
                1   board> {"id":"c1","type":"open_app","app":"x"}
                4   app> {"id":"heartbeat"}
                4   board> {"id":"heartbeat"}
                20  app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}
                40  wait
                """,
            close: """
                0   connect
                1   board> {"id":"c1","type":"open_app","app":"x"}
                1   board> {"id":"c2","type":"open_app","app":"x"}
                20  app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}
                21  app> {"id":"c1"}
                22  board> {"id":"c2","type":"open_app","app":"x"}
                23  app> {"id":"c2"}
                24  board> {"id":"lost-to-a-sleeping-app","type":"open_app","app":"x"}
                50  app> {"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}
                99  wait
                """),
        RuleCase(
            "command-answered", "handed out by the queue",
            breaks: """
                1    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                4    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                4.1  board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                9    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                9.1  board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                40   wait
                """,
            close: """
                1    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                1.1  board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                4    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                4.1  board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                9    app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                9.1  board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                9.2  app> POST /api/phone-bridge/results {"id":"c1"}
                """),
        RuleCase(
            "command-answered", "handed out just as the app gives its poll up",
            breaks: """
                1    #1 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                1.1  #1 board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                1.2  #1 app fin
                4    #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                14.1 #2 board> 200 {"commands":[{"id":"c2","type":"open_app","app":"x"}]}
                15   #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                15.1 #2 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                29   #2 app> POST /api/phone-bridge/results {"id":"c2"}
                60   wait
                """,
            close: """
                1    #1 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                1.1  #1 board> 200 {"commands":[{"id":"c0","type":"open_app","app":"x"}]}
                1.2  #1 app> POST /api/phone-bridge/results {"id":"c0"}
                4    #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                14   #2 board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                14.1 #2 app reset
                15   #3 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                15.1 #3 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                29   #3 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                29.1 #3 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                60   wait
                """),
        RuleCase(
            "command-answered", "handed out to a poll that is made again as the app gives it up",
            breaks: """
                4    #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                14   #2 board reset
                17   #3 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                17   #3 board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                17.1 #3 app fin
                18   #4 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                18.1 #4 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                39   #4 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                39.1 #4 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                70   wait
                """,
            close: """
                1    #1 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                1.1  #1 board> 200 {"commands":[{"id":"c0","type":"open_app","app":"x"}]}
                1.2  #1 app> POST /api/phone-bridge/results {"id":"c0"}
                4    #2 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                14   #2 board reset
                14   #3 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                14   #3 board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                14   #3 app fin
                18   #4 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                18.1 #4 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                39   #4 app> GET /api/phone-bridge/commands?platform=ios&phone_id=p1
                39.1 #4 board> 200 {"commands":null,"server_time":"2026-06-10T03:20:05Z"}
                70   wait
                """),
        RuleCase(
            "result-route",
            breaks: """
                1  board> {"id":"c1","type":"open_app","app":"x"}
                2  #2 app> POST /api/phone-bridge/results {"id":"c1"}
                """,
            close: """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                1.5  board> {"id":"c2","type":"open_app","app":"x"}
                2    app> {"id":"c2"}
                2    #2 app> GET /api/phone-bridge/commands?platform=ios
                2.1  #2 board> 200 {"commands":[{"id":"c1","type":"open_app","app":"x"}]}
                2.2  #2 app> POST /api/phone-bridge/results {"id":"c1"}
                """),
        RuleCase(
            "result-phone",
            breaks: """
                1    #1 connect platform=ios&phone_id=p1
                1    #1 board> {"id":"c1","type":"open_app","app":"x"}
                2    #2 connect platform=ios&phone_id=p2
                2    #2 app> {"id":"c1"}
                """,
            close: """
                1    #1 connect platform=ios&phone_id=p1
                1    #1 board> {"id":"c1","type":"open_app","app":"x"}
                2    #2 connect platform=ios&phone_id=p1
                2    #2 app> {"id":"c1"}
                """),
    ]
}

@Suite struct AnswerRulesTests {
    private func breaches(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.map { "\($0.rule.id): \($0.text)" }
    }

    @Test func `no answer is missed where none could come, or none could be seen`() {
        let command = #"1 board> {"id":"c1","type":"open_app","app":"x"}"#
        let unsure = [
            // The phone was not heard again: it may sleep.
            "0 connect\n\(command)\n50 wait",
            // It was heard, but not behind the deadline.
            "0 connect\n\(command)\n6 app> {\"id\":\"heartbeat\"}\n50 wait",
            // The connection ended.
            "0 connect\n\(command)\n9 app> {\"id\":\"heartbeat\"}\n9 app reset\n50 wait",
            "0 connect\n\(command)\n9 app> {\"id\":\"heartbeat\"}\n9 app> close 1000\n50 wait",
            // Something is missing.
            "0 connect\n\(command)\n3 gap app\n9 app> {\"id\":\"heartbeat\"}\n50 wait",
            "0 connect\n\(command)\n9 app> {\"id\":\"heartbeat\"}\n10 hole",
            // The session ends within the time.
            "0 connect\n\(command)\n6 app> {\"id\":\"heartbeat\"}",
        ]
        for script in unsure {
            #expect(breaches(script).filter { !$0.hasPrefix("heartbeat") } == [], "\(script)")
        }
    }

    @Test func `an answer behind a hole is not called unknown`() {
        #expect(breaches("0 connect\n399 gap board\n400 app> {\"id\":\"c9\"}") == [])
        #expect(
            breaches("0 connect\n1 gap board\n400 app> {\"id\":\"c9\"}")
                == ["result-id-known: no command had the id \"c9\""])
        #expect(breaches("0 open continued websocket\n1 app> {\"id\":\"c9\"}") == [])
    }

    @Test func `a late answer names both events and both times`() throws {
        let breach = try #require(
            RuleChecker.check(
                """
                1    board> {"id":"c1","type":"open_app","app":"x"}
                6.5  app> {"id":"c1"}
                """
            ).breaches.first)
        #expect(breach.text == "the answer came after 5500.000 ms; the command allows 5000 ms")
        #expect(breach.events == [5, 6])
        #expect(breach.command == .init(id: "c1", type: "open_app"))
    }

    @Test func `a command with an endless time-out is never late, and ten thousand wait at once`() {
        var script = "0 connect\n"
        for number in 0..<10_000 {
            script +=
                #"1 board> {"id":"c\#(number)","type":"open_app","app":"x","timeout_ms":1e400}"#
                + "\n"
        }
        script += "1000000 app> {\"id\":\"c5\"}\n"
        #expect(breaches(script).filter { !$0.hasPrefix("command-timeout") } == [])
    }
}

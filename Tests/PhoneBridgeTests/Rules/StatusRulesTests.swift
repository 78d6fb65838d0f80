import Capture
import Testing
import Wire

@testable import PhoneBridge

extension RuleCase {
    /// A status document, asked for on a connection of its own.
    fileprivate static func status(_ second: Double, _ document: String, date: String = "")
        -> String
    {
        """
        \(second) #9 app> GET /api/phone-bridge/status
        \(second) #9 board> 200 \(date.isEmpty ? "" : "<Date: \(date)> ")\(document)
        """
    }

    fileprivate static func environment(_ name: String) -> String {
        #"app> {"id":"phone_environment","data":{"system_name":"\#(name)"}}"#
    }

    fileprivate static func echo(_ second: Double, _ conn: Int = 1) -> String {
        """
        \(second) #\(conn) app> {"id":"heartbeat"}
        \(second) #\(conn) board> {"id":"heartbeat"}
        """
    }

    static let statuses: [RuleCase] = [
        RuleCase(
            "status-document", breaks: status(0, "connected"),
            close: status(0, #"{"connected":false}"#)),
        RuleCase(
            "status-document", "another code",
            breaks: """
                0  app> GET /api/phone-bridge/status
                0  board> 503 busy
                """, close: status(0, #"{"connected":false}"#), rating: .likely),
        RuleCase(
            "status-connected-field", breaks: status(0, #"{"connected":"no"}"#),
            close: status(0, #"{"connected":false}"#)),
        RuleCase(
            "status-connected",
            breaks: "0 connect\n\(echo(1))\n\(status(2, #"{"connected":false}"#))",
            close: "0 connect\n\(echo(1))\n\(status(2, #"{"connected":true,"environment":{}}"#))"),
        RuleCase(
            "environment-cleared",
            breaks: """
                0  connect
                1  app reset
                \(status(2, #"{"connected":false,"environment":{"platform":"ios"}}"#))
                """,
            close: """
                0  connect
                1  app reset
                \(status(2, #"{"connected":false,"app_state":"active"}"#))
                """),
        RuleCase(
            "environment-cleared", "still there for the next connection",
            breaks: """
                0  connect
                1  app reset
                4  #2 dial
                \(echo(5, 2))
                \(status(6, #"{"connected":true,"environment":{"platform":"ios"}}"#))
                """,
            close: """
                0  connect
                1  app reset
                4  #2 dial
                \(echo(5, 2))
                \(status(6, #"{"connected":true}"#))
                \(status(7, #"{"connected":false}"#))
                """),
        RuleCase(
            "status-environment", "missing",
            breaks: "0 connect\n\(echo(1))\n\(status(2, #"{"connected":true}"#))",
            close: """
                0 dial
                1 \(environment("iOS"))
                \(status(2, #"{"connected":true}"#))
                \(echo(3))
                \(status(4, #"{"connected":true,"environment":{"system_name":"iOS"}}"#))
                """),
        RuleCase(
            "status-environment", "an older one",
            breaks: """
                0 dial
                1 \(environment("iOS"))
                2 \(environment("iPadOS"))
                \(echo(3))
                \(status(4, #"{"connected":true,"environment":{"system_name":"iOS"}}"#))
                """,
            close: """
                0 dial
                1 \(environment("iOS"))
                \(echo(2))
                3 \(environment("iPadOS"))
                \(status(4, #"{"connected":true,"environment":{"system_name":"iOS"}}"#))
                \(status(4, #"{"connected":true,"environment":{"system_name":"iPadOS"}}"#))
                """),
        RuleCase(
            "status-app-state",
            breaks: """
                0 connect
                1 app> {"id":"phone_app_state","data":{"app_state":"active"}}
                \(echo(2))
                \(status(3, #"{"connected":true,"app_state":"inactive","environment":{}}"#))
                """,
            close: """
                0 connect
                1 app> {"id":"phone_app_state","data":{"app_state":"active"}}
                \(echo(2))
                2 app> {"id":"phone_app_state","data":{"app_state":"inactive"}}
                \(status(3, #"{"connected":true,"app_state":"inactive","environment":{}}"#))
                """),
        RuleCase(
            "status-last-heartbeat",
            breaks: """
                0 connect
                \(echo(1))
                \(status(
                    2,
                    #"{"connected":true,"last_heartbeat_at":"2026-06-10T03:20:00Z","environment":{}}"#,
                    date: "Wed, 10 Jun 2026 03:20:04 GMT"))
                """,
            close: """
                0 connect
                \(echo(1))
                \(status(
                    2,
                    #"{"connected":true,"last_heartbeat_at":"2026-06-10T03:20:00Z","environment":{}}"#,
                    date: "Wed, 10 Jun 2026 03:20:03 GMT"))
                """),
    ]
}

@Suite struct StatusRulesTests {
    /// What the board is said to break.
    private func ids(_ script: String) -> [String] {
        RuleChecker.check(script).breaches.filter { $0.side == .board }.map(\.rule.id)
    }

    @Test func `what the board may not have read yet is not held against it`() {
        // No echo proves that it has heard the connection at all.
        #expect(ids("0 connect\n\(RuleCase.status(1, #"{"connected":false}"#))") == [])
        // Its answer may have been written before the last words.
        var phone = ReportedPhone(conn: 1)
        phone.beat()
        #expect(!phone.isHeard)
        phone.echo(at: 5)
        #expect(phone.isHeard && phone.lastProof == 5 && phone.environments.isEmpty)
        // An echo that nobody asked for proves nothing.
        phone.report(appState: "active")
        phone.echo(at: 6)
        #expect(phone.appStates == nil && phone.lastProof == 5)
        phone.beat()
        phone.echo(at: 7)
        #expect(phone.appStates == ["active"])
    }

    @Test func `what one board takes and another refuses leaves both allowed`() {
        let doubtful = [
            #"{"id":"phone_environment","data":{"system_name":5}}"#,
            #"{"id":"phone_environment","data":{"System_Name":"x"}}"#,
            #"{"id":"phone_environment","data":{"system_name":"a","system_name":"b"}}"#,
            #"{"id":"phone_environment","error":null,"data":{}}"#,
        ]
        for message in doubtful {
            let script = """
                0 connect
                \(RuleCase.echo(1))
                2 app> \(message)
                \(RuleCase.echo(3))
                \(RuleCase.status(4, #"{"connected":true,"environment":{"system_name":"q"}}"#))
                """
            #expect(ids(script) == [], "\(message)")
        }
    }

    @Test func `numbers are compared by value, and absent fields not at all`() {
        let script = """
            0 dial
            1 app> {"id":"phone_environment","data":{"screen":{"width":393.0,"scale":3},"locale":"de"}}
            \(RuleCase.echo(2))
            \(RuleCase.status(
                3, #"{"connected":true,"environment":{"screen":{"width":393}}}"#))
            """
        #expect(ids(script) == [])
    }
}

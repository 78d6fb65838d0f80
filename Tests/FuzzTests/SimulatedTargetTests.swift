import Fuzz
import PhoneBridge
import Simulator
import Testing
import Wire

/// Scripts against the reference peers in virtual time: what a planted defect does is observed, and
/// the clean peer gives no cause.
@Suite struct SimulatedTargetTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var defect: Defect
        var checks: Set<String>
        var script: String

        var testDescription: String { defect.rawValue }
    }

    private static let environment =
        #"{"id":"phone_environment","method":"phone_environment","data":{"platform":"ios"}}"#

    static let rows: [Row] = [
        Row(
            defect: .b16, checks: ["heartbeat-echo-id"],
            script: """
                bridgetap-fuzz 1 as app
                connect a platform=ios
                text a \(environment)
                text a {"id":"ping"}
                wait 1s
                alive
                bystander
                """),
        Row(
            defect: .b1, checks: ["queue-retry-timed-out"],
            script: """
                bridgetap-fuzz 1 as app
                enqueue q {"id":"q","type":"clipboard_read"}
                !C1 enqueue q {"id":"q","type":"clipboard_read"}
                get commands?platform=ios&app_state=active&limit=10
                """),
        Row(
            defect: .b6, checks: ["outcome-first-result"],
            script: """
                bridgetap-fuzz 1 as app
                connect a platform=ios
                text a \(environment)
                stimulate c1 {"id":"c1","type":"clipboard_read"}
                await c1 5s
                !C6 text a {"id":"nobody","data":{"text":"stray"}}
                wait 1s
                text a {"id":"$(c1)","data":{"text":"right"}}
                """),
        Row(
            defect: .b23, checks: ["heartbeat-echoed"],
            script: """
                bridgetap-fuzz 1 as app
                connect a platform=ios
                beats a 5s
                !J16:L text a {"id":"phone_environment","method":"phone_environment","data":{"system_name":5}}
                wait 30s
                """),
        Row(
            defect: .b33, checks: ["queue-incomplete-request"],
            script: #"""
                bridgetap-fuzz 1 as app
                !T4 raw "POST /api/phone-bridge/commands HTTP/1.1\r\nHost: b\r\nContent-Length: 99\r\n\r\n{\"command\":{\"id\":\"a\",\"type\":\"clipboard_read\"}}" fin
                get results/a
                """#),
        Row(
            defect: .a1, checks: ["one-effect"],
            script: """
                bridgetap-fuzz 1 as board
                accept a 10s
                command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
                await c 8s
                !C1 command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
                await c 8s
                alive
                bystander
                """),
        Row(
            defect: .a3, checks: ["one-effect"],
            script: """
                bridgetap-fuzz 1 as board
                accept a 10s
                command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
                await c 8s
                state background pip
                !C1 enqueue c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
                await c 8s
                """),
        Row(
            defect: .a9, checks: ["deleted-thing-gone"],
            script: """
                bridgetap-fuzz 1 as board
                accept a 10s
                command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
                await c 8s
                command d {"id":"d","type":"calendar_delete","payload":{"event_id":"$(c.event_id)"}}
                await d 8s
                command e {"id":"e","type":"calendar_delete","payload":{"event_id":"$(c.event_id)"}}
                await e 8s
                """),
    ]

    @Test(arguments: rows)
    func `a defect is observed, and the clean peer gives no cause`(_ row: Row) throws {
        let script = try FuzzScript(parsing: row.script)
        var target = SimulatedTarget()
        let clean = target.outcome(of: script, keepsSession: true)
        #expect(clean.observations.map(\.text) == [])
        #expect(clean.target == .well)
        #expect(!clean.session.isEmpty)
        target.defects = [row.defect]
        let found = target.outcome(of: script).observations
        #expect(
            found.contains { row.checks.contains($0.check) },
            "\(found.map { "\($0.check): \($0.text)" })")
    }

    @Test func `a link whose name another takes may speak on`() throws {
        let script = try FuzzScript(
            parsing: """
                bridgetap-fuzz 1 as app
                connect a platform=ios
                beats a 1s
                wait 3s
                connect a platform=ios
                wait 3s
                connect a platform=ios
                text a {"id":"heartbeat"}
                wait 1s
                alive
                """)
        let outcome = SimulatedTarget().outcome(of: script)
        #expect(outcome.target == .well)
        #expect(!outcome.observations.contains { $0.check == "alive" })
    }

    @Test func `the same script gives the same session`() throws {
        for row in Self.rows {
            let script = try FuzzScript(parsing: row.script)
            let first = SimulatedTarget().outcome(of: script, keepsSession: true)
            let second = SimulatedTarget().outcome(of: script, keepsSession: true)
            #expect(first.session == second.session)
        }
    }
}

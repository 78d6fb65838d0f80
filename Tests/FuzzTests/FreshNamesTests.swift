import Fuzz
import PhoneBridge
import Testing

/// Ids that a target which cannot be started anew has not met.
@Suite struct FreshNamesTests {
    private func renamed(_ lines: String, run: Int = 2) throws -> String {
        let script = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n\(lines)\n")
        let text = FreshNames(start: 36, run: run, contract: .current).applied(to: script)
            .description
        return String(text.dropFirst("bridgetap-fuzz 1 as app\n".count).dropLast())
    }

    @Test func `ids and what is nearly one get the same in front`() throws {
        let command = #"{"id":"q1-2z","type":"clipboard_read"}"#
        let renamed = try renamed(
            """
            connect a platform=ios&phone_id=p1
            enqueue q1 \(command)
            await q1 5s
            post results {"id":"Q1-2Z"}
            post results {"id":" q1-2z"}
            post results {"id":"q1-2z0"}
            text a {"id":"$(q1)","data":{"text":"q1-2z"}}
            get results/q1-2z
            get commands?platform=ios&phone_id=p1&limit=10
            text a {"id":"heartbeat"}
            """)
        #expect(
            renamed == """
                connect a platform=ios&phone_id=10-2-p1
                enqueue q1 {"id":"10-2-q1-2z","type":"clipboard_read"}
                await q1 5s
                post results {"id":"10-2-Q1-2Z"}
                post results {"id":" 10-2-q1-2z"}
                post results {"id":"10-2-q1-2z0"}
                text a {"id":"$(q1)","data":{"text":"10-2-q1-2z"}}
                get results/10-2-q1-2z
                get commands?platform=ios&phone_id=10-2-p1&limit=10
                text a {"id":"heartbeat"}
                """)
    }

    @Test func `no two runs have the same ids, and reserved ones stay`() throws {
        let line = #"enqueue q1 {"id":"q1","type":"clipboard_read"}"#
        #expect(try renamed(line, run: 1) != renamed(line, run: 2))
        let reserved = #"enqueue q1 {"id":"heartbeat","type":"clipboard_read"}"#
        #expect(try renamed(reserved) == reserved)
        // An empty phone stays none, and a short id may be any letter.
        let short = "connect a phone_id=&platform=ios"
        #expect(try renamed(short) == short)
    }
}

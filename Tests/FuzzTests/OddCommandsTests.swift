import Fuzz
import Testing

/// Whose fault it is what stands in a command.
@Suite struct OddCommandsTests {
    private func checks(_ lines: String) throws -> [String] {
        let script = try FuzzScript(parsing: "bridgetap-fuzz 1 as app\n\(lines)\n")
        return SimulatedTarget().outcome(of: script).observations.map(\.check)
    }

    @Test(arguments: [
        #"enqueue q1 {"id":"q1"}"#, #"enqueue q1 {"id":"q1","type":7}"#,
        #"enqueue q1 {"id":"q1","type":"calendar_create"}"#,
        #"enqueue q1 {"id":"q1","type":"contacts_query","timeout_ms":-1}"#,
        #"enqueue q1 {"id":"q1","type":"calendar_query","payload":{"from":"x","to":"y"}}"#,
        #"post commands {"command":{"id":"q1"}}"#,
    ])
    func `a board that passes on what a script asks for is not to blame`(_ line: String) throws {
        #expect(try checks("\(line)\nget commands?platform=ios&app_state=active") == [])
    }
}

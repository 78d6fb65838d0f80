import Fuzz
import Wire

/// How many cases of a session a second the fuzzer runs against the reference peers in virtual
/// time, on one core.
struct CaseBenchmarks {
    private static let scripts: [(name: String, text: String)] = [
        (
            "a board's command and its answer",
            """
            bridgetap-fuzz 1 as app
            connect a platform=ios
            text a {"id":"phone_environment","method":"phone_environment","data":{"platform":"ios"}}
            text a {"id":"heartbeat"}
            stimulate c1 {"id":"c1","type":"clipboard_read"}
            await c1 5s
            text a {"id":"$(c1)","data":{"text":"right"}}
            !C4 text a {"id":"$(c1)","data":{"text":"wrong"}}
            get status
            """
        ),
        (
            "a command through the queue",
            """
            bridgetap-fuzz 1 as app
            enqueue q {"id":"q","type":"clipboard_read"}
            get commands?platform=ios&app_state=active&limit=10
            !C18 post results {"id":"q","data":{"text":"one"}}
            post results {"id":"q","data":{"text":"two"}}
            get results/q
            """
        ),
        (
            "a heartbeat that runs out",
            """
            bridgetap-fuzz 1 as app
            connect a platform=ios
            text a {"id":"heartbeat"}
            !T9 stall a
            wait 80s
            get status
            """
        ),
        (
            "an app's command, twice",
            """
            bridgetap-fuzz 1 as board
            accept a 10s
            command c {"id":"c","type":"clipboard_write","payload":{"text":"x"}}
            await c 5s
            !C1 command c {"id":"c","type":"clipboard_write","payload":{"text":"x"}}
            await c 5s
            """
        ),
    ]

    /// Prints a JSON line for each kind of case.
    func run() throws {
        let target = SimulatedTarget()
        let clock = ContinuousClock()
        for (name, text) in Self.scripts {
            let script = try FuzzScript(parsing: text)
            var count = 0
            let start = clock.now
            while clock.now - start < .seconds(2) {
                for _ in 0..<100 { _ = target.outcome(of: script) }
                count += 100
            }
            let time = clock.now - start
            let seconds =
                Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
            print(
                #"{"name":"cases","what":"\#(name)","cases_per_second":\#(Double(count) / seconds)}"#
            )
        }
    }
}

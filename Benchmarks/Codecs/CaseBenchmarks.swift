import Capture
import Fuzz
import PhoneBridge
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

    /// So many of each kind are run; nil for as many as fit into two seconds.
    ///
    /// A fixed number is for counting instructions.
    var count: Int?

    /// Prints a JSON line for each kind of case: how many a second, and what one takes.
    ///
    /// That is in a processor's time. The last kinds are those of campaigns, their planning included.
    func run() throws {
        let target = SimulatedTarget()
        for (name, text) in Self.scripts {
            let script = try FuzzScript(parsing: text)
            measure(name) { _ in _ = target.outcome(of: script) }
        }
        for side in Side.allCases {
            let plan = CasePlan(as: side, seed: 1, profile: .reference)
            // Behind the pass that is gone through once.
            let first = plan.conformanceCount
            measure("of a plan, as the \(side)") { number in
                _ = target.outcome(of: plan.script(first + number))
            }
        }
    }

    private func measure(_ name: String, _ run: (Int) -> Void) {
        let clock = ContinuousClock()
        let batch = max(1, min(100, count ?? 100))
        var done = 0
        let start = clock.now
        let startOfWork = HourReplay.processorTime
        repeat {
            for number in done..<(done + batch) { run(number) }
            done += batch
        } while count.map { done < $0 } ?? (clock.now - start < .seconds(2))
        let time = clock.now - start
        let work = HourReplay.processorTime - startOfWork
        let seconds =
            Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
        print(
            #"{"name":"cases","what":"\#(name)","cases_per_second":\#(Double(done) / seconds),"#
                + #""cpu_us_per_case":\#(1e6 * work / Double(done))}"#)
    }
}

import BridgeProxy
import Capture
import Glibc
import PhoneBridge
import Replay
import Simulator
import Wire

/// Replays an hour of a session between simulated peers: a command every two seconds, heartbeats
/// and polls.
struct HourReplay {
    let folder: String

    /// Prints a JSON line: how long the hour took in each role, how much of a processor's time
    /// that was, and whether it was the same.
    func run() throws {
        let commands = (0..<1800).map { number in
            BoardScript.Entry(
                second: 1 + 2 * Double(number),
                step: .send(
                    BridgeCommand(
                        id: "h\(number)", type: "clipboard_write",
                        payload: ["text": .string("the text of number \(number)")])))
        }
        let hour = ExampleSession(
            name: "hour", summary: "An hour.", commands: BoardScript(commands), duration: 3602)
        let recorded = try Rehearsal.record(hour, tool: "bench").session
        let path = folder + "/hour.ndjson"
        let file = try SessionFile(path: path, overwrites: true)
        try file.append(recorded.span)
        try file.close()
        let clock = ContinuousClock()
        for isApp in [true, false] {
            var isSame = false
            let start = Self.processorTime
            let time = try clock.measure {
                var reader = try SessionReader(SessionFileSource(path: path))
                let session = try LoadedSession(
                    path, &reader, contract: .current, profile: .contract)
                let replay = ReferenceReplay()
                let result =
                    try isApp ? replay.asApp(session.recorded) : replay.asBoard(session.recorded)
                let verdict = try ReplayVerdict(
                    session, result, profile: .contract, contract: .current)
                isSame = !verdict.isDifferent && verdict.exercised == commands.count
            }
            let seconds =
                Double(time.components.attoseconds) / 1e18 + Double(time.components.seconds)
            print(
                #"{"name":"hour","as":"\#(isApp ? "app" : "board")","seconds":\#(seconds),"#
                    + #""cpu_seconds":\#(Self.processorTime - start),"same":\#(isSame)}"#)
        }
    }

    /// Seconds of a processor that the program has taken.
    static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

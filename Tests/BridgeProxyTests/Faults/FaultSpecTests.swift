import BridgeProxy
import Capture
import Testing

/// The language of `--fault`.
@Suite struct FaultSpecTests {
    private static let millisecond: Int64 = 1_000_000

    @Test func `terms have a value, a filter and a probability`() throws {
        let spec = try FaultSpec(
            parsing: "drop[result]:0.05,delay=6s[command type=calendar_create],"
                + #"delay=200ms..2s,throttle=9600bps,corrupt[text~"a,[b]"]:1,split"#)
        #expect(
            spec.terms.map(\.kind) == [
                .drop, .delay(6000 * Self.millisecond...6000 * Self.millisecond),
                .delay(200 * Self.millisecond...2000 * Self.millisecond),
                .throttle(bitsPerSecond: 9600), .corrupt, .split,
            ])
        #expect(spec.terms.map(\.probability) == [0.05, 1, 1, 1, 1, 1])
        #expect(
            spec.terms.map { $0.filter?.source } == [
                "result", "command type=calendar_create", nil, nil, #"text~"a,[b]""#, nil,
            ])
    }

    @Test(arguments: [
        ("", "is no fault"), ("fly", "`fly` is no fault; there are delay, drop"),
        ("drop,", "is no fault"), ("delay", "delay needs a time"),
        ("delay=5", "delay needs a time"), ("delay=2s..1s", "the first time is the longer one"),
        ("delay=2h", "delay needs a time"), ("stall=3601s", "at most an hour"),
        ("throttle=fast", "throttle needs a rate"), ("throttle=1bps", "from 100bps"),
        ("drop=1s", "drop takes no value"), ("drop[result", "a bracket or a quote is not closed"),
        ("drop[=]", "drop: the filter in brackets"), ("drop:0", "over 0 and at most 1"),
        ("drop:2", "over 0 and at most 1"), ("drop:x", "over 0 and at most 1"),
        ("drop[result]x", "`x` stands where nothing is expected"),
    ])
    func `what is wrong is told`(_ text: String, _ words: String) {
        do throws(FaultSpecError) {
            _ = try FaultSpec(parsing: text)
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
    }
}

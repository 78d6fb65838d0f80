package import Capture
import Wire

/// What holds the findings of one bug together (fuzzing plan, 3.4): the check, the side, the kinds
/// of messages in the minimised script, and what was seen without ids, times and numbers.
package struct Bucket: Sendable, Hashable {
    package var side: Side
    package var signal: Signal
    /// The kinds of messages in the minimised script; states of the phone are among them.
    package var kinds: [String]

    package init(side: Side, signal: Signal, kinds: [String]) {
        self.side = side
        self.signal = signal
        self.kinds = kinds
    }

    package init(_ script: FuzzScript, _ signal: Signal) {
        self.init(side: script.judged, signal: signal, kinds: StepKind.kinds(of: script))
    }

    /// The name of the bucket, such as `heartbeat-echo-id-3fa94c11`: the same on any machine.
    package var name: String {
        var hash = FNVHash()
        for part in [signal.check, side.rawValue, signal.text] + kinds {
            hash.combine(part)
            // A byte that no text has.
            hash.combine(0xff as UInt8)
        }
        return "\(signal.check)-\(hash.text.suffix(8))"
    }
}

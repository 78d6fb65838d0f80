import Capture
import Wire

/// A session file whose numbers are at the ends of their ranges.
let hostileFile: Bytes = {
    var random = SeededRandom(11)
    var bytes = Bytes()
    EventEncoder().encode(
        Event(time: .min, kind: .session(SampleSession.info)), into: &bytes)
    for _ in 0..<3000 {
        var event = random.event()
        if case .session = event.kind { continue }
        event.seq = random.pick([0, 1, 2, 3, .max, .max - 1])
        if event.conn != 0 { event.conn = random.pick([1, 2, .max]) }
        EventEncoder().encode(event, into: &bytes)
    }
    return bytes
}()

import Capture
import Wire

/// Any line is an event or has a fault at one of its bytes; an event writes to a line that reads
/// as the same event, and writes the same again.
func checkNDJSON(_ input: Bytes) throws(BrokenInvariant) {
    let read: EventDecoder.Line
    do throws(LineFault) {
        read = try EventDecoder().decode(input.span)
    } catch {
        _ = error.text
        try expect((0...input.count).contains(error.offset), "the fault is outside of the line")
        return
    }
    guard case .event(let event) = read else { return }
    try checkRoundTrip(event)
    var bare = event
    bare.bridge = []
    let short = try? EventDecoder(readsBridge: false).decode(input.span)
    try expect(short == .event(bare), "without the bridge it reads otherwise")
}

/// An event writes to a line that reads as the same event, and writes the same again.
func checkRoundTrip(_ event: Event) throws(BrokenInvariant) {
    var line = Bytes()
    EventEncoder().encode(event, into: &line)
    try expect(line.last == 0x0a, "a line has no line feed")
    try expect(!line.dropLast().contains(0x0a), "a line is two")
    let read: EventDecoder.Line
    do throws(LineFault) {
        read = try EventDecoder().decode(line.span)
    } catch {
        throw BrokenInvariant(
            "what was written is not read: \(error.text): \(String(decoding: line, as: UTF8.self))")
    }
    guard case .event(let again) = read else {
        throw BrokenInvariant("what was written is of an unknown kind")
    }
    try expect(
        again == event,
        "what was written reads otherwise: \(again) instead of \(event)")
    var secondLine = Bytes()
    EventEncoder().encode(again, into: &secondLine)
    try expectEqual(secondLine, line, "the line written again")
}

import Capture
import PhoneBridge
import Report
import Wire

/// Any file, packed or not, is read to its end, to the same events and remarks however its bytes
/// arrive, and whatever it says can be understood, shown and turned back into bytes.
func checkSession(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)

    var first: SessionReading?
    for (name, cuts) in Cuts.all(seed: seed) {
        let reading = try SessionReading(bytes, cuts, readsBridge: options & 1 == 0)
        if let first {
            try expectEqual(reading.items, first.items, "\(name), the items")
            try expect(
                reading.error == first.error,
                "\(name): \(reading.error?.text ?? "no error") instead of "
                    + (first.error?.text ?? "no error"))
        } else {
            first = reading
        }
    }
    try show(first?.items ?? [])
}

/// Bytes that arrive as they are cut.
final class CutSource: ByteSource {
    let name = "fuzzed"
    private var parts: ArraySlice<Bytes>

    init(_ bytes: Bytes, _ cuts: Cuts) {
        var cuts = cuts
        parts = cuts.parts(of: bytes)[...]
    }

    func read(into bytes: inout [UInt8], maximum: Int) {
        guard let part = parts.popFirst() else { return }
        bytes += part.prefix(maximum)
        let rest = Bytes(part.dropFirst(maximum))
        if !rest.isEmpty { parts = [rest] + parts }
    }
}

/// All that a reader gives of a file.
private struct SessionReading {
    var items: [SessionReader.Item] = []
    var error: SessionError?

    init(_ bytes: Bytes, _ cuts: Cuts, readsBridge: Bool) throws(BrokenInvariant) {
        var reader = SessionReader(CutSource(bytes, cuts), readsBridge: readsBridge)
        do throws(SessionError) {
            while let item = try reader.next() {
                items.append(item)
                // A few bytes can be unpacked to very many empty lines.
                if items.count > 20_000 { break }
            }
        } catch {
            self.error = error
        }
    }
}

/// Does what `show` does with a session; events need not fit to one another.
private func show(_ items: [SessionReader.Item]) throws(BrokenInvariant) {
    var meaning = MeaningReader()
    var encoder = ConnectionEncoder()
    var timeline = Timeline(maximumFold: 1_000_000_000)
    let raw = RawTimeline()
    let printer = TimelineText(isColoured: true, width: 100)
    var lines: [TimelineLine] = []
    for item in items.prefix(2_000) {
        switch item {
        case .remark(let remark):
            _ = remark.hint
            lines += timeline.remark(remark.text)
        case .event(var event):
            try checkRoundTrip(event)
            meaning.annotate(&event)
            try checkRoundTrip(event)
            var bytes = Bytes()
            _ = encoder.encode(event, into: &bytes)
            lines += timeline.receive(event)
            lines.append(raw.line(event))
        }
    }
    lines += timeline.finish()
    for line in lines { _ = printer.text(line) }
}

import Capture
import Wire

/// Any text that claims to be a HAR is read to an end, to the same session however its bytes
/// arrive and wherever it is put aside; the session is whole, and can be written as a HAR again.
func checkHAR(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)

    var first: HARReading?
    for (name, cuts) in Cuts.all(seed: seed) {
        // Sorted in memory, or all of it through the temporary files.
        let reading = HARReading(bytes, cuts, maximumMemory: first == nil ? 1 << 20 : 0)
        if let first {
            try expectEqual(reading.items, first.items, "\(name), the items")
            try expect(reading.error == first.error, "\(name): another error")
        } else {
            first = reading
        }
        if options & 1 == 0 { break }
    }
    guard let first, first.error == nil else { return }
    try checkWhole(first.items)
    try checkWritten(first.items)
}

/// All that a reader gives of a HAR.
private struct HARReading {
    var items: [SessionFileReader.Item] = []
    var error: SessionError?

    init(_ bytes: Bytes, _ cuts: Cuts, maximumMemory: Int) {
        let reader = HARSessionReader(CutSource(bytes, cuts), maximumMemory: maximumMemory)
        do throws(SessionError) {
            while let item = try reader.next() { items.append(item) }
        } catch {
            self.error = error
        }
    }
}

/// A session made of a HAR has no errors: its numbers, times and bytes fit together.
private func checkWhole(_ items: [SessionFileReader.Item]) throws(BrokenInvariant) {
    var verifier = SessionVerifier()
    var line = 0
    for item in items {
        line += 1
        if case .event(let event) = item { try checkRoundTrip(event) }
        verifier.receive(item, at: SessionPosition(line: line, offset: 0))
    }
    verifier.finish(at: SessionPosition(line: line, offset: 0))
    let error = verifier.findings.first { $0.severity == .error }
    try expect(error == nil, "line \(error?.position.line ?? 0): \(error?.text ?? "")")
}

/// Whatever a HAR said, writing the session gives JSON that is read again.
private func checkWritten(_ items: [SessionFileReader.Item]) throws(BrokenInvariant) {
    let output = CollectedOutput()
    guard
        let writer = try? HARSessionWriter(
            session: SessionInfo(id: "1", startedAt: "", tool: "t", source: "har"),
            startedAt: 0, creator: "t 1",
            openPart: { (_) throws(OutputError) -> any ByteOutput in output })
    else { throw BrokenInvariant("no writer") }
    for item in items {
        if case .event(let event) = item { writer.receive(event) }
    }
    let status = writer.close(now: 0)
    try expect(status.pausedBy == nil, "the writer stopped")
    do { _ = try JSON(parsing: output.bytes) } catch {
        throw BrokenInvariant("what is written is no JSON: \(error)")
    }
    let back = HARReading(output.bytes, .whole, maximumMemory: 1 << 20)
    try expect(back.error == nil, "what is written is not read: \(back.error?.text ?? "")")
}

/// A file in memory.
private final class CollectedOutput: ByteOutput {
    let path = "memory"
    private(set) var bytes = Bytes()
    var size: UInt64 { UInt64(bytes.count) }

    func append(_ more: borrowing Span<UInt8>) {
        for index in more.indices { bytes.append(more[index]) }
    }

    func truncate(to size: UInt64) {
        bytes.removeLast(bytes.count - Int(clamping: size))
    }

    func close() {}
}

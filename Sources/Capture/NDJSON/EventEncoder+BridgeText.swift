import Wire

/// The end of the line that was written last: its `bridge`.
///
/// Most messages of a session mean one of a few things, whose array is the same one each time
/// (`MeaningReader`): its text is copied instead of made again.
struct BridgeText {
    /// Held, so that no other array can come to stand in its place.
    private var values: [JSON] = []
    private var text = Bytes()

    /// What stands behind the fields of an event, where it is at hand.
    func text(of bridge: [JSON]) -> Bytes? {
        if bridge.isEmpty { return Self.emptyEnd }
        return isLast(bridge) ? text : nil
    }

    private static let emptyEnd = Bytes("}\n".utf8)

    /// Appends what stands behind the fields of an event.
    mutating func appendEnd(_ bridge: [JSON], to line: inout Bytes) {
        if !bridge.isEmpty, isLast(bridge) {
            line += text
            return
        }
        let start = line.count
        EventEncoder.encodeEnd(bridge, into: &line)
        // Without a meaning there is no array to tell by.
        guard !bridge.isEmpty else { return }
        values = bridge
        text.removeAll(keepingCapacity: true)
        text.append(copying: line.span.extracting(start..<line.count))
    }

    /// Whether this is the very array that came last; an array that is shared never changes.
    private func isLast(_ bridge: [JSON]) -> Bool {
        unsafe values.withUnsafeBufferPointer { last in
            unsafe bridge.withUnsafeBufferPointer {
                unsafe $0.baseAddress == last.baseAddress && $0.count == last.count
            }
        }
    }
}

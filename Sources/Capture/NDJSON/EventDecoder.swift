import Wire

/// Reads lines of a session file (capture format, version 1).
///
/// Fields that it does not know are stepped over, and fields that are null count as absent.
/// Everything else about a line has to be right. Costs about a nanosecond for two bytes.
package struct EventDecoder: Sendable {
    /// The newest version that is understood.
    package static let supportedVersion = 1

    /// Whether `Event.bridge` is read, or left empty, which is faster.
    package var readsBridge: Bool

    package init(readsBridge: Bool = true) {
        self.readsBridge = readsBridge
    }

    /// What a line holds.
    package enum Line: Sendable, Equatable {
        case event(Event)
        /// A kind that a later version knows.
        case unknown(kind: String, seq: Int?)
    }

    /// Decodes one line; a usual frame goes straight into `batch`, and nil is given back for it.
    func decode(
        _ line: Span<UInt8>, into batch: inout EventBatch
    ) throws(LineFault) -> Line? {
        if batch.gathersFrames {
            let isTaken = unsafe line.bytes.withUnsafeBytes { bytes in
                let scanner = unsafe LineScanner(bytes)
                guard scanner.isASCII || isValidUTF8(line) else { return false }
                return batch.adopt { payloads, meanings in
                    UsualFrame.read(
                        scanner, readsBridge: readsBridge, payload: &payloads, bridge: &meanings)
                }
            }
            if isTaken { return nil }
        }
        return try decode(line)
    }

    /// Decodes one line, with or without its line feed.
    package func decode(_ line: Span<UInt8>) throws(LineFault) -> Line {
        return try unsafe line.bytes.withUnsafeBytes { bytes throws(LineFault) in
            let scanner = unsafe LineScanner(bytes)
            if !scanner.isASCII, let offset = offsetOfInvalidUTF8(line) {
                throw LineFault(offset: offset, reason: .notUTF8)
            }
            var decoder = LineDecoder(scanner, readsBridge: readsBridge)
            return try decoder.decode()
        }
    }
}

package import Wire

/// A session in memory, of at most 64 MiB; it is cut there.
package final class SessionMemory: ByteOutput {
    /// What was written so far.
    package private(set) var bytes = Bytes()
    private static let maximum = 64 << 20

    package init() {}

    package var path: String { "session" }
    package var size: UInt64 { UInt64(bytes.count) }

    package func append(_ more: borrowing Span<UInt8>) throws(OutputError) {
        guard bytes.count + more.count <= Self.maximum else {
            throw OutputError(errno: 28, call: "append", path: path)
        }
        bytes.append(copying: more)
    }

    package func truncate(to size: UInt64) throws(OutputError) {
        bytes.removeLast(max(0, bytes.count - Int(clamping: size)))
    }

    package func close() throws(OutputError) {}
}

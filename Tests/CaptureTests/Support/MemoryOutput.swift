import Capture
import Wire

/// A file in memory on a disk that may be full or failing.
final class MemoryOutput: ByteOutput {
    let path: String
    private(set) var bytes = Bytes()
    /// How many bytes the disk can hold; what does not fit is not taken.
    var room = Int.max
    /// What the disk says when it is full.
    var errno: Int32 = 28
    var refusesToTruncate = false
    private(set) var isClosed = false
    private(set) var appends = 0

    init(_ path: String = "lab.ndjson") {
        self.path = path
    }

    var size: UInt64 { UInt64(bytes.count) }

    func append(_ more: borrowing Span<UInt8>) throws(OutputError) {
        appends += 1
        let count = min(more.count, max(0, room - bytes.count))
        for index in 0..<count { bytes.append(more[index]) }
        guard count == more.count else {
            throw OutputError(errno: errno, call: "write", path: path, written: count)
        }
    }

    func truncate(to size: UInt64) throws(OutputError) {
        guard !refusesToTruncate else {
            throw OutputError(errno: 5, call: "ftruncate", path: path)
        }
        if size < self.size { bytes.removeLast(bytes.count - Int(size)) }
    }

    func close() {
        isClosed = true
    }
}

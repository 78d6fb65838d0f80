import Wire

/// Bytes that go in at one end and come out at the other.
struct ByteQueue {
    private var storage: Bytes = []
    private var head = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { count == 0 }

    /// Adds bytes at the end.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        storage.append(contentsOf: bytes)
    }

    /// Takes out up to `limit` bytes from the front.
    mutating func take(_ limit: Int) -> Bytes {
        let length = min(count, max(0, limit))
        let bytes = Bytes(storage[head..<head + length])
        head += length
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= 64 << 10)
            head = 0
        } else if head > 64 << 10 {
            storage.removeFirst(head)
            head = 0
        }
        return bytes
    }

    /// Drops everything.
    mutating func removeAll() {
        storage = []
        head = 0
    }
}

import Wire

/// The bytes of a stream that wait for the system, in order.
///
/// A large chunk is kept as it is. Small pieces are copied together: a chunk of a few bytes would
/// keep a slab of 64 KiB alive for as long as a peer cares not to read.
struct WriteQueue {
    /// Chunks of at least this size are kept instead of copied.
    private static let keptSize = 16 << 10
    /// Copied pieces are put together up to this size.
    private static let gatheredSize = 64 << 10

    private var chunks: [ReadChunk] = []
    private var head = 0
    /// Copied pieces behind all the chunks.
    private var gathered: Bytes = []
    /// How many bytes wait.
    private(set) var count = 0

    /// Adds a chunk at the end.
    mutating func append(_ chunk: ReadChunk) {
        if chunk.count >= Self.keptSize {
            seal()
            chunks.append(chunk)
        } else {
            if gathered.count + chunk.count > Self.gatheredSize { seal() }
            unsafe chunk.withMemory { memory in
                unsafe gathered.append(
                    contentsOf: UnsafeRawBufferPointer(start: memory, count: chunk.count))
            }
        }
        count += chunk.count
    }

    /// Adds the bytes from `offset` on at the end.
    mutating func append(_ bytes: Bytes, from offset: Int) {
        let rest = bytes[offset...]
        if gathered.count + rest.count > Self.gatheredSize { seal() }
        gathered.append(contentsOf: rest)
        count += rest.count
    }

    private mutating func seal() {
        guard !gathered.isEmpty else { return }
        chunks.append(ReadChunk(gathered))
        gathered.removeAll(keepingCapacity: true)
    }

    /// The next bytes to send; nil when the queue is empty.
    var first: ReadChunk? {
        mutating get {
            if head == chunks.count { seal() }
            return head < chunks.count ? chunks[head] : nil
        }
    }

    /// Takes out `sent` bytes of the first chunk.
    mutating func removeFirst(_ sent: Int) {
        guard sent > 0, head < chunks.count else { return }
        count -= sent
        if sent < chunks[head].count {
            chunks[head] = chunks[head].slice(from: sent)
            return
        }
        head += 1
        if head == chunks.count {
            chunks.removeAll(keepingCapacity: chunks.count < 64)
            head = 0
        } else if head >= 32 && head > chunks.count / 2 {
            chunks.removeFirst(head)
            head = 0
        }
    }
}

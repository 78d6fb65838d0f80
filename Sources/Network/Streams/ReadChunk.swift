package import Wire

/// Bytes that were read: a safe, counted reference into a slab that several reads share.
///
/// Copying it copies no bytes. A chunk that is kept keeps its whole slab (up to 64 KiB), so what
/// stays for long should be taken out with `bytes`.
@safe
package struct ReadChunk {
    private let slab: Slab
    private let start: Int
    /// How many bytes there are.
    package let count: Int

    init(slab: Slab, start: Int, count: Int) {
        precondition(start >= 0 && count >= 0 && count <= slab.capacity - start)
        self.slab = slab
        self.start = start
        self.count = count
    }

    /// Makes a chunk that holds a copy of `bytes`.
    package init(_ bytes: Bytes) {
        let slab = Slab(capacity: bytes.count)
        unsafe bytes.withUnsafeBytes { source in
            if let base = source.baseAddress {
                unsafe slab.base.copyMemory(from: base, byteCount: source.count)
            }
        }
        self.init(slab: slab, start: 0, count: bytes.count)
    }

    /// Whether there are no bytes.
    package var isEmpty: Bool { count == 0 }

    /// Lends the bytes to `body`.
    package func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let buffer = unsafe UnsafeBufferPointer(
            start: slab.base.advanced(by: start).assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe Span(_unsafeElements: buffer))
    }

    /// A copy of the bytes.
    package var bytes: Bytes {
        unsafe Bytes(UnsafeRawBufferPointer(start: slab.base.advanced(by: start), count: count))
    }

    /// The part of this chunk from `offset` on, of at most `length` bytes; it shares the slab.
    package func slice(from offset: Int, length: Int = .max) -> ReadChunk {
        let offset = min(max(0, offset), count)
        return ReadChunk(
            slab: slab, start: start + offset, count: min(max(0, length), count - offset))
    }

    /// Lends the memory to a system call.
    func withMemory<Result>(_ body: (UnsafeRawPointer) -> Result) -> Result {
        unsafe body(UnsafeRawPointer(slab.base.advanced(by: start)))
    }
}

/// A block of memory that chunks share; it goes when the last of them has gone.
///
/// Memory behind the filled part is written by the driver, the filled part never again: that is
/// why chunks of one slab may be read while the next read fills it.
@safe
final class Slab {
    let capacity: Int
    let base: UnsafeMutableRawPointer

    init(capacity: Int) {
        self.capacity = capacity
        unsafe base = .allocate(byteCount: max(1, capacity), alignment: 16)
    }

    deinit {
        unsafe base.deallocate()
    }
}

/// Gives out the slab that the next read fills.
struct SlabPool {
    /// The size of a slab, and so the most that one read brings.
    static let slabSize = 64 << 10
    /// A slab with less room than this is left to its chunks: a short read costs a call more.
    private static let minimumRoom = 8 << 10

    private var slab = Slab(capacity: slabSize)
    private var used = 0

    /// The memory that the next read may fill, and how much of it there is.
    mutating func room() -> (memory: UnsafeMutableRawPointer, count: Int) {
        if used > 0 && isKnownUniquelyReferenced(&slab) {
            // All chunks have gone: the same, still warm memory serves again.
            used = 0
        }
        if slab.capacity - used < Self.minimumRoom {
            slab = Slab(capacity: Self.slabSize)
            used = 0
        }
        return unsafe (slab.base.advanced(by: used), slab.capacity - used)
    }

    /// Makes a chunk of the first `count` bytes of the room given out last.
    mutating func take(_ count: Int) -> ReadChunk {
        let chunk = ReadChunk(slab: slab, start: used, count: count)
        // The next chunk begins on a word boundary.
        used = min(slab.capacity, (used + count + 15) & ~15)
        return chunk
    }
}

import CZlib
import Wire

/// Packs a stream of batches as gzip members, each batch readable once it is written (RFC 1952).
///
/// A class, since zlib refuses a stream that was moved. At most one batch's output is held.
@safe
final class GzipCompressor: BatchCompressor {
    private let stream: UnsafeMutablePointer<z_stream>
    private var crc: UInt32 = 0
    private var size: UInt32 = 0
    private(set) var memberInput = 0

    /// Makes a compressor; nil without memory.
    ///
    /// Level 1 costs a third of zlib's default and packs sessions almost as small, since every
    /// turn of the loop ends a block anyway.
    init?(level: Int32 = 1) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 15 window bits, and 16 for the gzip wrapper (zlib.h, deflateInit2).
        guard unsafe czlib_deflate_init(stream, level, 31, 8) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    func compress(_ batch: borrowing Span<UInt8>, endsMember: Bool, into output: inout Bytes) {
        memberInput += batch.count
        unsafe batch.withUnsafeBufferPointer { input in
            // zlib only reads from next_in.
            unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            unsafe stream.pointee.avail_in = UInt32(clamping: input.count)
            var isDone = false
            while !isDone {
                output.append(addingCapacity: 64 << 10) { room in
                    unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                        let free = UInt32(clamping: buffer.count - initialized)
                        unsafe stream.pointee.next_out = buffer.baseAddress?.advanced(
                            by: initialized)
                        unsafe stream.pointee.avail_out = free
                        let result = unsafe deflate(stream, endsMember ? Z_FINISH : Z_SYNC_FLUSH)
                        let left = unsafe stream.pointee.avail_out
                        initialized += Int(free - left)
                        isDone = endsMember ? result != Z_OK : left > 0 || result != Z_OK
                    }
                }
            }
            unsafe stream.pointee.next_in = nil
            unsafe stream.pointee.avail_in = 0
        }
        if endsMember { reset() }
    }

    func commit() {
        unsafe crc = UInt32(truncatingIfNeeded: stream.pointee.adler)
        unsafe size = UInt32(truncatingIfNeeded: stream.pointee.total_in)
    }

    func reset() {
        unsafe deflateReset(stream)
        memberInput = 0
    }

    /// An empty last block, then the checksum and size of what was committed (RFC 1951 §3.2.6,
    /// RFC 1952 §2.3.1).
    var memberEnd: Bytes {
        var end: Bytes = [0x03, 0x00]
        for value in [crc, size] {
            for shift in stride(from: UInt32(0), through: 24, by: 8) {
                end.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
        return end
    }
}

import CZstd
import Wire

/// Packs a stream of batches as Zstandard frames, each batch readable once it is written
/// (RFC 8878).
@safe
final class ZstdCompressor: BatchCompressor {
    private let context: OpaquePointer
    private(set) var memberInput = 0

    /// Makes a compressor; nil without memory.
    ///
    /// The frames carry no checksum: a frame that the disk cut off could not be closed with one.
    init?(level: Int32 = 1) {
        guard let context = unsafe ZSTD_createCCtx() else { return nil }
        unsafe self.context = unsafe context
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)
        unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0)
    }

    deinit {
        unsafe ZSTD_freeCCtx(context)
    }

    func compress(_ batch: borrowing Span<UInt8>, endsMember: Bool, into output: inout Bytes) {
        memberInput += batch.count
        unsafe batch.withUnsafeBufferPointer { input in
            var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
            var isDone = false
            while !isDone {
                output.append(addingCapacity: 64 << 10) { room in
                    unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                        var target = unsafe ZSTD_outBuffer(
                            dst: buffer.baseAddress?.advanced(by: initialized),
                            size: buffer.count - initialized, pos: 0)
                        let left = unsafe ZSTD_compressStream2(
                            context, &target, &source, endsMember ? ZSTD_e_end : ZSTD_e_flush)
                        unsafe initialized += target.pos
                        isDone = left == 0 || ZSTD_isError(left) != 0
                    }
                }
            }
        }
        if endsMember { memberInput = 0 }
    }

    func commit() {}

    func reset() {
        unsafe ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
        memberInput = 0
    }

    /// An empty last raw block (RFC 8878 §3.1.1.2).
    var memberEnd: Bytes { [0x01, 0x00, 0x00] }
}

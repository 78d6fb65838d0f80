import CZstd
import Wire

/// Unpacks Zstandard frames, one behind the other (RFC 8878).
@safe
final class ZstdDecompressor: BatchDecompressor {
    private let context: OpaquePointer
    private(set) var isWithinMember = false
    /// Bytes to the end of the header or block under way.
    ///
    /// A call that fails does not say what it wrote. So a call gets one header or block at most:
    /// what stands before the damage is never lost, and the same however the bytes arrive.
    private var wanted = ZstdDecompressor.frameStart

    /// The magic number and a byte: less than a whole frame header (RFC 8878 §3.1.1).
    private static let frameStart = 5
    /// Bytes of a block header, which zstd's own wish has behind each block (§3.1.1.2).
    private static let blockHeader = 3

    init?() {
        guard let context = unsafe ZSTD_createDCtx() else { return nil }
        unsafe self.context = unsafe context
    }

    deinit {
        unsafe ZSTD_freeDCtx(context)
    }

    func expand(
        _ input: borrowing Span<UInt8>, at position: inout Int, into output: inout [UInt8],
        maximum: Int
    ) -> String? {
        var room = maximum
        while position < input.count || isWithinMember, room > 0 {
            var left = 0
            var produced = 0
            var consumed = 0
            unsafe input.withUnsafeBufferPointer { buffer in
                var source = unsafe ZSTD_inBuffer(
                    src: buffer.baseAddress, size: min(buffer.count, position + wanted),
                    pos: position)
                output.append(addingCapacity: room) { target in
                    unsafe target.withUnsafeMutableBufferPointer { buffer, initialized in
                        var sink = unsafe ZSTD_outBuffer(
                            dst: buffer.baseAddress?.advanced(by: initialized),
                            size: min(room, buffer.count - initialized), pos: 0)
                        left = unsafe ZSTD_decompressStream(context, &sink, &source)
                        produced = unsafe sink.pos
                        initialized += produced
                    }
                }
                consumed = unsafe source.pos - position
            }
            position += consumed
            room -= produced
            guard ZSTD_isError(left) == 0 else { return "the Zstandard data is damaged" }
            wanted = left > Self.blockHeader ? left - Self.blockHeader : max(1, left)
            if left == 0, consumed > 0 || produced > 0 {
                isWithinMember = false
                wanted = Self.frameStart
            } else if consumed == 0, produced == 0 {
                return nil
            } else {
                isWithinMember = true
            }
        }
        return nil
    }
}

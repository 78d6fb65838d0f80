import CZlib
import CZstd
import Wire

/// Unpacks a stream of members (gzip) or frames (Zstandard), a bounded part a call.
protocol Expander: AnyObject {
    /// Whether the input so far ends within a member or frame.
    var isWithinMember: Bool { get }

    /// Unpacks from `position` on, until the input is used up or `maximum` bytes were appended.
    ///
    /// Gives back why the input is not what it should be, if so; then nothing more comes.
    func expand(
        _ input: borrowing Span<UInt8>, at position: inout Int, into output: inout [UInt8],
        maximum: Int
    ) -> String?
}

/// Unpacks gzip members, one behind the other (RFC 1952).
@safe
final class GzipExpander: Expander {
    private let stream: UnsafeMutablePointer<z_stream>
    private(set) var isWithinMember = false

    init?() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 15 window bits, and 16 for the gzip wrapper (zlib.h, inflateInit2).
        guard unsafe czlib_inflate_init(stream, 31) == Z_OK else {
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    func expand(
        _ input: borrowing Span<UInt8>, at position: inout Int, into output: inout [UInt8],
        maximum: Int
    ) -> String? {
        var room = maximum
        while position < input.count || isWithinMember, room > 0 {
            if !isWithinMember {
                unsafe inflateReset(stream)
                isWithinMember = true
            }
            var result = Z_OK
            var produced = 0
            var consumed = 0
            unsafe input.withUnsafeBufferPointer { source in
                let left = UInt32(clamping: source.count - position)
                // zlib only reads from next_in.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: source.baseAddress?.advanced(by: position))
                unsafe stream.pointee.avail_in = left
                output.append(addingCapacity: room) { target in
                    unsafe target.withUnsafeMutableBufferPointer { buffer, initialized in
                        let free = UInt32(clamping: min(room, buffer.count - initialized))
                        unsafe stream.pointee.next_out = buffer.baseAddress?.advanced(
                            by: initialized)
                        unsafe stream.pointee.avail_out = free
                        result = unsafe inflate(stream, Z_NO_FLUSH)
                        produced = unsafe Int(free - stream.pointee.avail_out)
                        initialized += produced
                    }
                }
                consumed = unsafe Int(left - stream.pointee.avail_in)
                unsafe stream.pointee.next_in = nil
                unsafe stream.pointee.avail_in = 0
                unsafe stream.pointee.next_out = nil
                unsafe stream.pointee.avail_out = 0
            }
            position += consumed
            room -= produced
            switch result {
            case Z_STREAM_END: isWithinMember = false
            case Z_OK, Z_BUF_ERROR: if consumed == 0, produced == 0 { return nil }
            default: return "the gzip data is damaged"
            }
        }
        return nil
    }
}

/// Unpacks Zstandard frames, one behind the other (RFC 8878).
@safe
final class ZstdExpander: Expander {
    private let context: OpaquePointer
    private(set) var isWithinMember = false

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
                    src: buffer.baseAddress, size: buffer.count, pos: position)
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
            if left == 0, consumed > 0 || produced > 0 {
                isWithinMember = false
            } else if consumed == 0, produced == 0 {
                return nil
            } else {
                isWithinMember = true
            }
        }
        return nil
    }
}

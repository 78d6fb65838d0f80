import CZlib
import Wire

/// Unpacks gzip members, one behind the other (RFC 1952).
@safe
final class GzipDecompressor: BatchDecompressor {
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

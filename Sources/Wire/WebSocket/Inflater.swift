internal import CZlib

/// Decompresses the messages of one direction (RFC 7692 §7.2.2), part by part.
///
/// A class, because zlib refuses a stream that has moved. Each call gives a bounded number of
/// bytes, so that a small message that grows without end costs no memory. Uses zlib's `inflate`
/// on raw deflate data. It is a single stream of work: use it from one place at a time.
@safe package final class Inflater {
    /// How far a call came.
    package enum Outcome: Equatable, Sendable {
        /// All the input was used, and what it gives was written.
        case inputUsed
        /// The limit on output was met; there may be more: call again.
        case outputFull
        /// The data is not deflate data; `reset()` makes the inflater usable again.
        case corrupt(why: String)
    }

    /// What a sender takes off the end of a message (RFC 7692 §7.2.1).
    private static let flushTail: Bytes = [0x00, 0x00, 0xff, 0xff]
    /// The most bytes that one call of zlib is given room for.
    private static let maximumStep = 1 << 16

    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether a message may refer to the ones before it.
    private let contextTakeover: Bool
    /// How much of the flush tail was fed for the message that is ending.
    private var tailPosition = 0
    /// A block marked as final has just ended, and nothing came behind it.
    private var stoodAtFinalBlock = false

    /// Makes an inflater; nil where there is no memory or the window is not of 8 to 15 bits.
    ///
    /// A larger window than the sender's reads its data as well.
    package init?(windowBits: Int = 15, contextTakeover: Bool = true) {
        guard (8...15).contains(windowBits) else { return nil }
        self.contextTakeover = contextTakeover
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe czlib_inflate_init(stream, -Int32(windowBits)) == Z_OK else {
            unsafe stream.deinitialize(count: 1)
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deinitialize(count: 1)
        unsafe stream.deallocate()
    }

    /// Forgets the message under way and all earlier ones.
    package func reset() {
        unsafe inflateReset(stream)
        tailPosition = 0
        stoodAtFinalBlock = false
    }

    /// Decompresses a part of a message's payload from `position` on.
    ///
    /// Appends at most `limit` bytes to `output` and moves `position` behind the input used.
    package func inflate(
        _ input: Span<UInt8>, at position: inout Int, into output: inout Bytes, limit: Int
    ) -> Outcome {
        var left = max(limit, 0)
        while true {
            guard left > 0 else { return .outputFull }
            let available = min(input.count - position, 1 << 30)
            if available > 0 { stoodAtFinalBlock = false }
            let room = min(left, max(256, min(available * 4, Self.maximumStep)))
            let result = step(
                input.extracting(position..<position + available), into: &output, room: room)
            let used = available - Int(unsafe stream.pointee.avail_in)
            let made = room - Int(unsafe stream.pointee.avail_out)
            position += used
            left -= made
            switch result {
            case Z_OK:
                if made < room && position == input.count { return .inputUsed }
            case Z_BUF_ERROR:
                return position == input.count
                    ? .inputUsed : .corrupt(why: "the decompressor makes no progress")
            case Z_STREAM_END:
                guard continueBehindFinalBlock() else {
                    return .corrupt(why: "out of memory")
                }
                stoodAtFinalBlock = true
                if position == input.count { return .inputUsed }
            case Z_MEM_ERROR:
                return .corrupt(why: "out of memory")
            default:
                return .corrupt(why: message)
            }
        }
    }

    /// Ends the message: gives what is left of it and checks that its data is complete.
    ///
    /// Call it again after `.outputFull`. Without context takeover the next message then
    /// starts afresh. A message may also end with a final block (RFC 7692 §7.2.3.5).
    package func endMessage(into output: inout Bytes, limit: Int) -> Outcome {
        if !(stoodAtFinalBlock && tailPosition == 0) {
            let outcome = inflate(
                Self.flushTail.span, at: &tailPosition, into: &output, limit: limit)
            guard outcome == .inputUsed else { return outcome }
            // 128: between two blocks; the low bits: bits of the last byte not yet used.
            guard unsafe stream.pointee.data_type == 128 else {
                return .corrupt(why: "the compressed data ends within a block")
            }
        }
        tailPosition = 0
        stoodAtFinalBlock = false
        if !contextTakeover { reset() }
        return .inputUsed
    }

    /// Calls zlib once: appends at most `room` bytes to `output`.
    private func step(_ input: Span<UInt8>, into output: inout Bytes, room: Int) -> Int32 {
        var result = Z_OK
        unsafe input.withUnsafeBufferPointer { source in
            output.append(addingCapacity: room) { span in
                unsafe span.withUnsafeMutableBufferPointer { target, initialized in
                    // zlib does not write to its input, though its type allows it.
                    unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(
                        mutating: source.baseAddress)
                    unsafe stream.pointee.avail_in = UInt32(source.count)
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(room)
                    result = unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
                    initialized = room - Int(unsafe stream.pointee.avail_out)
                    unsafe stream.pointee.next_in = nil
                    unsafe stream.pointee.next_out = nil
                }
            }
        }
        return result
    }

    /// Starts a new deflate stream that can refer to the data before it.
    private func continueBehindFinalBlock() -> Bool {
        var window = Bytes(repeating: 0, count: 1 << 15)
        var count: UInt32 = 0
        // Both keep what is left of the input and of the room for output out of it.
        let availableIn = unsafe stream.pointee.avail_in
        let availableOut = unsafe stream.pointee.avail_out
        let taken = unsafe window.withUnsafeMutableBufferPointer { buffer in
            unsafe inflateGetDictionary(stream, buffer.baseAddress, &count)
        }
        guard taken == Z_OK, unsafe inflateReset(stream) == Z_OK else { return false }
        unsafe stream.pointee.avail_in = availableIn
        unsafe stream.pointee.avail_out = availableOut
        guard count > 0 else { return true }
        return unsafe window.withUnsafeBufferPointer { buffer in
            unsafe inflateSetDictionary(stream, buffer.baseAddress, count) == Z_OK
        }
    }

    /// zlib's own words for what is wrong.
    private var message: String {
        guard let text = unsafe stream.pointee.msg else { return "not deflate data" }
        return unsafe String(cString: text)
    }
}

internal import CZlib

/// Compresses the messages of one direction (RFC 7692 §7.2.1).
///
/// A class, because zlib refuses a stream that has moved. Uses zlib's `deflate` for raw data.
/// It is a single stream of work: use it from one place at a time.
@safe package final class Deflater {
    /// What is taken off the end of a message.
    private static let flushTail: Bytes = [0x00, 0x00, 0xff, 0xff]

    private let stream: UnsafeMutablePointer<z_stream>
    /// Whether a message may refer to the ones before it.
    private let contextTakeover: Bool
    /// Whether the message under way has any content yet.
    private var hasContent = false

    /// Makes a deflater; nil without memory, or where the window is not of 9 to 15 bits.
    ///
    /// zlib cannot write raw data for a window of 8 bits. `level` is zlib's, 0 to 9, and -1
    /// for its default; a level of 0 stores.
    package init?(windowBits: Int = 15, contextTakeover: Bool = true, level: Int = -1) {
        guard (9...15).contains(windowBits), (-1...9).contains(level) else { return nil }
        self.contextTakeover = contextTakeover
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let memoryLevel: Int32 = 8  // zlib's default
        let result = unsafe czlib_deflate_init(
            stream, Int32(level), -Int32(windowBits), memoryLevel)
        guard result == Z_OK else {
            unsafe stream.deinitialize(count: 1)
            unsafe stream.deallocate()
            return nil
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deinitialize(count: 1)
        unsafe stream.deallocate()
    }

    /// Compresses a whole message into the payload of its frames.
    package func compress(_ message: Span<UInt8>) -> Bytes {
        var output = Bytes()
        output.reserveCapacity(message.count / 2 + 64)
        compress(message, isLast: true, into: &output)
        return output
    }

    /// Compresses a part of a message and appends what comes of it.
    ///
    /// zlib holds back some output until the last part. What is appended is never much longer
    /// than what was given: at most five bytes for each 16 KiB, and a few.
    package func compress(_ part: Span<UInt8>, isLast: Bool, into output: inout Bytes) {
        if !part.isEmpty { hasContent = true }
        guard hasContent else {
            // An empty message is an empty block (RFC 7692 §7.2.3.6). zlib would write
            // nothing at all for a flush that follows a flush.
            if isLast { output.append(0x00) }
            return
        }
        var position = 0
        var isFull = false
        repeat {
            let available = min(part.count - position, 1 << 20)
            let flush = isLast && position + available == part.count
            let room = max(64, available)
            step(
                part.extracting(position..<position + available), into: &output, room: room,
                flush: flush ? Z_SYNC_FLUSH : Z_NO_FLUSH)
            position += available - Int(unsafe stream.pointee.avail_in)
            isFull = unsafe stream.pointee.avail_out == 0
        } while isFull || position < part.count
        guard isLast else { return }
        hasContent = false
        if output.suffix(4).elementsEqual(Self.flushTail) { output.removeLast(4) }
        if !contextTakeover { unsafe deflateReset(stream) }
    }

    /// Calls zlib once: appends at most `room` bytes to `output`.
    private func step(
        _ input: Span<UInt8>, into output: inout Bytes, room: Int, flush: Int32
    ) {
        unsafe input.withUnsafeBufferPointer { source in
            output.append(addingCapacity: room) { span in
                unsafe span.withUnsafeMutableBufferPointer { target, initialized in
                    // zlib does not write to its input, though its type allows it.
                    unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(
                        mutating: source.baseAddress)
                    unsafe stream.pointee.avail_in = UInt32(source.count)
                    unsafe stream.pointee.next_out = target.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(room)
                    // Z_OK, or Z_BUF_ERROR where nothing was left to do: the counts say which.
                    _ = unsafe deflate(stream, flush)
                    initialized = room - Int(unsafe stream.pointee.avail_out)
                    unsafe stream.pointee.next_in = nil
                    unsafe stream.pointee.next_out = nil
                }
            }
        }
    }
}

import CUV
import Glibc
import Wire

/// The two ends of a pipe; what nobody took is closed with it.
final class PipeEnds {
    private(set) var reading: Int32 = -1
    private(set) var writing: Int32 = -1

    init() throws(NetworkError) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe cuv_pipe(&ends.0, &ends.1)
        guard result == 0 else { throw NetworkError(errno: -result, call: "pipe2") }
        (reading, writing) = ends
    }

    /// Hands over the reading end, which no longer blocks.
    func takeReading() -> Int32 {
        defer { reading = -1 }
        _ = cuv_set_nonblocking(reading)
        return reading
    }

    /// Hands over the writing end, which no longer blocks.
    func takeWriting() -> Int32 {
        defer { writing = -1 }
        _ = cuv_set_nonblocking(writing)
        return writing
    }

    deinit {
        if reading >= 0 { _ = cuv_close(reading) }
        if writing >= 0 { _ = cuv_close(writing) }
    }
}

/// Reads the lines that a child writes.
final class ChildPipe: UVPoll {
    var onLine: ((Bytes) -> Void)?
    var onEnd: (() -> Void)?
    private let maximumLine: Int
    private var fd: Int32 = -1
    private var line = Bytes()

    init(maximumLine: Int) {
        self.maximumLine = max(1, maximumLine)
    }

    func open(_ fd: Int32, on loop: UVLoop) throws(NetworkError) {
        self.fd = fd
        do throws(NetworkError) {
            try unsafe openPoll(fd, on: loop.uv)
        } catch {
            close()
            throw error
        }
        watch(readable)
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        guard fd >= 0 else { return }
        var buffer = Bytes(repeating: 0, count: 64 << 10)
        let count = unsafe buffer.withUnsafeMutableBytes { memory in
            unsafe cuv_read(fd, memory.baseAddress, memory.count)
        }
        if count == -Int(EAGAIN) { return watch(readable) }
        guard count > 0 else {
            if !line.isEmpty { onLine?(line) }
            let report = onEnd
            close()
            report?()
            return
        }
        take(buffer[..<count])
        if fd >= 0 { watch(readable) }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let part = rest[..<(end ?? rest.endIndex)].prefix(maximumLine - line.count)
            line += part
            rest = rest[part.endIndex...]
            if part.endIndex == end {
                rest = rest.dropFirst()
            } else if line.count < maximumLine {
                return
            }
            let whole = line
            line = []
            onLine?(whole)
        }
    }

    func close() {
        closeHandle()
        if fd >= 0 { _ = cuv_close(fd) }
        fd = -1
        onLine = nil
        onEnd = nil
    }

    override func loopIsClosing() {
        close()
    }
}

/// Writes what a child finds on its standard input, and ends it.
final class ChildInput: UVPoll {
    private var rest: ArraySlice<UInt8>
    private var fd: Int32 = -1

    init(_ bytes: Bytes) {
        rest = bytes[...]
    }

    func open(_ fd: Int32, on loop: UVLoop) throws(NetworkError) {
        self.fd = fd
        if rest.isEmpty { return close() }
        do throws(NetworkError) {
            try unsafe openPoll(fd, on: loop.uv)
        } catch {
            close()
            throw error
        }
        watch(writable)
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        guard fd >= 0 else { return }
        let count = unsafe rest.withUnsafeBytes { memory in
            unsafe cuv_write(fd, memory.baseAddress, memory.count)
        }
        if count == -Int(EAGAIN) { return watch(writable) }
        // A child that reads no further has closed its end: that is its own affair.
        guard count > 0 else { return close() }
        rest = rest.dropFirst(count)
        if rest.isEmpty { close() }
    }

    private func close() {
        closeHandle()
        if fd >= 0 { _ = cuv_close(fd) }
        fd = -1
    }

    override func loopIsClosing() {
        close()
    }
}

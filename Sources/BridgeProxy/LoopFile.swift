import Capture
import Network
import Wire

/// A session's file on the loop: the simulated driver's disk can fill up, and the real one's
/// can be synchronised without holding the loop.
final class LoopFile: ByteOutput {
    private let file: any AppendFile

    /// Makes the file, with mode 0600; one that exists is an error.
    init(path: String, on loop: any EventLoop) throws(OutputError) {
        do {
            file = try loop.openAppend(path, .createNew)
        } catch {
            throw OutputError(error)
        }
    }

    var path: String { file.path }

    var size: UInt64 { UInt64(clamping: file.size) }

    func append(_ bytes: borrowing Span<UInt8>) throws(OutputError) {
        do {
            try file.append(bytes)
        } catch {
            throw OutputError(error)
        }
    }

    func truncate(to size: UInt64) throws(OutputError) {
        do {
            try file.truncate(to: Int64(clamping: size))
        } catch {
            throw OutputError(error)
        }
    }

    func close() throws(OutputError) {
        file.close()
    }

    /// Has the system put what was written on the disk, beside the loop.
    func sync(_ completion: @escaping (FileError?) -> Void) {
        file.sync(completion)
    }
}

extension OutputError {
    init(_ error: FileError) {
        self.init(
            errno: error.errno, call: error.call, path: error.path, written: error.written)
    }
}

extension OutputError: CustomStringConvertible {
    /// What the system says of it, such as `no space left on device (write, ENOSPC)`.
    package var description: String {
        FileError(errno: errno, call: call, path: path).description
    }
}

import CUV

/// A file of the real driver.
@safe
final class UVFile: AppendFile {
    let path: String
    private(set) var size: Int64
    private var fd: Int32
    private let loop: UnsafeMutablePointer<uv_loop_t>
    /// The sync under way; its memory is libuv's until it has ended.
    private var syncing: ((FileError?) -> Void)?
    private var waiting: [(FileError?) -> Void] = []
    private var closesAfterSync = false

    init(
        _ path: String, _ disposition: AppendDisposition, loop: UnsafeMutablePointer<uv_loop_t>
    ) throws(FileError) {
        let truncates: Int32 = if case .truncate = disposition { 1 } else { 0 }
        let isNew: Int32 = if case .createNew = disposition { 1 } else { 0 }
        let fd = unsafe cuv_open_append(path, truncates, isNew)
        guard fd >= 0 else { throw FileError(errno: -fd, call: "open", path: path) }
        let size = cuv_file_size(fd)
        guard size >= 0 else {
            _ = cuv_close(fd)
            throw FileError(errno: Int32(-size), call: "fstat", path: path)
        }
        self.path = path
        self.fd = fd
        self.size = size
        unsafe self.loop = loop
    }

    deinit {
        // While a sync is under way libuv keeps the object, so that none is in here.
        if fd >= 0 { _ = cuv_close(fd) }
    }

    func append(_ bytes: borrowing Span<UInt8>) throws(FileError) {
        guard fd >= 0, !closesAfterSync else {
            throw FileError(errno: EBADF, call: "write", path: path)
        }
        var written = 0
        var errno: Int32 = 0
        unsafe bytes.withUnsafeBytes { buffer in
            while written < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
                let count = unsafe cuv_write(fd, rest.baseAddress, rest.count)
                if count <= 0 {
                    // A write of some bytes that takes none would be tried for ever.
                    errno = count < 0 ? Int32(-count) : EIO
                    return
                }
                written += count
            }
        }
        size += Int64(written)
        if errno != 0 {
            throw FileError(errno: errno, call: "write", path: path, written: written)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        guard fd >= 0, !closesAfterSync else {
            throw FileError(errno: EBADF, call: "ftruncate", path: path)
        }
        let result = cuv_truncate(fd, size)
        guard result == 0 else { throw FileError(errno: -result, call: "ftruncate", path: path) }
        self.size = size
    }

    func sync(_ completion: @escaping (FileError?) -> Void) {
        guard syncing == nil else {
            waiting.append(completion)
            return
        }
        syncing = completion
        let request = UnsafeMutablePointer<uv_fs_t>.allocate(capacity: 1)
        unsafe request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        // On a closed descriptor the helper thread finds EBADF and says so.
        let result = unsafe uv_fs_fdatasync(loop, request, fd) { request in
            guard let request = unsafe request, let data = unsafe request.pointee.data else {
                return
            }
            let file = unsafe Unmanaged<UVFile>.fromOpaque(data).takeRetainedValue()
            let result = unsafe Int(request.pointee.result)
            unsafe uv_fs_req_cleanup(request)
            unsafe request.deallocate()
            file.synced(result)
        }
        if result != 0 {
            unsafe Unmanaged.passUnretained(self).release()
            unsafe request.deallocate()
            synced(Int(result))
        }
    }

    private func synced(_ result: Int) {
        let completion = syncing
        syncing = nil
        let others = waiting
        waiting = []
        for completion in others { sync(completion) }
        if closesAfterSync && syncing == nil { closeNow() }
        completion?(
            result < 0 ? FileError(errno: Int32(-result), call: "fdatasync", path: path) : nil)
    }

    func close() {
        if syncing == nil { closeNow() } else { closesAfterSync = true }
    }

    private func closeNow() {
        if fd >= 0 { _ = cuv_close(fd) }
        fd = -1
    }
}

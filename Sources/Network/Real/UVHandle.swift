import CUV

/// A libuv handle in memory that never moves, with the Swift object that answers for it.
///
/// libuv keeps a pointer to the handle until its close callback has run, and the handle keeps the
/// object: `open` retains it once, the close callback releases it and frees the memory. So a
/// callback of libuv always finds a living object, and a closed one is never called.
@safe
class UVHandle {
    private(set) var memory: UnsafeMutableRawPointer?

    /// Allocates a handle of `type` and lets `initialise` set it up.
    ///
    /// - Throws: the error of `initialise`; then nothing is retained or leaked.
    final func open(
        _ type: uv_handle_type, call: String, _ initialise: (UnsafeMutableRawPointer) -> Int32
    ) throws(NetworkError) {
        precondition(!isOpen)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: uv_handle_size(type), alignment: 16)
        let result = unsafe initialise(memory)
        guard result == 0 else {
            unsafe memory.deallocate()
            throw NetworkError(errno: -result, call: call)
        }
        unsafe self.memory = memory
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self).pointee.data =
            Unmanaged.passRetained(self).toOpaque()
    }

    /// Whether the handle is open.
    final var isOpen: Bool { unsafe memory != nil }

    /// Closes the handle; none of its callbacks runs from now on, and closing twice does nothing.
    final func closeHandle() {
        guard let memory = unsafe memory else { return }
        unsafe self.memory = nil
        unsafe uv_close(memory.assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle = unsafe handle else { return }
            if let data = unsafe handle.pointee.data {
                unsafe Unmanaged<UVHandle>.fromOpaque(data).release()
            }
            unsafe UnsafeMutableRawPointer(handle).deallocate()
        }
    }

    /// The loop is going away: let go of everything, and `closeHandle`.
    func loopIsClosing() {
        closeHandle()
    }

    /// The object of a handle, within a callback of libuv; nil once it was closed.
    static func object<Object: UVHandle>(
        of handle: UnsafeMutableRawPointer?, as type: Object.Type
    ) -> Object? {
        guard let handle = unsafe handle,
            let data = unsafe handle.assumingMemoryBound(to: uv_handle_t.self).pointee.data
        else { return nil }
        let object = unsafe Unmanaged<UVHandle>.fromOpaque(data).takeUnretainedValue()
        return unsafe unsafeDowncast(object, to: type)
    }
}

/// A libuv poll handle on a descriptor: tells when a socket can be read or written.
///
/// libuv's own streams would do, but they report a reset behind the last data as an end of file,
/// close pending connections when descriptors run out, and see nothing of a paused socket. A poll
/// handle leaves the socket's calls, and so their results, to us at the same cost.
class UVPoll: UVHandle {
    /// What libuv watches now.
    private(set) final var watched: Int32 = 0

    /// Begins to answer for `fd`, without watching it yet.
    final func openPoll(_ fd: Int32, on loop: UnsafeMutablePointer<uv_loop_t>) throws(NetworkError)
    {
        try unsafe open(UV_POLL, call: "uv_poll_init") { memory in
            unsafe uv_poll_init(loop, memory.assumingMemoryBound(to: uv_poll_t.self), fd)
        }
    }

    /// Watches for `events`, a set of UV_READABLE, UV_WRITABLE, UV_DISCONNECT, UV_PRIORITIZED.
    final func watch(_ events: Int32) {
        guard events != watched, let memory = unsafe memory else { return }
        watched = events
        unsafe uv_poll_start(memory.assumingMemoryBound(to: uv_poll_t.self), events) {
            handle, status, events in
            guard let poll = unsafe UVHandle.object(of: handle, as: UVPoll.self) else { return }
            // libuv stops watching a socket that has an error.
            if status < 0 { poll.watched = 0 }
            poll.ready(events, isFailing: status < 0)
        }
    }

    /// The descriptor has something to say; `isFailing` when it has a pending error.
    func ready(_ events: Int32, isFailing: Bool) {}
}

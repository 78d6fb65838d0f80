import CUV

/// A signal that the real driver waits for.
final class UVSignal: UVHandle, Cancellable {
    private var action: (() -> Void)?

    init(
        _ signal: ProcessSignal, on loop: UnsafeMutablePointer<uv_loop_t>,
        _ action: @escaping () -> Void
    ) throws(NetworkError) {
        self.action = action
        super.init()
        try unsafe open(UV_SIGNAL, call: "uv_signal_init") { memory in
            unsafe uv_signal_init(loop, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
        guard let memory = unsafe memory else { return }
        // Waiting for a signal is no reason to go on.
        unsafe uv_unref(memory.assumingMemoryBound(to: uv_handle_t.self))
        let result = unsafe uv_signal_start(
            memory.assumingMemoryBound(to: uv_signal_t.self),
            { handle, _ in
                unsafe UVHandle.object(of: handle, as: UVSignal.self)?.action?()
            }, signal.number)
        guard result == 0 else {
            closeHandle()
            throw NetworkError(errno: -result, call: "sigaction")
        }
    }

    func cancel() {
        action = nil
        closeHandle()
    }

    override func loopIsClosing() {
        cancel()
    }
}

extension ProcessSignal {
    /// The system's number (signal(7)).
    package var number: Int32 {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .user1: SIGUSR1
        case .user2: SIGUSR2
        case .windowChange: SIGWINCH
        }
    }
}

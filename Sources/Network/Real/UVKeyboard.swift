import CUV
import Glibc

/// The keys that a person presses on the terminal of the process, one by one and unechoed.
///
/// Signals from the keyboard stay what they are. The terminal is given back as it was by
/// `cancel`, and at the latest when the process exits in good order.
final class UVKeyboard: UVPoll, Cancellable {
    private var action: ((UInt8) -> Void)?
    private var before: termios?

    /// Takes the keyboard; nil where standard input is no terminal, or another job's.
    init?(on loop: UnsafeMutablePointer<uv_loop_t>, _ action: @escaping (UInt8) -> Void) {
        super.init()
        // A job in the background would be stopped for touching the terminal.
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        guard (try? unsafe openPoll(STDIN_FILENO, on: loop)) != nil else { return nil }
        before = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings) == 0 else {
            closeHandle()
            return nil
        }
        self.action = action
        // Waiting for a key is no reason to go on.
        if let memory = unsafe memory {
            unsafe uv_unref(memory.assumingMemoryBound(to: uv_handle_t.self))
        }
        watch(Int32(UV_READABLE.rawValue))
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = unsafe keys.withUnsafeMutableBytes { buffer in
            unsafe read(STDIN_FILENO, buffer.baseAddress, buffer.count)
        }
        guard count > 0 else { return cancel() }
        for key in keys.prefix(count) { action?(key) }
    }

    func cancel() {
        action = nil
        if var settings = before {
            before = nil
            // The terminal may be gone; then there is nothing to give back.
            _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
        closeHandle()
    }

    override func loopIsClosing() {
        cancel()
    }
}

extension UVLoop {
    /// Calls `action` with each key that is pressed on the process's terminal, as a byte.
    ///
    /// Nil where standard input is no terminal in the foreground. Cancel it before the process
    /// exits, so that the terminal is as it was.
    package func onKey(_ action: @escaping (UInt8) -> Void) -> (any Cancellable)? {
        unsafe UVKeyboard(on: uv, action)
    }
}

import Network
import Wire

/// One browser window that follows a session: all records so far, and those that come.
///
/// It reads the log at its own pace, so that a window which is slow to take them costs no memory.
final class LiveLink {
    /// Called once, when the window is gone.
    var onClosed: (() -> Void)?

    private let socket: WebSocketConnection
    private let log: SessionLog
    private let pending: () -> JSON
    /// What was sent of the log.
    private var position: UInt64
    private var lastPending = JSON.array([])

    /// What may wait for a window before nothing more is read for it.
    private static let maximumWaiting = 256 << 10
    /// Bytes of records in one message: a browser reads them in some milliseconds.
    private static let messageSize = 64 << 10

    init(
        _ socket: WebSocketConnection, log: SessionLog, from position: UInt64,
        pending: @escaping () -> JSON
    ) {
        self.socket = socket
        self.log = log
        self.pending = pending
        self.position = position
        // A window has nothing to say.
        socket.onMessage = { [weak socket] _, _ in
            socket?.close(.policyViolation, "this page is read-only")
        }
        socket.onDrain = { [weak self] in self?.send() }
        socket.onClosed = { [weak self] _ in self?.onClosed?() }
    }

    /// Sends what is new, as far as the window takes it.
    func send() {
        guard socket.isOpen else { return }
        do {
            while socket.bufferedBytes <= Self.maximumWaiting {
                let records = try log.records(from: position, maximum: Self.messageSize)
                guard !records.isEmpty else { break }
                position += UInt64(records.count)
                socket.send(.text, Bytes("[\"at\",\(position)]\n".utf8) + records)
            }
        } catch {
            socket.close(.internalError, "the session cannot be read")
            return
        }
        guard position >= log.count else { return }
        if log.isFinished { return socket.close(.normal, "whole") }
        let pending = pending()
        guard pending != lastPending else { return }
        lastPending = pending
        socket.send(.text, JSON.array(["pending", pending]).encoded)
    }

    func close() { socket.close(.goingAway, "bridgetap ended") }
}

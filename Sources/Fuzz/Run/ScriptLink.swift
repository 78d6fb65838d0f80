import Capture
import Network
import Wire

/// A WebSocket of a script, by its name.
final class ScriptLink {
    let name: String
    let connection: WebSocketConnection
    /// Whether it is a cable that was pulled.
    private(set) var isStalled = false
    /// Whether what comes is left where it is.
    private(set) var isPaused = false
    /// Messages are cut into frames of so many bytes; nil for one frame a message.
    var fragmentSize: Int?
    private let loop: any EventLoop
    private let role: WebSocketRole
    private var beat: ScheduledAction?

    init(
        _ name: String, _ connection: WebSocketConnection, as role: WebSocketRole,
        on loop: any EventLoop
    ) {
        self.name = name
        self.connection = connection
        self.role = role
        self.loop = loop
    }

    var isOpen: Bool { connection.isOpen }

    /// Nothing is sent any more, not even what the protocol demands; what comes is heard, since
    /// nobody can be blamed for what was not read.
    func stall() {
        isStalled = true
        connection.isSilent = true
    }

    /// Nothing is read any more.
    func pause() {
        isPaused = true
        connection.pause()
    }

    func resume() {
        isStalled = false
        connection.isSilent = false
        guard isPaused else { return }
        isPaused = false
        connection.resume()
    }

    /// Sends a heartbeat now and every `interval` nanoseconds; nil sends none any more.
    func beat(every interval: Int64?) {
        beat?.cancel()
        beat = nil
        guard let interval else { return }
        beat(at: loop.now, max(interval, nanosecondsPerMillisecond))
    }

    private func beat(at time: Int64, _ interval: Int64) {
        guard isOpen else { return }
        if !isStalled { send(.text, Bytes(Self.heartbeat.utf8)) }
        // From the start, so that nothing adds up.
        beat = loop.schedule(at: time + interval) { [weak self] in
            self?.beat(at: time + interval, interval)
        }
    }

    /// Contract, "Heartbeat".
    static let heartbeat = #"{"id":"heartbeat"}"#

    /// Sends a message, in frames of `fragmentSize`.
    func send(_ opcode: Opcode, _ content: Bytes) {
        guard let size = fragmentSize, content.count > size else {
            return connection.send(opcode, content)
        }
        guard isOpen else { return }
        for frame in FuzzFrame.cut(content, into: size, opcode: opcode) { send(frame) }
    }

    /// Writes a frame as it is described.
    func send(_ frame: FuzzFrame) {
        connection.send(raw: frame.encoded(from: role == .client ? .app : .board, on: loop))
    }

    /// Ends whatever it does of itself.
    func end() {
        beat?.cancel()
        beat = nil
    }
}

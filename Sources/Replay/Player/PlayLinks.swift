import Network
import Wire

/// The WebSocket connections of a play, by their numbers.
final class PlayLinks {
    /// Told each whole message.
    var onMessage: ((Int, Bytes) -> Void)?
    /// Told once that a connection is over, whoever ended it.
    var onClosed: ((Int) -> Void)?

    private let loop: any EventLoop
    private var links: [Int: WebSocketConnection] = [:]
    /// Those of which nothing is read.
    private var paused: Set<Int> = []
    /// Called when the last one is over.
    private var onEmpty: (() -> Void)?

    /// How long a peer may take to answer the close of all, in nanoseconds.
    private static let closeTime = nanosecondsPerSecond

    /// What it may take to read a close frame that has come long ago, in nanoseconds.
    private static let readingTime = nanosecondsPerSecond

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// Takes a connection in.
    func add(_ link: WebSocketConnection, as number: Int) {
        links[number] = link
        link.gathersWrites = true
        link.onMessage = { [weak self] _, content in self?.onMessage?(number, content) }
        link.onClosed = { [weak self] _ in self?.closed(number) }
    }

    func send(_ opcode: Opcode, _ content: Bytes, on number: Int) {
        links[number]?.send(opcode, content)
    }

    func ping(_ payload: Bytes, on number: Int) {
        links[number]?.ping(payload)
    }

    /// Lets what was sent go out before anything that is sent elsewhere.
    func flush() {
        for link in links.values { link.flush() }
    }

    /// Sends bytes as they are: a frame that no endpoint would write.
    func send(frame: Bytes, on number: Int) {
        links[number]?.send(raw: frame)
        guard let first = frame.first, Opcode(rawValue: first) == .close else { return }
        // Its close frame has been sent: it has no other answer to the peer's.
        links[number]?.isSilent = true
    }

    /// Reads nothing more of a connection until it is ended.
    func pause(_ number: Int) {
        guard let link = links[number], paused.insert(number).inserted else { return }
        link.pause()
    }

    /// Ends a connection as it was ended when it was recorded.
    func end(_ number: Int, _ how: ReplayScript.Ending) {
        guard let link = links[number] else { return }
        if paused.remove(number) != nil {
            link.resume()
            // The close that waits to be read is answered by itself.
            loop.schedule(after: Self.readingTime) { [weak self] in self?.end(number, how) }
            return
        }
        switch how {
        case .frame(.status(let code, let reason)):
            link.close(code, String(decoding: reason, as: UTF8.self))
        case .frame(.empty), .frame(.oneByte): link.close(nil)
        case .reset, .fin:
            if how == .reset { link.abort() } else { link.drop() }
            // One that we tore down tells nothing more.
            loop.schedule(at: loop.now) { [weak self] in self?.closed(number) }
        }
    }

    private func closed(_ number: Int) {
        guard links.removeValue(forKey: number) != nil else { return }
        onClosed?(number)
        guard links.isEmpty else { return }
        let onEmpty = onEmpty
        self.onEmpty = nil
        onEmpty?()
    }

    /// Closes all of them in good order; a peer that does not answer is not waited for.
    func closeAll(_ code: CloseCode, then completion: @escaping () -> Void) {
        guard !links.isEmpty else { return completion() }
        onEmpty = completion
        for link in links.values { link.close(code) }
        loop.schedule(after: Self.closeTime) { [weak self] in
            guard let self, let onEmpty else { return }
            self.onEmpty = nil
            abortAll()
            onEmpty()
        }
    }

    /// Tears all of them down; nothing is told any more.
    func abortAll() {
        for link in links.values { link.abort() }
        links = [:]
    }
}

import CUV
import Wire

/// A TCP connection of the real driver.
@safe
final class UVStream: UVPoll, TCPStream {
    private unowned let loop: UVLoop
    private var fd: Int32
    let peerAddress: SocketAddress
    private var knownLocalAddress: SocketAddress?

    var onRead: ((ReadChunk) -> Void)?
    var onEnd: ((StreamEnd) -> Void)?
    var onDrain: (() -> Void)?

    private(set) var isPaused = true
    /// The peer's FIN has been read.
    private var hasReadEnd = false
    /// A paused stream has seen that the peer sent a FIN: no need to be told again.
    private var knowsEnd = false
    /// Both directions are over and nothing can happen any more.
    private var isQuiet = false
    private var wantsShutdown = false
    private var hasShutDown = false
    /// A write failed; reading goes on to what arrived before, then this is the end.
    private var writeError: NetworkError?
    private var queue = WriteQueue()
    private var lastReadTurn: UInt64 = 0
    /// Whether the loop has it on its list for the next turn.
    private var isDeferred = false
    private var unreadAtEnd = 0

    /// Takes over a connected socket.
    /// - Throws: when libuv refuses it; the socket is then closed.
    init(_ fd: Int32, peer: SocketAddress, loop: UVLoop) throws(NetworkError) {
        self.loop = loop
        self.fd = fd
        peerAddress = peer
        super.init()
        do throws(NetworkError) {
            try unsafe openPoll(fd, on: loop.uv)
        } catch {
            _ = cuv_close(fd)
            throw error
        }
        // Until the owner resumes it, a stream only looks out for a reset.
        watch(wantedEvents)
    }

    // MARK: What it is

    var localAddress: SocketAddress {
        if let knownLocalAddress { return knownLocalAddress }
        guard fd >= 0 else { return .unknown }
        let address = SocketAddress(system: cuv_local_address(fd)) ?? .unknown
        knownLocalAddress = address
        return address
    }

    var originalDestination: SocketAddress? {
        guard fd >= 0 else { return nil }
        let family: Int32
        switch peerAddress.ip {
        case .v4: family = 4
        case .v6: family = 6
        }
        let address = SocketAddress(system: cuv_original_destination(fd, family))
        // Connection tracking also answers for connections that no rule touched.
        return address == localAddress ? nil : address
    }

    var bufferedBytes: Int { queue.count }
    var unreadBytes: Int { fd >= 0 ? Int(cuv_unread(fd)) : unreadAtEnd }
    var isWritable: Bool { fd >= 0 && writeError == nil && !wantsShutdown }

    // MARK: Reading

    func pause() {
        // The watch is changed when something arrives: a pause that ends before that is free.
        isPaused = true
    }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        isQuiet = false
        updateWatch()
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        guard fd >= 0 else { return }
        if !isPaused && !hasReadEnd {
            if isFailing || events & readable != 0 { read() }
        } else if isFailing || events & ~writable != 0 {
            lookForReset(events)
        }
        guard fd >= 0 else { return }
        if queue.count > 0 && (isFailing || events & writable != 0) { flush() }
        updateWatch()
    }

    /// Reads once, unless this turn did so already or has read its fill.
    func read() {
        guard fd >= 0, !isPaused, !hasReadEnd, lastReadTurn != loop.turn else { return }
        guard loop.readAllowance > 0 else {
            // Once only: while more arrives than turns can read, the list must not grow.
            if !isDeferred {
                isDeferred = true
                loop.readNextTurn(self)
            }
            return
        }
        lastReadTurn = loop.turn
        let room = unsafe loop.slabs.room()
        let count = unsafe cuv_receive(fd, room.memory, min(room.count, loop.readAllowance))
        if count > 0 {
            loop.readAllowance -= count
            onRead?(loop.slabs.take(count))
        } else if count == 0 {
            hasReadEnd = true
            if let writeError {
                fail(writeError)
            } else {
                onEnd?(.fin)
            }
        } else if count != -Int(EAGAIN) {
            let error = NetworkError(errno: Int32(-count), call: "recv")
            fail(writeError ?? error)
        }
    }

    /// Reads what had to be left in the last turn, because others had read its fill.
    func readDeferred() {
        isDeferred = false
        read()
        updateWatch()
    }

    /// A stream that does not read learns of a reset all the same.
    private func lookForReset(_ events: Int32) {
        let errno = cuv_take_error(fd)
        if errno != 0 {
            fail(writeError ?? NetworkError(errno: errno, call: "recv"))
        } else if let writeError {
            fail(writeError)
        } else if events & disconnect != 0 {
            knowsEnd = true
        } else if events & prioritized != 0 {
            isQuiet = true
        }
    }

    private func updateWatch() {
        guard fd >= 0 else { return }
        watch(wantedEvents)
    }

    /// What has to be watched for in the present state.
    ///
    /// libuv cannot watch for errors alone. UV_PRIORITIZED (urgent data, which nobody sends)
    /// stands for that where the end of file is known already and would be told again and again.
    private var wantedEvents: Int32 {
        let reading: Int32
        if !isPaused && !hasReadEnd {
            reading = readable
        } else if isQuiet {
            reading = 0
        } else {
            reading = hasReadEnd || knowsEnd ? prioritized : disconnect
        }
        return reading | (queue.count > 0 ? writable : 0)
    }

    // MARK: Writing

    @discardableResult
    func write(_ chunk: ReadChunk) -> WriteOutcome {
        guard isWritable else { return .refused }
        guard !chunk.isEmpty else { return queue.count == 0 ? .taken : .buffered }
        var sent = 0
        if queue.count == 0 {
            sent = unsafe chunk.withMemory { unsafe send($0, chunk.count) }
            if sent < 0 { return .refused }
            if sent == chunk.count { return .taken }
        }
        queue.append(chunk.slice(from: sent))
        updateWatch()
        return .buffered
    }

    @discardableResult
    func write(_ bytes: Bytes) -> WriteOutcome {
        guard isWritable else { return .refused }
        guard !bytes.isEmpty else { return queue.count == 0 ? .taken : .buffered }
        var sent = 0
        if queue.count == 0 {
            sent = unsafe bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return 0 }
                return unsafe send(base, buffer.count)
            }
            if sent < 0 { return .refused }
            if sent == bytes.count { return .taken }
        }
        queue.append(bytes, from: sent)
        updateWatch()
        return .buffered
    }

    /// Sends what the system takes: 0 when its buffer is full, negative when the link is dead.
    private func send(_ memory: UnsafeRawPointer, _ count: Int) -> Int {
        let sent = unsafe cuv_send(fd, memory, count)
        if sent >= 0 { return sent }
        if sent == -Int(EAGAIN) { return 0 }
        writeFailed(NetworkError(errno: Int32(-sent), call: "send"))
        return -1
    }

    private func flush() {
        while let chunk = queue.first {
            let sent = unsafe chunk.withMemory { unsafe send($0, chunk.count) }
            guard sent >= 0 else { return }
            queue.removeFirst(sent)
            if sent < chunk.count { return }
        }
        if wantsShutdown { sendFin() }
        onDrain?()
    }

    private func writeFailed(_ error: NetworkError) {
        guard writeError == nil else { return }
        writeError = error
        queue = WriteQueue()
        // What the peer sent before it reset the connection is still there, and is read first.
        // A stream that does not read hears of it at the end of the turn: not within the write.
        if isPaused || hasReadEnd {
            loop.atEndOfTurn { [self] in
                if fd >= 0, isPaused || hasReadEnd { fail(error) }
            }
        }
    }

    func shutdown() {
        guard fd >= 0, !wantsShutdown else { return }
        wantsShutdown = true
        if queue.count == 0 { sendFin() }
    }

    private func sendFin() {
        guard !hasShutDown, writeError == nil else { return }
        hasShutDown = true
        isQuiet = false
        // It fails only where the connection is gone, and then reading says so.
        _ = cuv_shutdown_writing(fd)
    }

    // MARK: Ending

    private func fail(_ error: NetworkError) {
        let report = onEnd
        unreadAtEnd = unreadBytes
        close()
        report?(StreamEnd(error))
        unreadAtEnd = 0
    }

    func abort() {
        guard fd >= 0 else { return }
        _ = cuv_reset_on_close(fd)
        close()
    }

    func close() {
        guard fd >= 0 else { return }
        _ = localAddress
        closeHandle()
        _ = cuv_close(fd)
        fd = -1
        queue = WriteQueue()
        onRead = nil
        onEnd = nil
        onDrain = nil
    }

    override func loopIsClosing() {
        close()
    }
}

let readable = Int32(UV_READABLE.rawValue)
let writable = Int32(UV_WRITABLE.rawValue)
let disconnect = Int32(UV_DISCONNECT.rawValue)
let prioritized = Int32(UV_PRIORITIZED.rawValue)

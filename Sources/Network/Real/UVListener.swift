import CUV

/// A listening socket of the real driver.
final class UVListener: UVPoll, TCPListener {
    /// How many connections one turn accepts at most, so that a burst does not starve the others.
    private static let maximumAcceptsPerTurn = 128
    /// How long to wait when descriptors have run out.
    private static let pauseNanoseconds = 100 * nanosecondsPerMillisecond

    private unowned let loop: UVLoop
    private var fd: Int32
    let localAddress: SocketAddress
    private let options: StreamOptions
    private var accept: ((any TCPStream) -> Void)?
    var onTrouble: ((NetworkError) -> Void)?

    init(
        on address: SocketAddress, options: ListenOptions, loop: UVLoop,
        accept: @escaping (any TCPStream) -> Void
    ) throws(NetworkError) {
        let fd = try SystemSocket.listening(on: address, options: options)
        self.loop = loop
        self.fd = fd
        self.options = options.stream
        self.accept = accept
        localAddress = SocketAddress(system: cuv_local_address(fd)) ?? address
        super.init()
        do throws(NetworkError) {
            try unsafe openPoll(fd, on: loop.uv)
        } catch {
            _ = cuv_close(fd)
            throw error
        }
        watch(readable)
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        for _ in 0..<Self.maximumAcceptsPerTurn {
            guard fd >= 0 else { return }
            var peer = cuv_address()
            let accepted = unsafe cuv_accept(fd, &peer)
            if accepted >= 0 {
                take(accepted, from: SocketAddress(system: peer) ?? .unknown)
                continue
            }
            let error = NetworkError(errno: -accepted, call: "accept")
            switch -accepted {
            case EAGAIN: return watch(readable)
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause(for: error)
            // The connection died while it waited; accept(2) lists the errors of TCP as such.
            case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET,
                EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT:
                continue
            default: return pause(for: error)
            }
        }
        watch(readable)
    }

    private func take(_ accepted: Int32, from peer: SocketAddress) {
        do throws(NetworkError) {
            do throws(NetworkError) {
                try SystemSocket.configure(accepted, options)
            } catch {
                _ = cuv_close(accepted)
                throw error
            }
            let stream = try UVStream(accepted, peer: peer, loop: loop)
            accept?(stream)
        } catch {
            onTrouble?(error)
        }
    }

    private func pause(for error: NetworkError) {
        watch(0)
        loop.schedule(after: Self.pauseNanoseconds) { [weak self] in
            guard let self, fd >= 0 else { return }
            watch(readable)
        }
        onTrouble?(error)
    }

    func close() {
        guard fd >= 0 else { return }
        closeHandle()
        _ = cuv_close(fd)
        fd = -1
        accept = nil
        onTrouble = nil
    }

    override func loopIsClosing() {
        close()
    }
}

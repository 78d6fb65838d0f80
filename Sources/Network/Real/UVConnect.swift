import CUV

/// A connection attempt of the real driver.
final class UVConnect: UVPoll, Cancellable {
    private unowned let loop: UVLoop
    private var fd: Int32
    private let address: SocketAddress
    private var completion: ((Result<any TCPStream, NetworkError>) -> Void)?
    private var deadline: ScheduledAction?

    init(
        to address: SocketAddress, options: ConnectOptions, loop: UVLoop,
        _ completion: @escaping (Result<any TCPStream, NetworkError>) -> Void
    ) throws(NetworkError) {
        let fd = try SystemSocket.connecting(to: address, options: options)
        self.loop = loop
        self.fd = fd
        self.address = address
        self.completion = completion
        super.init()
        do throws(NetworkError) {
            try unsafe openPoll(fd, on: loop.uv)
        } catch {
            _ = cuv_close(fd)
            throw error
        }
        watch(writable)
        if let deadline = options.deadline {
            self.deadline = loop.schedule(at: deadline) { [weak self] in
                self?.finish(.failure(.deadlinePassed(call: "connect")))
            }
        }
    }

    override func ready(_ events: Int32, isFailing: Bool) {
        guard fd >= 0 else { return }
        let errno = cuv_take_error(fd)
        guard errno == 0 else {
            return finish(.failure(NetworkError(errno: errno, call: "connect")))
        }
        // A socket that dials a port nobody listens on may be given that very port for its own
        // and then talks to itself (a simultaneous open, RFC 9293 §3.5).
        if SocketAddress(system: cuv_local_address(fd)) == address {
            return finish(.failure(NetworkError(errno: ECONNREFUSED, call: "connect")))
        }
        closeHandle()
        let connected = fd
        fd = -1
        do throws(NetworkError) {
            finish(.success(try UVStream(connected, peer: address, loop: loop)))
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<any TCPStream, NetworkError>) {
        let completion = completion
        cancel()
        completion?(result)
    }

    func cancel() {
        completion = nil
        deadline?.cancel()
        deadline = nil
        closeHandle()
        if fd >= 0 {
            // The other end may have taken the connection already: it was never used.
            _ = cuv_reset_on_close(fd)
            _ = cuv_close(fd)
        }
        fd = -1
    }

    override func loopIsClosing() {
        cancel()
    }
}

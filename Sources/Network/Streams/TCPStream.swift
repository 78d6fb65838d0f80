package import Wire

/// One open TCP connection.
///
/// A stream begins paused. It stays open until `close`, `abort` or an end other than `fin`; from
/// then on no callback runs and everything written is refused. The driver keeps an open stream
/// alive, so letting go of the last reference does not close it.
package protocol TCPStream: AnyObject {
    /// This end's address. Behind a TPROXY rule it is the address that the peer meant to reach.
    var localAddress: SocketAddress { get }

    /// The other end's address.
    var peerAddress: SocketAddress { get }

    /// Where the peer wanted to go before a NAT rule redirected it here; nil when none did.
    var originalDestination: SocketAddress? { get }

    /// Called for what has arrived, at most once a turn; never while paused.
    var onRead: ((ReadChunk) -> Void)? { get set }

    /// Called at the end of what the peer sends: at most once with `fin`, and at most once with
    /// another end, after which the stream is closed.
    ///
    /// After `fin` writing goes on: the connection is half-closed. A paused stream reports `fin`
    /// only when it has been resumed and read to its end, but every other end at once.
    var onEnd: ((StreamEnd) -> Void)? { get set }

    /// Called when the last buffered byte has gone to the system, after a write was `buffered`.
    var onDrain: (() -> Void)? { get set }

    /// How many written bytes wait here because the system's buffer is full.
    var bufferedBytes: Int { get }

    /// How many bytes have arrived at the system and were not read yet.
    ///
    /// Still answers inside `onEnd`, so that what a reset took away can be counted.
    var unreadBytes: Int { get }

    /// Whether writes are still accepted.
    var isWritable: Bool { get }

    /// Whether reading is paused.
    var isPaused: Bool { get }

    /// Stops reading, so that the peer feels back-pressure. Nothing that was read is lost.
    func pause()

    /// Starts reading, or goes on with it.
    func resume()

    /// Writes; the order of writes is kept. A small chunk that has to wait is copied.
    @discardableResult
    func write(_ chunk: ReadChunk) -> WriteOutcome

    /// Writes; the order of writes is kept.
    @discardableResult
    func write(_ bytes: Bytes) -> WriteOutcome

    /// Ends the sending side with a FIN once everything buffered is sent; reading goes on.
    func shutdown()

    /// Closes at once with a reset (RST). What is buffered is dropped.
    func abort()

    /// Closes at once. What is buffered is dropped, and what arrives later is answered by the
    /// system with a reset. For an orderly end, `shutdown` and wait for the peer's `fin`.
    func close()
}

/// How a connection, or the peer's half of it, ended.
package enum StreamEnd: Equatable, Sendable {
    /// The peer has sent everything it had to send.
    case fin
    /// The peer tore the connection down with a reset.
    case reset(NetworkError)
    /// The peer no longer answers: retransmissions or keep-alive probes ran out.
    case timedOut(NetworkError)
    /// Anything else, such as a network that went away.
    case failed(NetworkError)

    /// The end that an error of a read or a write means.
    package init(_ error: NetworkError) {
        switch error.kind {
        case .reset: self = .reset(error)
        case .timedOut: self = .timedOut(error)
        default: self = .failed(error)
        }
    }
}

/// What became of a write.
package enum WriteOutcome: Equatable, Sendable {
    /// All of it went to the system.
    case taken
    /// Some of it waits in the stream; `onDrain` tells when it has gone.
    case buffered
    /// The sending side is over: nothing was written.
    case refused
}

/// Ends a connection so that the peer gets everything that was written.
///
/// A close with something unread makes the system send a reset, which can overtake and destroy
/// the last answer. So the sending side is ended, and what still comes is read and dropped until
/// the peer ends too, or has had its time (RFC 9112 §9.6).
enum LingeringClose {
    /// How long the peer has.
    static let time = 2 * nanosecondsPerSecond
    /// How much of what it still sends is read.
    static let maximumBytes = 4 << 20

    /// Takes the stream over; its callbacks are replaced.
    /// - Parameter peerHasEnded: whether the stream's `fin` was reported already.
    static func begin(_ stream: any TCPStream, peerHasEnded: Bool, on loop: any EventLoop) {
        let deadline = loop.schedule(after: time) { stream.close() }
        let finish = {
            deadline.cancel()
            stream.close()
            // A stream that was closed already has not let go of what is set below.
            stream.onRead = nil
            stream.onEnd = nil
            stream.onDrain = nil
        }
        var left = maximumBytes
        stream.onRead = { chunk in
            left -= chunk.count
            if left < 0 { finish() }
        }
        stream.onEnd = { end in
            // With the peer's end nothing can be unread: all that is buffered still goes out.
            if case .fin = end, stream.bufferedBytes > 0 {
                stream.onDrain = finish
            } else {
                finish()
            }
        }
        stream.onDrain = nil
        stream.shutdown()
        stream.resume()
        if peerHasEnded {
            if stream.bufferedBytes > 0 { stream.onDrain = finish } else { finish() }
        }
    }
}

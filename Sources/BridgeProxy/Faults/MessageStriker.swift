package import Capture
package import Wire

/// Looks at each message on its way through a proxy, and says what is done in its place.
///
/// Asked on the thread of the proxy's loop, for each message that is there as a whole, in the order
/// in which they come.
package protocol MessageStriker: AnyObject {
    /// Decides about a message; nil passes it on as it came.
    func strike(_ message: CarriedMessage) -> MessageStrike?
}

/// A whole message on its way: a frame, the frames of one message together, a request or a response.
package struct CarriedMessage {
    /// The proxy's number of the connection.
    package var conn: Int
    /// What it is, with its meaning; `from` says who sent it.
    package var event: Event
    /// All that crossed of it, its framing included.
    package var bytes: Bytes
}

/// What is done in the place of a message.
package struct MessageStrike: Sendable, Hashable {
    /// One thing that is done.
    package enum Act: Sendable, Hashable {
        /// These bytes go on to the other side.
        case send(Bytes)
        /// The connection is torn down.
        case reset
    }

    /// A thing that is done at some time.
    package struct Step: Sendable, Hashable {
        package var act: Act
        /// Nanoseconds from now; what has none goes out before anything that comes later, what has
        /// one lets others pass.
        package var delay: Int64

        package init(_ act: Act, delay: Int64 = 0) {
            self.act = act
            self.delay = delay
        }
    }

    /// What is done, in its order; empty drops the message.
    package var steps: [Step]
    /// What the session says of it.
    package var note: String

    package init(_ steps: [Step], note: String) {
        self.steps = steps
        self.note = note
    }
}

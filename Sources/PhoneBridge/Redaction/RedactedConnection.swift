import Capture
import Wire

/// What the redactor has to know of a connection to put its messages together.
struct RedactedConnection {
    var deflate: PerMessageDeflate?
    var isHalfClosed = false
    var app = RedactedDirection()
    var board = RedactedDirection()

    subscript(side: Side) -> RedactedDirection {
        get { side == .app ? app : board }
        set { if side == .app { app = newValue } else { board = newValue } }
    }

    /// So many of the events that wait were given out.
    mutating func shift(by count: Int) {
        app.shift(by: count)
        board.shift(by: count)
    }
}

/// One direction of a connection: its messages that have not ended, and its compressor.
struct RedactedDirection {
    /// The oldest first: the decoder tells the end of a message behind the frame of the next one
    /// that cut it off.
    var open: [OpenMessage] = []
    var deflater: Deflater?
    /// A message in pieces has just ended unread: a note on that follows.
    private var expectsNote = false

    struct OpenMessage {
        var opcode: Opcode
        var isCompressed: Bool
        /// Its frames that wait, by their places.
        var frames: [Int] = []
        /// Payload bytes of frames that were given out without content.
        var spent = 0
        /// Another message has begun: it gets no more frames.
        var isCut = false
        /// All of it is filler, since it comes in pieces, or in large frames that did not wait.
        var isFilled = false
    }

    /// The last piece of the oldest message came.
    mutating func endFilled(incomplete: Bool) {
        guard let first = open.first, first.isFilled else { return }
        open.removeFirst()
        expectsNote = incomplete
        // The reader begins anew behind compressed filler, and so does the writer.
        if first.isCompressed { deflater = nil }
    }

    /// The message that a note says is not readable; nil where it is known already.
    mutating func takeUnreadable() -> OpenMessage? {
        defer { expectsNote = false }
        return expectsNote || open.isEmpty ? nil : open.removeFirst()
    }

    mutating func shift(by count: Int) {
        for index in open.indices {
            open[index].frames = open[index].frames.map { $0 - count }
        }
    }
}

package import Capture

/// What is known of a connection while it is open.
package struct ConnectionFacts: Sendable {
    package let number: Int
    /// When it was opened, or first met; nanoseconds of the session.
    package let opened: Int64
    /// The `seq` of its `open` event; 0 where there is none.
    package let openedSeq: Int
    /// Whether it was seen from its first byte.
    package let startsWhole: Bool
    /// When it became a WebSocket, or was first seen to be one; nil for HTTP.
    package internal(set) var upgraded: Int64?
    /// The `Sec-WebSocket-Extensions` that were agreed on; nil for none, or where it is not known.
    package internal(set) var extensions: String?
    /// What the handshake or the last poll said of the phone.
    package internal(set) var platform: String?
    package internal(set) var phoneID: String?
    /// Whether a board-side tool is at its other end: it enqueued or queried.
    package internal(set) var isTool = false
    package internal(set) var app: Direction
    package internal(set) var board: Direction

    /// What is known of the bytes that one side sends.
    package struct Direction: Sendable {
        /// Since when nothing is missing; nil while that is not sure.
        package internal(set) var certainSince: Int64?
        /// Whether anything was ever missing.
        package internal(set) var hadHole = false
        /// When its close frame came.
        package internal(set) var closeFrame: Int64?
        /// When it stopped sending.
        package internal(set) var ended: Int64?
        /// When a whole frame, request or response of it came last.
        package internal(set) var lastHeard: Int64?
    }

    init(number: Int, opened: Int64, openedSeq: Int, startsWhole: Bool) {
        self.number = number
        self.opened = opened
        self.openedSeq = openedSeq
        self.startsWhole = startsWhole
        app = Direction(certainSince: startsWhole ? opened : nil, hadHole: !startsWhole)
        board = app
    }

    package subscript(side: Side) -> Direction {
        get { side == .app ? app : board }
        set {
            switch side {
            case .app: app = newValue
            case .board: board = newValue
            }
        }
    }

    /// Something whole of a side came; true where both are known again by that.
    mutating func heard(_ side: Side, at time: Int64) -> Bool {
        self[side].lastHeard = time
        guard self[side].certainSince == nil else { return false }
        self[side].certainSince = time
        return self[side.peer].certainSince != nil
    }

    /// Whether it is a WebSocket.
    package var isWebSocket: Bool { upgraded != nil }

    /// Whether all that `side` sent since `time` is known, so that what is not there was not sent.
    package func isCertain(_ side: Side, since time: Int64) -> Bool {
        self[side].certainSince.map { $0 <= time } ?? false
    }

    /// Whether it was seen from its first byte on without a hole.
    package var isWhole: Bool { !app.hadHole && !board.hadHole }

    /// Whether both ends still take part: no close frame crossed, and nobody stopped sending.
    package var isOpen: Bool {
        app.closeFrame == nil && board.closeFrame == nil && app.ended == nil && board.ended == nil
    }
}

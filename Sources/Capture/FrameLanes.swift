import Wire

/// The short way of whole frames that stand by themselves, which most bytes of a WebSocket are.
///
/// A lane is open while its direction stands between two frames and nothing is under way in it;
/// then such a frame touches nothing of the direction but its times, which the lane holds
/// meanwhile. All that a frame needs is in one value, so that exclusive access is looked after
/// once a call. Whatever goes another way closes the lanes before and opens them behind.
struct FrameLanes {
    fileprivate struct Lane {
        var isOpen = false
        var byteCount: UInt64 = 0
        var time: Int64 = 0
        var packetTime: Int64?

        /// Takes the frames at the beginning of `bytes`; gives how many bytes they have.
        @inline(__always)
        mutating func receive(
            _ bytes: Span<UInt8>, of conn: Int, from side: Side, maximumPayload: UInt64,
            into batch: inout EventBatch
        ) -> Int {
            var position = 0
            while true {
                let start = position
                guard
                    let (header, place) = FrameDecoder.whole(
                        bytes, at: &position, maximumPayload: maximumPayload),
                    Self.isByItself(header)
                else { return start }
                batch.append(
                    GatheredFrame(
                        time: time, firstTime: nil, packetTime: packetTime, conn: conn, from: side,
                        header: header),
                    payload: bytes.extracting(place))
            }
        }

        /// Whether the frame is one of control, or a whole message that is not compressed.
        private static func isByItself(_ header: FrameHeader) -> Bool {
            if header.opcode.isControl { return true }
            return header.fin && header.opcode.rawValue != 0 && header.rsv & 4 == 0
        }
    }

    private var app = Lane()
    private var board = Lane()

    /// Bytes that `side` has sent.
    func byteCount(of side: Side) -> UInt64 {
        side == .app ? app.byteCount : board.byteCount
    }

    /// Takes what `side` sent as far as its lane goes; gives how many bytes, nil where it is
    /// closed.
    @inline(__always)
    mutating func receive(
        _ bytes: Span<UInt8>, of conn: Int, from side: Side, at time: Int64, packetTime: Int64?,
        maximumPayload: UInt64, into batch: inout EventBatch
    ) -> Int? {
        switch side {
        case .app:
            app.receive(
                bytes, of: conn, from: side, at: time, packetTime: packetTime,
                maximumPayload: maximumPayload, into: &batch)
        case .board:
            board.receive(
                bytes, of: conn, from: side, at: time, packetTime: packetTime,
                maximumPayload: maximumPayload, into: &batch)
        }
    }

    /// Closes both lanes; the directions know again what happened in them.
    mutating func close(_ appDirection: Direction, _ boardDirection: Direction) {
        app.close(appDirection)
        board.close(boardDirection)
    }

    /// Opens the lanes of those directions that stand between two frames.
    mutating func open(_ appDirection: Direction, _ boardDirection: Direction) {
        app.open(appDirection)
        board.open(boardDirection)
    }
}

extension FrameLanes.Lane {
    @inline(__always)
    fileprivate mutating func receive(
        _ bytes: Span<UInt8>, of conn: Int, from side: Side, at time: Int64, packetTime: Int64?,
        maximumPayload: UInt64, into batch: inout EventBatch
    ) -> Int? {
        byteCount &+= UInt64(bytes.count)
        guard isOpen else { return nil }
        self.time = time
        self.packetTime = packetTime == time ? nil : packetTime
        return receive(
            bytes, of: conn, from: side, maximumPayload: maximumPayload, into: &batch)
    }

    fileprivate mutating func close(_ direction: Direction) {
        guard isOpen else { return }
        direction.time = time
        direction.packetTime = packetTime
        isOpen = false
    }

    fileprivate mutating func open(_ direction: Direction) {
        guard direction.isBetweenFrames else { return }
        time = direction.time
        packetTime = direction.packetTime
        isOpen = true
    }
}

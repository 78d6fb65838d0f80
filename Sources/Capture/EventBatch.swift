package import Wire

/// Events in the order of their session, numbered as they come.
///
/// The numbers are the session's own: `Piece.of` and `Note.to` refer to them. A writer gives
/// its file's numbers instead, since it may drop events or begin a new file.
///
/// A batch may gather the most frequent events, small whole frames, in a shorter form. What it
/// holds is the same: `events` has them in their places.
package struct EventBatch: Sendable {
    /// Frames with longer payloads are events at once.
    static let maximumGatheredPayload = 4096
    /// More memory for payloads than this is not kept from one turn to the next, in bytes.
    private static let keptPayloads = 512 << 10
    /// Nor for more events.
    private static let keptEvents = 4096

    /// All but what is gathered.
    private var others: [Event] = []
    private var frames: [GatheredFrame] = []
    /// The payloads of the gathered frames, unmasked.
    private var payloads = Bytes()
    private let gathersFrames: Bool
    /// The number that the next event gets.
    package private(set) var nextSeq: Int

    /// Makes an empty batch.
    ///
    /// - Parameter gathersFrames: for those who read it with `forEach`: it costs the others more.
    package init(nextSeq: Int = 1, gathersFrames: Bool = false) {
        self.nextSeq = nextSeq
        self.gathersFrames = gathersFrames
    }

    /// Whether nothing has been collected since the batch was last emptied.
    package var isEmpty: Bool { others.isEmpty && frames.isEmpty }

    /// What has been collected since the batch was last emptied, in order.
    package var events: [Event] {
        guard !frames.isEmpty else { return others }
        var events: [Event] = []
        events.reserveCapacity(others.count + frames.count)
        forEach(
            event: { events.append(copy $0) },
            frame: { events.append(Event($0, payload: Bytes(copying: $1))) })
        return events
    }

    /// Numbers the event and takes it; gives back its number.
    @discardableResult
    package mutating func append(_ event: consuming Event) -> Int {
        let seq = nextSeq
        event.seq = seq
        nextSeq += 1
        others.append(event)
        return seq
    }

    /// Numbers a whole frame and takes it; `payload` is as it came, masked where it was.
    mutating func append(_ frame: consuming GatheredFrame, payload: Span<UInt8>) {
        let header = frame.header
        guard gathersFrames, payload.count <= Self.maximumGatheredPayload, header.isMinimal,
            header.opcode != .close
        else {
            let bytes =
                header.maskingKey.map { $0.applied(to: payload) } ?? Bytes(copying: payload)
            append(Event(frame, payload: bytes))
            return
        }
        frame.seq = nextSeq
        nextSeq += 1
        let start = payloads.count
        payloads.append(copying: payload)
        header.maskingKey?.apply(to: &payloads, from: start)
        frame.payload = start..<payloads.count
        frames.append(frame)
    }

    /// Lends what was collected to the one closure or the other, in order.
    package func forEach(
        event: (borrowing Event) -> Void,
        frame: (borrowing GatheredFrame, Span<UInt8>) -> Void
    ) {
        let payloads = payloads.span
        var next = 0
        for index in others.indices {
            let seq = others[index].seq
            while next < frames.count, frames[next].seq < seq {
                frame(frames[next], payloads.extracting(frames[next].payload))
                next += 1
            }
            event(others[index])
        }
        while next < frames.count {
            frame(frames[next], payloads.extracting(frames[next].payload))
            next += 1
        }
    }

    /// Has what was collected changed by the one closure or the other, in order.
    package mutating func update(
        event: (inout Event) -> Void, frame: (inout GatheredFrame, Span<UInt8>) -> Void
    ) {
        let held = payloads
        let payloads = held.span
        var next = 0
        for index in others.indices {
            let seq = others[index].seq
            while next < frames.count, frames[next].seq < seq {
                frame(&frames[next], payloads.extracting(frames[next].payload))
                next += 1
            }
            event(&others[index])
        }
        while next < frames.count {
            frame(&frames[next], payloads.extracting(frames[next].payload))
            next += 1
        }
    }

    /// Empties the batch, keeping its storage unless it is large; the numbers run on.
    package mutating func removeAll() {
        others.removeAll(keepingCapacity: others.capacity <= Self.keptEvents)
        frames.removeAll(keepingCapacity: frames.capacity <= Self.keptEvents)
        payloads.removeAll(keepingCapacity: payloads.capacity <= Self.keptPayloads)
    }

    /// Hands over the events and starts anew; the numbers run on.
    package mutating func take() -> [Event] {
        let events = events
        others = []
        frames = []
        payloads = []
        return events
    }
}

/// A small whole frame of a batch: what its event holds, without memory of its own.
///
/// Its header is in the shortest form, and it closes nothing.
package struct GatheredFrame: Sendable {
    /// The same as in `Event`.
    package fileprivate(set) var seq = 0
    package var time: Int64
    package var firstTime: Int64?
    package var packetTime: Int64?
    package var conn: Int
    package var from: Side
    package var header: FrameHeader
    package var bridge: [JSON] = []
    /// Where its payload stands in the batch.
    fileprivate var payload = 0..<0

    init(
        time: Int64, firstTime: Int64?, packetTime: Int64?, conn: Int, from: Side,
        header: FrameHeader
    ) {
        self.time = time
        self.firstTime = firstTime
        self.packetTime = packetTime
        self.conn = conn
        self.from = from
        self.header = header
    }
}

extension Event {
    /// The event of a frame whose unmasked payload is given.
    package init(_ frame: borrowing GatheredFrame, payload: Bytes) {
        self.init(
            seq: frame.seq, time: frame.time, firstTime: frame.firstTime,
            packetTime: frame.packetTime, conn: frame.conn, from: frame.from,
            kind: .frame(FrameRecord(header: frame.header, content: .whole(payload))),
            bridge: frame.bridge)
    }
}

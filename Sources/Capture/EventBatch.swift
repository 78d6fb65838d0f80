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
    /// A reader gives a batch out once so many events, or bytes of payloads, are in it.
    private static let usualCount = 256
    private static let usualPayloads = 64 << 10
    /// More memory for payloads than this is not kept from one turn to the next, in bytes.
    private static let keptPayloads = 512 << 10
    /// Nor for more events.
    private static let keptEvents = 4096

    /// All but what is gathered.
    private var others: [Event] = []
    /// For each of `others`, how many of `frames` stand before it.
    private var framesBefore: [Int] = []
    private var frames: [GatheredFrame] = []
    /// The payloads of the gathered frames, unmasked.
    private var payloads = Bytes()
    /// What the gathered frames mean, as it stands in a line.
    private var meanings = Bytes()
    /// Bytes of the contents of `others`.
    private var otherContents = 0
    private(set) var gathersFrames: Bool
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

    /// How many events have been collected since the batch was last emptied.
    package var count: Int { others.count + frames.count }

    /// What has been collected since the batch was last emptied, in order.
    package var events: [Event] {
        guard !frames.isEmpty else { return others }
        var events: [Event] = []
        events.reserveCapacity(count)
        forEach(
            event: { events.append(copy $0) },
            frame: {
                events.append(
                    Event($0, payload: Bytes(copying: $1), bridge: Bytes(copying: $2)))
            })
        return events
    }

    /// Numbers the event and takes it; gives back its number.
    @discardableResult
    package mutating func append(_ event: consuming Event) -> Int {
        let seq = nextSeq
        event.seq = seq
        nextSeq += 1
        otherContents &+= event.contentSize
        others.append(event)
        framesBefore.append(frames.count)
        return seq
    }

    /// Takes an event that has its number in the session.
    package mutating func adopt(_ event: consuming Event) {
        otherContents &+= event.contentSize
        others.append(event)
        framesBefore.append(frames.count)
    }

    /// Numbers a whole frame and takes it; `payload` is as it came, masked where it was.
    mutating func append(_ frame: consuming GatheredFrame, payload: Span<UInt8>) {
        let header = frame.header
        guard gathersFrames, payload.count <= Self.maximumGatheredPayload, header.isMinimal,
            header.opcode != .close
        else {
            let bytes =
                header.maskingKey.map { $0.applied(to: payload) } ?? Bytes(copying: payload)
            append(Event(frame, payload: bytes, bridge: []))
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

    /// Takes a frame that has its number, if `read` gives one.
    ///
    /// `read` appends the frame's payload and the text of its `bridge`; what it has appended when
    /// it gives none is taken back.
    mutating func adopt(
        _ read: (_ payloads: inout Bytes, _ meanings: inout Bytes) -> GatheredFrame?
    ) -> Bool {
        let starts = (payloads.count, meanings.count)
        guard var frame = read(&payloads, &meanings) else {
            payloads.removeLast(payloads.count - starts.0)
            meanings.removeLast(meanings.count - starts.1)
            return false
        }
        frame.payload = starts.0..<payloads.count
        frame.bridge = starts.1..<meanings.count
        frames.append(frame)
        return true
    }

    /// Lends what was collected to the one closure or the other, in order: an event, or a frame
    /// with its payload and the text of its `bridge`, which is empty where it means nothing.
    package func forEach(
        event: (borrowing Event) -> Void,
        frame: (borrowing GatheredFrame, Span<UInt8>, Span<UInt8>) -> Void
    ) {
        let payloads = payloads.span
        let meanings = meanings.span
        var next = 0
        for index in others.indices {
            while next < framesBefore[index] {
                frame(
                    frames[next], payloads.extracting(frames[next].payload),
                    meanings.extracting(frames[next].bridge))
                next += 1
            }
            event(others[index])
        }
        while next < frames.count {
            frame(
                frames[next], payloads.extracting(frames[next].payload),
                meanings.extracting(frames[next].bridge))
            next += 1
        }
    }

    /// Has what was collected changed by the one closure or the other, in order.
    ///
    /// What `frame` appends becomes the text of the frame's `bridge`; it has to be an array as
    /// `EventEncoder` writes it, or nothing, and then what was there stays.
    package mutating func update(
        event: (inout Event) -> Void,
        frame: (borrowing GatheredFrame, Span<UInt8>, inout Bytes) -> Void
    ) {
        let held = payloads
        let payloads = held.span
        // Taken out for the while: a closure may not change what it stands in.
        var texts = Bytes()
        swap(&texts, &meanings)
        var next = 0
        for index in 0...others.count {
            let end = index < others.count ? framesBefore[index] : frames.count
            while next < end {
                let start = texts.count
                frame(frames[next], payloads.extracting(frames[next].payload), &texts)
                if texts.count > start { frames[next].bridge = start..<texts.count }
                next += 1
            }
            if index < others.count { event(&others[index]) }
        }
        swap(&texts, &meanings)
    }

    /// Empties the batch, keeping its storage unless it is large; the numbers run on.
    package mutating func removeAll() {
        others.removeAll(keepingCapacity: others.capacity <= Self.keptEvents)
        framesBefore.removeAll(keepingCapacity: framesBefore.capacity <= Self.keptEvents)
        frames.removeAll(keepingCapacity: frames.capacity <= Self.keptEvents)
        payloads.removeAll(keepingCapacity: payloads.capacity <= Self.keptPayloads)
        meanings.removeAll(keepingCapacity: meanings.capacity <= Self.keptPayloads)
        otherContents = 0
    }

    /// Hands over the events and starts anew; the numbers run on.
    package mutating func take() -> [Event] {
        let events = events
        others = []
        framesBefore = []
        frames = []
        payloads = []
        meanings = []
        otherContents = 0
        return events
    }

    /// Hands all that was collected to `other`, which is empty, and starts anew in its storage;
    /// the numbers run on.
    package mutating func hand(to other: inout EventBatch) {
        let isGathering = other.gathersFrames
        swap(&self, &other)
        nextSeq = other.nextSeq
        other.gathersFrames = isGathering
        removeAll()
    }

    /// Gathers frames from here on, or no more.
    mutating func gatherFrames(_ isWanted: Bool) {
        gathersFrames = isWanted
    }

    /// Whether it is time to look at what was collected: more would be no faster.
    package var isFull: Bool {
        count >= Self.usualCount || payloads.count &+ otherContents >= Self.usualPayloads
    }
}

/// A small whole frame of a batch: what its event holds, without memory of its own.
///
/// Its header is in the shortest form, and it closes nothing.
package struct GatheredFrame: Sendable {
    /// The same as in `Event`.
    package fileprivate(set) var seq: Int
    package var time: Int64
    package var firstTime: Int64?
    package var packetTime: Int64?
    package var conn: Int
    package var from: Side
    package var header: FrameHeader
    /// Where its payload and what it means stand in the batch.
    fileprivate var payload = 0..<0
    fileprivate var bridge = 0..<0

    /// Whether it is known to mean something.
    package var hasMeaning: Bool { !bridge.isEmpty }

    init(
        seq: Int = 0, time: Int64, firstTime: Int64?, packetTime: Int64?, conn: Int, from: Side,
        header: FrameHeader
    ) {
        self.seq = seq
        self.time = time
        self.firstTime = firstTime
        self.packetTime = packetTime
        self.conn = conn
        self.from = from
        self.header = header
    }
}

extension Event {
    /// The event of a frame whose unmasked payload, and the text of whose `bridge`, are given.
    init(_ frame: borrowing GatheredFrame, payload: Bytes, bridge: Bytes) {
        self.init(
            seq: frame.seq, time: frame.time, firstTime: frame.firstTime,
            packetTime: frame.packetTime, conn: frame.conn, from: frame.from,
            kind: .frame(FrameRecord(header: frame.header, content: .whole(payload))),
            bridge: Meanings(text: bridge))
    }
}

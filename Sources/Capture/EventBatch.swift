/// Events in the order of their session, numbered as they come.
///
/// The numbers are the session's own: `Piece.of` and `Note.to` refer to them. A writer gives
/// its file's numbers instead, since it may drop events or begin a new file.
package struct EventBatch: Sendable {
    /// What has been collected since the batch was last emptied.
    package private(set) var events: [Event] = []
    /// The number that the next event gets.
    package private(set) var nextSeq: Int

    package init(nextSeq: Int = 1) {
        self.nextSeq = nextSeq
    }

    package var isEmpty: Bool { events.isEmpty }

    /// Numbers the event and takes it; gives back its number.
    @discardableResult
    package mutating func append(_ event: consuming Event) -> Int {
        let seq = nextSeq
        event.seq = seq
        nextSeq += 1
        events.append(event)
        return seq
    }

    /// Empties the batch, keeping its storage, after handing each event to `body`.
    package mutating func drain(_ body: (inout Event) throws -> Void) rethrows {
        defer { events.removeAll(keepingCapacity: events.capacity <= 4096) }
        for index in events.indices {
            try body(&events[index])
        }
    }

    /// Hands each event to `body`, which may change it, and keeps them all.
    package mutating func update(_ body: (inout Event) throws -> Void) rethrows {
        for index in events.indices {
            try body(&events[index])
        }
    }

    /// Empties the batch, keeping its storage unless it is large; the numbers run on.
    package mutating func removeAll() {
        events.removeAll(keepingCapacity: events.capacity <= 4096)
    }

    /// Hands over the events and starts anew; the numbers run on.
    package mutating func take() -> [Event] {
        defer { events = [] }
        return events
    }
}

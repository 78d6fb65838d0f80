import Capture
import Wire

/// Events in order, taken in at the end and let go at the beginning.
///
/// They lie in chunks, which a copy shares: who writes one on another thread holds nothing up, and
/// the ring goes on with a copy of the last chunk only.
struct RingWindow: Sendable {
    private struct Chunk {
        var events: [Event] = []
        var size = 0
    }

    /// A chunk is full with so many events or bytes; what has left stays in memory until its chunk
    /// is empty.
    private static let maximumEvents = 512
    private static let maximumSize = 256 << 10
    /// Bytes of memory that an event takes beside its contents, about.
    private static let eventSize = 512
    private static let fieldSize = 96

    private var chunks: [Chunk] = []
    /// What has left of the first chunk.
    private var first = 0
    private(set) var count = 0
    /// Bytes of memory, about.
    private(set) var size = 0

    var oldest: Event? {
        guard let chunk = chunks.first, first < chunk.events.count else { return nil }
        return chunk.events[first]
    }

    /// All events.
    var events: some Sequence<Event> {
        chunks.enumerated().lazy.flatMap { $0.element.events.dropFirst($0.offset == 0 ? first : 0) }
    }

    mutating func append(_ event: Event) {
        let size = Self.size(of: event)
        if chunks.last.map({ $0.events.count >= Self.maximumEvents || $0.size >= Self.maximumSize })
            ?? true
        {
            chunks.append(Chunk())
        }
        chunks[chunks.count - 1].events.append(event)
        chunks[chunks.count - 1].size += size
        count += 1
        self.size += size
    }

    mutating func removeFirst() -> Event? {
        guard let event = oldest else { return nil }
        first += 1
        count -= 1
        size -= Self.size(of: event)
        if first == chunks[0].events.count {
            chunks.removeFirst()
            first = 0
        }
        return event
    }

    /// Bytes of memory that an event takes, about.
    static func size(of event: Event) -> Int {
        switch event.kind {
        case .request(let request): size(of: request.headers) + eventSize + event.contentSize
        case .response(let response): size(of: response.headers) + eventSize + event.contentSize
        case .note(let note): eventSize + note.text.utf8.count
        case .session, .open, .frame, .message, .piece, .data, .gap, .close, .end:
            eventSize + event.contentSize
        }
    }

    private static func size(of fields: [FieldLine]) -> Int {
        fields.reduce(0) { $0 + fieldSize + $1.name.utf8.count + $1.value.utf8.count }
    }
}

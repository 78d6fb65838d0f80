package import Capture
package import Wire

/// The latest events of a session, of which a part can be written as a session of its own.
package final class EventRing: SessionOutput {
    private let info: SessionInfo
    private var events: [Event] = []
    private var first = 0
    private var size = 0
    private var count = 0
    /// What was opened before the first event that is kept, and is not closed.
    private var open: [Int: Open] = [:]

    private struct Open {
        var event: Event
        var continued = Event.Continued(upgraded: false)
        var ends = 0
    }

    /// Bytes and events that are kept.
    private static let maximumSize = 8 << 20
    private static let maximumEvents = 20_000

    /// - Parameter info: the first line of the sessions that are written.
    package init(_ info: SessionInfo) {
        self.info = info
    }

    package func receive(_ event: Event) {
        var event = event
        if case .session = event.kind { return }
        count += 1
        event.seq = count
        events.append(event)
        size += Self.size(event)
        while size > Self.maximumSize || events.count - first > Self.maximumEvents,
            first < events.count
        {
            let oldest = events[first]
            first += 1
            size -= Self.size(oldest)
            Self.note(oldest, in: &open)
        }
        if first > 4096 {
            events.removeFirst(first)
            first = 0
        }
    }

    private static func size(_ event: Event) -> Int {
        var size = 512
        func add(_ content: Event.Content) {
            if case .whole(let bytes) = content { size += bytes.count }
        }
        switch event.kind {
        case .frame(let frame): add(frame.content)
        case .message(let message): add(message.content)
        case .request(let request): add(request.body.content)
        case .response(let response): add(response.body.content)
        case .piece(let piece): size += piece.content.count
        case .data(let data): size += data.bytes.count
        default: break
        }
        return size
    }

    private static func note(_ event: Event, in open: inout [Int: Open]) {
        switch event.kind {
        case .open: open[event.conn] = Open(event: event)
        case .response(let response) where response.status == 101:
            open[event.conn]?.continued = Event.Continued(
                extensions: response.headers.first {
                    $0.isNamed("Sec-WebSocket-Extensions")
                }?.value, upgraded: true)
        case .close(let close):
            open[event.conn]?.ends += close.how == .fin ? 1 : 2
            if open[event.conn]?.ends ?? 0 >= 2 { open[event.conn] = nil }
        default: break
        }
    }

    /// The session from a time on, as NDJSON; with what has to be added to the number of an event to
    /// find it there.
    package func session(since time: Int64) -> (bytes: Bytes, shift: Int) {
        var open = open
        var start = first
        while start < events.count, events[start].time < time {
            Self.note(events[start], in: &open)
            start += 1
        }
        let memory = SessionMemory()
        let writer: SessionWriter
        do throws(OutputError) {
            writer = try SessionWriter(session: info) { (_) throws(OutputError) in memory }
        } catch {
            return ([], 0)
        }
        let before = open.sorted { $0.key < $1.key }.map(\.value)
        for connection in before {
            var event = connection.event
            guard case .open(var opening) = event.kind else { continue }
            opening.continued = connection.continued
            event.kind = .open(opening)
            event.seq = 0
            event.firstTime = nil
            event.time = start < events.count ? min(time, events[start].time) : time
            writer.receive(event)
        }
        let shift = before.count - (start < events.count ? events[start].seq - 1 : count)
        for index in start..<max(start, events.count) {
            writer.receive(events[index])
        }
        writer.close(now: events.last?.time ?? time)
        return (memory.bytes, shift)
    }

    package func flush(now: Int64) {}
    package func admit(dropped count: Int) {}
    package var nextDeadline: Int64? { nil }
    package var status: OutputStatus { OutputStatus() }

    @discardableResult
    package func close(now: Int64) -> OutputStatus { OutputStatus() }
}

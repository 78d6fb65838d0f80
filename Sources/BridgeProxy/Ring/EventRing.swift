package import Capture
import PhoneBridge

/// The latest events of a session, with what they rest on from before, of which a session of its
/// own can be written at any time.
package final class EventRing: SessionOutput {
    /// What it holds at most.
    package struct Bounds: Sendable {
        /// Nanoseconds.
        package var duration: Int64
        /// Bytes of memory, counted at about what events take.
        package var size: Int
        package var events: Int

        package init(duration: Int64 = .max, size: Int, events: Int = .max) {
            self.duration = max(0, duration)
            self.size = size
            self.events = events
        }
    }

    private let info: SessionInfo
    private let bounds: Bounds
    private var window = RingWindow()
    private var before = RingMemory()
    /// Events so far; the number of the last.
    private var count = 0
    private var newest: Int64 = 0
    /// When an event last left for its bytes, and not for its age.
    private var cutAt: Int64?

    /// - Parameter info: the first line of the sessions that are written.
    package init(_ info: SessionInfo, bounds: Bounds) {
        self.info = info
        self.bounds = bounds
    }

    /// Bytes of memory that its events take, about.
    package var size: Int { window.size }

    package func receive(_ event: Event) {
        var event = event
        switch event.kind {
        case .session, .end: return
        case .open, .request, .response, .frame, .message, .piece, .data, .gap, .close, .note: break
        }
        count += 1
        event.seq = count
        window.append(event)
        while window.size > bounds.size || window.count > bounds.events, let oldest = take() {
            cutAt = oldest.time
        }
        advance(to: event.time)
    }

    /// Time has come so far: lets go of what is too old by now.
    private func advance(to time: Int64) {
        newest = max(newest, time)
        let (start, isEarly) = newest.subtractingReportingOverflow(bounds.duration)
        guard !isEarly else { return }
        while let oldest = window.oldest, oldest.time < start || before.isTorn(oldest) {
            _ = take()
        }
    }

    private func take() -> Event? {
        guard let event = window.removeFirst() else { return nil }
        before.receive(event)
        return event
    }

    /// What is in it now, as a session.
    ///
    /// Costs little: it shares the ring's memory, and may be written on another thread.
    package func session() -> RingSession {
        RingSession(
            info: info, before: before, window: window,
            isCut: cutAt.map { $0 > newest.clampedSubtracting(bounds.duration) } ?? false,
            end: newest)
    }

    /// The session from a time on.
    package func session(since time: Int64) -> RingSession {
        var (before, window) = (before, window)
        while let oldest = window.oldest, oldest.time < time || before.isTorn(oldest) {
            before.receive(oldest)
            _ = window.removeFirst()
        }
        return RingSession(
            info: info, before: before, window: window, isCut: false, end: max(newest, time))
    }

    package func flush(now: Int64) { advance(to: now) }
    package func admit(dropped count: Int) {}
    package var nextDeadline: Int64? { nil }
    package var status: OutputStatus { OutputStatus() }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        advance(to: now)
        return OutputStatus()
    }
}

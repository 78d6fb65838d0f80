package import Capture
package import PhoneBridge
import Report
package import Wire

/// A page's log as an output of a recording: it takes the events that the files get.
///
/// It never holds a recording up: where its spool cannot be written it says so once and takes no
/// more.
package final class PageOutput: SessionOutput {
    /// Called when the page can take no more.
    package var onFailure: ((OutputError) -> Void)?

    private var feed: SessionFeed
    private var figures = StatisticsReader()
    private var dropped = 0
    private var hasFailed = false
    private var lastAdvance: Int64 = 0

    /// How often silence is told, in nanoseconds: once a second, as the status line.
    private static let interval: Int64 = 1_000_000_000

    /// Begins with the session's first line.
    ///
    /// - Parameters:
    ///   - name: what people call the session.
    ///   - replay: the beginning of the command that plays it, up to the file.
    package init(
        _ session: SessionInfo, name: String, replay: String, profile: Profile = .contract,
        today: String? = nil
    ) {
        // Who watches wants to see a minute of heartbeats as a line.
        feed = SessionFeed(
            name: name, replay: replay, profile: profile, today: today,
            maximumFold: 60_000_000_000)
        attempt { (feed) throws(OutputError) in
            try feed.receive(Event(time: 0, kind: .session(session)))
        }
    }

    /// What the page is told.
    package var log: SessionLog { feed.log }
    /// What is still held back or counted, as it would be told now.
    package var pending: JSON { feed.pending }

    private func attempt(_ step: (inout SessionFeed) throws(OutputError) -> Void) {
        guard !hasFailed else { return }
        do {
            try step(&feed)
        } catch {
            hasFailed = true
            onFailure?(error)
        }
    }

    /// The figures so far, for Prometheus.
    ///
    /// - Parameters:
    ///   - now: nanoseconds since the session began.
    ///   - isPaused: whether a file of the recording cannot be written at the moment.
    ///   - tool: the program and its version.
    package func metrics(now: Int64, isPaused: Bool, tool: String) -> Bytes {
        var recording = MetricsText.Recording()
        recording.dropped = dropped
        recording.isPaused = isPaused
        recording.breaches = feed.breachCounts
        return MetricsText.bytes(figures.soFar(at: now), recording, tool: tool)
    }

    package func receive(_ event: Event) {
        figures.receive(event)
        attempt { (feed) throws(OutputError) in try feed.receive(event) }
    }

    /// Tells how far time has come, where nothing else does.
    package func flush(now: Int64) {
        guard now - lastAdvance >= Self.interval else { return }
        lastAdvance = now
        attempt { (feed) throws(OutputError) in try feed.advance(to: now) }
    }

    /// Packets that were dropped are told by a note of their own.
    package func admit(dropped count: Int) { dropped += count }

    package var nextDeadline: Int64? { lastAdvance + Self.interval }

    /// That of an output that lacks nothing: the files are what counts.
    package var status: OutputStatus { OutputStatus() }

    package func close(now: Int64) -> OutputStatus {
        attempt { (feed) throws(OutputError) in try feed.finish() }
        return status
    }
}

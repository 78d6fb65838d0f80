package import Capture
package import PhoneBridge
package import Report
import Wire

/// The session that takes place while another is played: read for the comparison and held
/// against the rules as it goes on, beside the files that it is written to.
package final class LiveSession: SessionOutput {
    private var reader: DiffReader
    private var checker: RuleChecker
    private let timeScale: Double
    private var seq = 0
    /// Breaches of rules so far.
    package private(set) var breaches: [Breach] = []
    /// Breaches that are kept.
    private static let maximumBreaches = 10_000
    /// Why what happened could not be read for the comparison.
    package private(set) var trouble: OutputError?
    /// The lines of its timeline, where they are kept.
    package private(set) var rows: SessionRows?
    /// Whether events are looked at once the session is closed.
    private let defers: Bool
    /// Events that are still to be looked at.
    private var backlog: [Event] = []
    /// Events that wait at most; a message is at most 1 MiB, and most have some hundred bytes.
    private static let maximumBacklog = 32_768
    /// Bytes of messages that wait at most.
    private static let maximumBacklogSize = 64 << 20
    private var backlogSize = 0

    /// - Parameters:
    ///   - keepsRows: keeps the lines of its timeline, to show them beside the recording's.
    ///   - defers: looks at what happened once the session is closed, so that the play is not held
    ///     up by being judged; `session` and `breaches` lag behind until then. Where very much
    ///     waits, it is looked at earlier.
    package init(
        name: String, contract: Contract, profile: Profile, keepsRows: Bool = false,
        defers: Bool = false
    ) {
        self.defers = defers
        rows = keepsRows ? SessionRows(contract: contract) : nil
        reader = DiffReader(name: name, contract: contract)
        checker = RuleChecker(contract: contract, profile: profile)
        timeScale = max(1, profile.timeScale)
    }

    /// What took place, in the form in which sessions are compared.
    package var session: DiffSession { reader.session }

    package func receive(_ event: Event) {
        guard defers else { return look(at: event) }
        backlog.append(event)
        backlogSize += event.contentSize
        if backlog.count >= Self.maximumBacklog || backlogSize >= Self.maximumBacklogSize {
            workOff()
        }
    }

    private func workOff() {
        let events = backlog
        backlog = []
        backlogSize = 0
        for event in events { look(at: event) }
    }

    private func look(at event: Event) {
        var event = event
        if case .session = event.kind {
        } else {
            seq += 1
            event.seq = seq
        }
        do throws(OutputError) {
            try reader.receive(timeScale == 1 ? event : inTargetTime(event))
            try rows?.receive(event)
        } catch {
            trouble = trouble ?? error
        }
        keep(checker.receive(event))
    }

    /// The event at the time that its target's clock would show, with its meaning by that clock:
    /// what is late for a target that is four times as fast is late after a quarter of the time.
    private func inTargetTime(_ event: Event) -> Event {
        var event = event
        event.time = Int64(min(Double(event.time) * timeScale, 9e18))
        event.bridge = []
        return event
    }

    private func keep(_ found: [Breach]) {
        breaches += found.prefix(max(0, Self.maximumBreaches - breaches.count))
    }

    package func flush(now: Int64) {}
    package func admit(dropped count: Int) {}
    package var nextDeadline: Int64? { nil }
    package var status: OutputStatus { OutputStatus() }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        workOff()
        keep(checker.finish())
        do throws(OutputError) {
            try rows?.finish()
        } catch {
            trouble = trouble ?? error
        }
        return OutputStatus()
    }
}

package import Capture
package import Network

/// Keeps the latest events of a recording, and writes them to files when there is a reason to.
///
/// It writes on a thread of its own, from what it shares with the ring: traffic and recording go
/// on. A reason that comes meanwhile has its file behind that one.
package final class RingKeeper: SessionOutput {
    /// What to keep, and what to write.
    package struct Options {
        /// Nanoseconds.
        package var duration: Int64
        /// Bytes of memory, about; while a file is written it may be twice as much.
        package var maximumSize = 256 << 20
        /// Each gets a file of its own at a trigger.
        package var files: [RingFile]
        /// Off to write at once, on the loop's thread: for virtual time.
        package var hasThread = true

        package init(duration: Int64, files: [RingFile]) {
            self.duration = duration
            self.files = files
        }
    }

    /// What came of all triggers.
    package struct Summary: Sendable, Equatable {
        package var files = 0
        package var failures = 0

        package init() {}
    }

    /// Told of each trigger when its files are written.
    package var onOutcome: ((RingOutcome) -> Void)?
    /// How many files were written, and how many were not.
    package private(set) var summary = Summary()

    private let ring: EventRing
    private let desk: RingDesk
    private var worker: Worker<RingDesk.Order>?
    private var mailbox: Mailbox<Bool>?
    private var rests: RingRests
    private var isWriting = false
    private var waiting: RingTrigger?

    /// - Parameter info: the first line of the files.
    package init(_ options: Options, info: SessionInfo, loop: any EventLoop) {
        ring = EventRing(
            info,
            bounds: EventRing.Bounds(duration: options.duration, size: options.maximumSize))
        desk = RingDesk(options.files)
        rests = RingRests(duration: options.duration)
        guard options.hasThread else { return }
        let mailbox = loop.mailbox(limit: 1) { [weak self] (_: Bool) in self?.look() }
        self.mailbox = mailbox
        // Without a thread it writes all the same.
        worker = Worker.start(capacity: 1) { [desk] order in
            desk.work(order)
            mailbox.post(true)
        }
    }

    /// A rule is broken, of which the ring's files may tell.
    func broken(_ rule: String, at time: Int64) { rests.broken(rule, at: time) }

    /// The rules for which a file is due.
    func due(at time: Int64) -> [String] { rests.due(at: time) }

    /// Writes what is in the ring; its last event may be a note of the trigger.
    func write(_ trigger: RingTrigger) {
        guard !isWriting else {
            waiting = trigger
            return
        }
        let order = RingDesk.Order(trigger, ring.session())
        guard let worker else {
            desk.work(order)
            tell()
            return
        }
        isWriting = true
        _ = worker.give(order)
    }

    private func look() {
        guard tell() else { return }
        isWriting = false
        guard let trigger = waiting else { return }
        waiting = nil
        write(trigger)
    }

    /// Tells what came of triggers; whether there was any.
    @discardableResult
    private func tell() -> Bool {
        let outcomes = desk.takeOutcomes()
        for outcome in outcomes {
            summary.files += outcome.files.count
            summary.failures += outcome.isComplete ? 0 : 1
            onOutcome?(outcome)
        }
        return !outcomes.isEmpty
    }

    /// Waits for what is being written, and writes what is in the ring a last time.
    func finish(_ trigger: RingTrigger) {
        stop()
        write(trigger)
    }

    /// Waits for what is being written.
    private func stop() {
        worker?.finish()
        worker = nil
        mailbox?.close()
        tell()
        isWriting = false
        waiting = nil
    }

    // MARK: An output

    package func receive(_ event: Event) { ring.receive(event) }
    package func flush(now: Int64) { ring.flush(now: now) }
    package func admit(dropped count: Int) {}
    package var nextDeadline: Int64? { nil }
    /// That of an output that lacks nothing: its files tell of themselves.
    package var status: OutputStatus { OutputStatus() }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        stop()
        return status
    }
}

/// Writes rings to files, on whichever thread.
final class RingDesk: Sendable {
    /// What to write; it is taken out to be written, so that nobody holds its memory longer.
    final class Order: Sendable {
        let trigger: RingTrigger
        private let session: Guarded<RingSession?>

        init(_ trigger: RingTrigger, _ session: RingSession) {
            self.trigger = trigger
            self.session = Guarded(session)
        }

        func take() -> RingSession? {
            session.withLock { session in
                defer { session = nil }
                return session
            }
        }
    }

    private let files: Guarded<[RingFile]>
    private let outcomes = Guarded<[RingOutcome]>([])

    init(_ files: [RingFile]) {
        self.files = Guarded(files)
    }

    func work(_ order: borrowing Order) {
        guard let session = order.take() else { return }
        var outcome = RingOutcome(order.trigger, session)
        var files = files.withLock { $0 }
        for index in files.indices {
            do throws(OutputError) {
                outcome.files.append(try files[index].write(session, remark: outcome.remark))
            } catch {
                outcome.errors.append(error)
            }
        }
        self.files.withLock { $0 = files }
        outcomes.withLock { $0.append(outcome) }
    }

    func takeOutcomes() -> [RingOutcome] {
        outcomes.withLock { outcomes in
            defer { outcomes = [] }
            return outcomes
        }
    }
}

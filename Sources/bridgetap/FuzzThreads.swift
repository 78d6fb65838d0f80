import Fuzz
import Glibc
import Network
import Synchronization

/// A campaign against the reference peer in virtual time: a thread a job, each with peers of its own,
/// and this one to show how it stands.
final class FuzzThreads: Sendable {
    private let desk: Guarded<FuzzDesk>
    private let target: SimulatedTarget
    private let count: Int
    private let isJSON: Bool
    private let working = Atomic<Int>(0)

    init(_ desk: sending FuzzDesk, target: SimulatedTarget, count: Int, isJSON: Bool) {
        self.desk = Guarded(desk)
        self.target = target
        self.count = count
        self.isJSON = isJSON
    }

    /// Runs it to its end.
    func run() throws -> (summary: CampaignSummary, novel: [NovelCase]) {
        Interruption.listen(isPatient: true)
        for _ in 0..<count { try start() }
        var screen = FuzzScreen(isJSON: isJSON)
        var isStopped = false
        while working.load(ordering: .acquiring) > 0, !Interruption.isUrgent {
            if Interruption.isRequested, !isStopped {
                isStopped = true
                desk.withLock { $0.stop() }
                ProcessStreams.remark(.note, "ending behind the cases under way")
            }
            let now = FuzzDesk.now()
            let status: CampaignStatus? = desk.withLock {
                screen.isDue($0.elapsed) ? $0.status : nil
            }
            if let status { try screen.show(status) }
            Interruption.wait(milliseconds: FuzzDesk.now() - now > 5_000_000 ? 50 : 5)
        }
        ProcessStreams.showStatus(nil)
        let fault: (any Error)? = desk.withLock { desk in
            do {
                try desk.finish()
                return desk.fault
            } catch {
                return desk.fault ?? error
            }
        }
        if let fault { throw fault }
        return desk.withLock { $0.outcome }
    }

    private func start() throws {
        working.add(1, ordering: .relaxed)
        let thread: pthread_t
        do {
            thread = try startThread { self.work() }
        } catch {
            working.subtract(1, ordering: .relaxed)
            throw Failure(.internalFault, "cannot start a thread: \(error)")
        }
        pthread_detach(thread)
    }

    private func work() {
        defer { working.subtract(1, ordering: .releasing) }
        while true {
            switch desk.withLock({ $0.next() }) {
            case .run(let job):
                let outcome = target.outcome(
                    of: job.script, run: job.id, keepsSession: job.keepsSession)
                desk.withLock { $0.receive(job, outcome) }
            case .wait: Interruption.wait(milliseconds: 1)
            case .over: return
            }
        }
    }
}

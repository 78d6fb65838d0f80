package import Capture
import Network

/// An output that is written on a thread of its own, while its owner reads on.
///
/// For jobs over files: a recorder must know that what it passes on is on file. Where the output
/// stops for an error, what comes later is dropped.
package final class BackgroundOutput {
    private enum Work: Sendable {
        case batch(EventBatch)
        case event(Event)
        case dropped(Int)
    }

    /// The output belongs to the thread from the beginning on, and to `close` once that has ended.
    private struct Handed: @unchecked Sendable {
        let output: any SessionOutput
    }

    /// Batches under way at a time: what is in one is bounded, and memory with it.
    private static let capacity = 4

    private let handed: Handed
    private let worker: Worker<Work>
    /// Why the thread writes no more.
    private let told: Guarded<OutputError?>
    private let gathersFrames: Bool

    /// Takes an output over, of which nothing else is to be kept; nil where the system has no thread
    /// to give.
    ///
    /// - Parameter gathersFrames: whether the batches that come do.
    package init?(_ output: any SessionOutput, gathersFrames: Bool) {
        let handed = Handed(output: output)
        let told = Guarded<OutputError?>(nil)
        let worker = Worker<Work>.start(capacity: Self.capacity) { work in
            guard told.withLock({ $0 == nil }) else { return }
            switch work {
            case .batch(let batch): handed.output.receive(batch)
            case .event(let event): handed.output.receive(event)
            case .dropped(let count): handed.output.admit(dropped: count)
            }
            if let error = handed.output.status.pausedBy {
                told.withLock { $0 = error }
            }
        }
        guard let worker else { return nil }
        self.handed = handed
        self.told = told
        self.worker = worker
        self.gathersFrames = gathersFrames
    }

    /// Takes the events of a batch, which is empty then; waits where very many are under way.
    package func receive(_ batch: inout EventBatch) {
        var taken = EventBatch(gathersFrames: gathersFrames)
        batch.hand(to: &taken)
        guard case .batch(var spare)? = worker.give(.batch(consume taken)) else { return }
        // For its storage.
        batch.hand(to: &spare)
    }

    /// Takes an event.
    package func receive(_ event: Event) {
        _ = worker.give(.event(event))
    }

    /// Counts as dropped what never came here.
    package func admit(dropped count: Int) {
        _ = worker.give(.dropped(count))
    }

    /// Why nothing is written any more, as of a moment ago; nil while all is well.
    package var trouble: OutputError? { told.withLock { $0 } }

    /// Writes what is under way, and gives the output back.
    package func finish() -> any SessionOutput {
        worker.finish()
        return handed.output
    }
}

package import Capture
import Network
package import PhoneBridge

/// An output that is written on a thread of its own, while its owner reads on; what the events mean
/// may be read on another between them.
///
/// For jobs over files: a recorder must know that what it passes on is on file. Where the output
/// stops for an error, what comes later is dropped.
package final class BackgroundOutput {
    private enum Work: Sendable {
        case batch(EventBatch)
        case event(Event)
        case dropped(Int)

        mutating func annotate(with meaning: inout MeaningReader) {
            guard case .batch(var batch) = self else { return }
            // Held once only, or it would be copied.
            self = .dropped(0)
            meaning.annotate(&batch)
            self = .batch(batch)
        }
    }

    /// The output belongs to the thread from the beginning on, and to `close` once that has ended.
    private struct Handed: @unchecked Sendable {
        let output: any SessionOutput
    }

    /// Batches under way at a time before each thread: what is in one is bounded, and memory with
    /// it.
    private static let capacity = 4

    private let handed: Handed
    /// The threads through which work goes, one after the other; the last one writes.
    private let workers: [Worker<Work>]
    /// Why the thread writes no more.
    private let told: Guarded<OutputError?>
    private let gathersFrames: Bool

    /// Takes an output over, of which nothing else is to be kept; nil where the system has no thread
    /// to give.
    ///
    /// - Parameters:
    ///   - gathersFrames: whether the batches that come do.
    ///   - meaning: reads what the events of batches mean that come without it; nil for none.
    package init?(
        _ output: any SessionOutput, gathersFrames: Bool, meaning: MeaningReader? = nil
    ) {
        let handed = Handed(output: output)
        let told = Guarded<OutputError?>(nil)
        let writer = Worker<Work>.start(capacity: Self.capacity) { work in
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
        guard let writer else { return nil }
        workers =
            if let meaning {
                // Without one more thread its owner reads them.
                if let reader = Self.reader(meaning, before: writer) {
                    [reader, writer]
                } else {
                    []
                }
            } else {
                [writer]
            }
        guard !workers.isEmpty else { return nil }
        self.handed = handed
        self.told = told
        self.gathersFrames = gathersFrames
    }

    /// A thread that reads what events mean, and hands them on.
    private static func reader(
        _ meaning: MeaningReader, before writer: Worker<Work>
    ) -> Worker<Work>? {
        let meaning = Guarded(meaning)
        return Worker<Work>.start(capacity: capacity) { work in
            meaning.withLock { work.annotate(with: &$0) }
            var given = Work.dropped(0)
            swap(&given, &work)
            // What comes back is for its storage.
            if let done = writer.give(consume given) { work = done }
        }
    }

    /// Takes the events of a batch, which is empty then; waits where very many are under way.
    package func receive(_ batch: inout EventBatch) {
        var taken = EventBatch(gathersFrames: gathersFrames)
        batch.hand(to: &taken)
        guard case .batch(var spare)? = workers[0].give(.batch(consume taken)) else { return }
        // For its storage.
        batch.hand(to: &spare)
    }

    /// Takes an event.
    package func receive(_ event: Event) {
        _ = workers[0].give(.event(event))
    }

    /// Counts as dropped what never came here.
    package func admit(dropped count: Int) {
        _ = workers[0].give(.dropped(count))
    }

    /// Why nothing is written any more, as of a moment ago; nil while all is well.
    package var trouble: OutputError? { told.withLock { $0 } }

    /// Writes what is under way, and gives the output back.
    package func finish() -> any SessionOutput {
        for worker in workers { worker.finish() }
        return handed.output
    }
}

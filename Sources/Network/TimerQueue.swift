/// An action that waits for its time.
package final class ScheduledAction: Cancellable {
    /// When it is due, on the loop's monotonic clock in nanoseconds.
    package let deadline: Int64
    fileprivate var action: (() -> Void)?
    private let counter: CancelCounter

    fileprivate init(
        deadline: Int64, action: @escaping () -> Void, counter: CancelCounter
    ) {
        self.deadline = deadline
        self.action = action
        self.counter = counter
    }

    /// Whether it will still run.
    package var isPending: Bool { action != nil }

    /// Calls it off; late or twice does nothing.
    package func cancel() {
        guard action != nil else { return }
        action = nil
        counter.cancelled += 1
    }
}

/// How many entries of a queue are dead; shared with the entries, which outlive no queue's need.
private final class CancelCounter {
    var cancelled = 0
}

/// The timers of a loop: a heap by deadline, then by order of scheduling.
struct TimerQueue {
    private struct Entry {
        let deadline: Int64
        let sequence: UInt64
        let scheduled: ScheduledAction

        func precedes(_ other: Entry) -> Bool {
            deadline != other.deadline
                ? deadline < other.deadline : sequence < other.sequence
        }
    }

    private var heap: [Entry] = []
    private var nextSequence: UInt64 = 0
    private let counter = CancelCounter()

    /// Adds an action.
    mutating func schedule(at deadline: Int64, _ action: @escaping () -> Void) -> ScheduledAction {
        // Cancelled entries leave when they are due; where they are the majority, before that,
        // so that connections with long deadlines that come and go cost no memory.
        if counter.cancelled > 64 && counter.cancelled > heap.count / 2 { sweep() }
        let scheduled = ScheduledAction(deadline: deadline, action: action, counter: counter)
        heap.append(Entry(deadline: deadline, sequence: nextSequence, scheduled: scheduled))
        nextSequence += 1
        siftUp(from: heap.count - 1)
        return scheduled
    }

    /// The deadline of the next live action.
    var nextDeadline: Int64? {
        mutating get {
            while let first = heap.first, !first.scheduled.isPending {
                removeFirst()
                counter.cancelled -= 1
            }
            return heap.first?.deadline
        }
    }

    /// The number of the next action to be scheduled: what is scheduled later has at least this.
    var horizon: UInt64 { nextSequence }

    /// Takes out the next action that is due at `now` and was scheduled before `horizon`.
    mutating func takeDue(now: Int64, before horizon: UInt64 = .max) -> (() -> Void)? {
        guard let deadline = nextDeadline, deadline <= now, let first = heap.first,
            first.sequence < horizon
        else { return nil }
        removeFirst()
        let action = first.scheduled.action
        first.scheduled.action = nil
        return action
    }

    private mutating func sweep() {
        let live = heap.filter { $0.scheduled.isPending }
        heap.removeAll(keepingCapacity: true)
        counter.cancelled = 0
        for entry in live {
            heap.append(entry)
            siftUp(from: heap.count - 1)
        }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        siftDown()
    }

    private mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            let child = 2 * parent + 1
            if child < heap.count, heap[child].precedes(heap[least]) { least = child }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[least]) { least = child + 1 }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

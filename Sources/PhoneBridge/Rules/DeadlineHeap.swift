/// What is due at a time, soonest first; a binary heap.
struct DeadlineHeap<Value: Sendable>: Sendable {
    private var entries: [(time: Int64, value: Value)] = []

    /// When the first one is due; nil for none.
    var first: Int64? { entries.first?.time }

    /// How many wait.
    var count: Int { entries.count }

    mutating func add(_ value: Value, at time: Int64) {
        entries.append((time, value))
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].time < entries[parent].time else { break }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes the first one, if it was due before `time`.
    mutating func take(before time: Int64) -> Value? {
        guard let first = entries.first, first.time < time else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var index = 0
        while true {
            var least = index
            let child = 2 * index + 1
            if child < entries.count, entries[child].time < entries[least].time { least = child }
            if child + 1 < entries.count, entries[child + 1].time < entries[least].time {
                least = child + 1
            }
            guard least != index else { break }
            entries.swapAt(index, least)
            index = least
        }
        return first.value
    }

    /// Takes all of them, in no order.
    mutating func takeAll() -> [Value] {
        defer { entries = [] }
        return entries.map(\.value)
    }
}

/// Where the events of a session stand in its files: their numbers in the session against
/// `seq` and part.
///
/// The two run side by side but where events were dropped, lines were added or a part began, so
/// runs are kept, not numbers; `maximumRuns` bounds them.
struct SequenceMap {
    /// A run costs 40 bytes; events so far back are of interest to nobody still writing.
    static let maximumRuns = 4096

    private struct Run {
        /// Its first number in the session.
        var first: Int
        /// `seq` of the first; nil for events that were dropped.
        var seq: Int?
        var part: Int
    }

    private var runs: [Run] = []
    private var last = 0

    /// Notes that the event `number` stands at `seq` in `part`.
    @inline(__always)
    mutating func append(_ number: Int, seq: Int, part: Int) {
        if number == last &+ 1, let run = runs.last, run.part == part, let first = run.seq,
            seq &- first == number &- run.first
        {
            last = number
            return
        }
        // Numbers that were passed over stand nowhere.
        if number > last &+ 1 { drop(from: last &+ 1) }
        add(Run(first: number, seq: seq, part: part), last: number)
    }

    /// Notes that `number`, and all from it on, are not in a file.
    mutating func drop(from number: Int) {
        while let run = runs.last, run.first >= number { runs.removeLast() }
        guard let run = runs.last, run.seq != nil else {
            last = max(last, number)
            return
        }
        add(Run(first: number, seq: nil, part: run.part), last: max(last, number))
    }

    private mutating func add(_ run: Run, last number: Int) {
        if runs.count >= Self.maximumRuns { runs.removeFirst(Self.maximumRuns / 2) }
        runs.append(run)
        last = number
    }

    /// The place of the event `number`; nil if it is in no file, or too far back.
    func place(of number: Int) -> (seq: Int, part: Int)? {
        guard number <= last else { return nil }
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].first <= number { low = middle + 1 } else { high = middle }
        }
        guard low > 0, let seq = runs[low - 1].seq else { return nil }
        return (seq &+ number &- runs[low - 1].first, runs[low - 1].part)
    }
}

import Wire

/// A reading of both clocks, as a machine gets it with each input.
package struct Moment: Hashable, Sendable {
    /// Nanoseconds of a clock that never goes back; deadlines are on this one.
    package var monotonic: Int64
    /// Nanoseconds since 1970; what is written into messages.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// This reading with the wall clock set to `timestamp`, and the other clock as far away.
    ///
    /// What is more than a hundred years off is taken as that.
    func moved(to timestamp: Timestamp) -> Moment {
        let century: Int64 = 36_525 * 86_400
        let present = Timestamp(wall: wall).seconds
        let seconds = min(max(timestamp.seconds - present, -century), century)
        return Moment(
            monotonic: monotonic + seconds * 1_000_000_000, wall: wall + seconds * 1_000_000_000)
    }
}

/// How much faster than the contract's clock a peer runs: each of its durations is divided by it.
package struct TimeScale: Hashable, Sendable {
    /// 1 for the contract's own durations.
    package let factor: Int64

    /// Makes a scale; a factor below 1 becomes 1.
    package init(_ factor: Int64 = 1) {
        self.factor = max(1, factor)
    }

    /// The peer's own duration for one of the contract, in nanoseconds, at least 1.
    package func nanoseconds(seconds: Double) -> Int64 {
        max(1, Int64(seconds * 1e9) / factor)
    }

    /// The peer's own duration for a `timeout_ms`, in nanoseconds, at least 1.
    package func nanoseconds(milliseconds: Int) -> Int64 {
        // A day is longer than any machine waits, and keeps the product far from overflow.
        max(1, Int64(min(max(milliseconds, 0), 86_400_000)) * 1_000_000 / factor)
    }
}

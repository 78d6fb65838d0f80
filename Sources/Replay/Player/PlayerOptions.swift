package import PhoneBridge
package import Report

/// How a player of either side goes about its script.
package struct PlayerOptions: Sendable {
    package var speed = StepSchedule.Speed.max
    /// What the target divides its durations by.
    package var timeScale: Double = 1
    /// What the target gets for each thing it has to do, in nanoseconds.
    package var patience: Int64 = 10_000_000_000
    /// Whether the target has to do everything in the recorded order.
    package var isStrict = false
    /// Put behind every id, where the target may still know those of another run.
    package var suffix = ""
    /// Whether a board can be made to send a command; for the app's player.
    package var canStimulate = false
    /// Whether an app can be brought into a state; for the board's player.
    package var canSetState = false
    package var contract = Contract.current
    /// What the session's rules file says; its `bind` rules tell which values flow.
    package var rules = ComparisonRules()

    package init() {}
}

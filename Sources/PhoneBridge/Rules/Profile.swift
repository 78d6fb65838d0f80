/// The numbers that the contract leaves open, as one target has them, and what counts for it
/// (command line, "Targets").
///
/// All durations are in milliseconds of the target's own time; `timeScale` says how fast that
/// runs. A profile never silences a departure from the contract: it turns it into a known
/// deviation, which reports list with its evidence.
package struct Profile: Sendable, Equatable {
    package var name: String
    /// Every duration of the target is divided by it, `timeout_ms` included.
    package var timeScale: Double = 1
    /// The ids of the rules rated L that count.
    package var countedRules: Set<String> = []
    /// Rules that the target's user waived.
    package var waivers: [Waiver] = []
    /// Departures from the contract that the target is known for, by rule id.
    package var deviations: [String: String] = [:]

    /// What measuring itself may add to any duration before it is held against a limit.
    package var slackMilliseconds: Int64 = 250
    /// The least that the board waits for the answer to a queued command.
    package var queueWaitMinimumMilliseconds: Int64 = 0
    /// The contract says "over 60 s"; looked at so often.
    package var heartbeatSweepMilliseconds: Int64 = 0
    /// How long a command stays handed out before the queue hands it out again; nil: unknown.
    package var inFlightMilliseconds: Int64?
    /// How long the queue's sweep may put its limits off.
    package var queueSweepMilliseconds: Int64 = 0
    /// How often a command in flight is handed out again; nil: unknown.
    package var maximumRedeliveries: Int?
    /// The life of a queued command, and how long a result is kept; nil: unknown.
    package var queueLifeMilliseconds: Int64?
    package var resultRetentionMilliseconds: Int64?
    /// How many commands a poll gets that names no limit, or no valid one; nil: unknown.
    package var defaultPollLimit: Int64?
    /// The bytes of a message that the board reads; nil: unknown.
    package var maximumMessageSize: Int64?

    /// How long the board may take to echo a heartbeat: three of the app's intervals.
    package var heartbeatEchoMilliseconds: Int64 = 15_000

    package init(name: String) { self.name = name }

    /// Milliseconds of the target's own time as nanoseconds of the session.
    package func nanoseconds(_ milliseconds: Int64) -> Int64 {
        let value = Double(milliseconds) * 1_000_000 / max(timeScale, 1e-9)
        return abs(value) < 9e18 ? Int64(value) : value < 0 ? .min : .max
    }

    /// `slackMilliseconds` in nanoseconds: it is of the recorder's time, and not scaled.
    package var slack: Int64 {
        let (product, overflow) = max(0, slackMilliseconds)
            .multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : product
    }

    /// Whether a breach counts: it is rated sure, or likely where the profile says so, and it is
    /// no known deviation.
    package func counts(_ breach: Breach) -> Bool {
        guard breach.knownDeviation == nil else { return false }
        return breach.rule.rating == .sure
            || breach.rule.rating == .likely && countedRules.contains(breach.rule.id)
    }

    /// Why breaches of a rule are listed and do not count, by rule id.
    ///
    /// - Parameter today: the day as `2026-12-31`; a waiver that ended before it holds no more.
    package func excuses(today: String?) -> [String: String] {
        var excuses = deviations
        for waiver in waivers {
            if let today, let until = waiver.until, until < today { continue }
            excuses[waiver.rule] = "waived: " + waiver.reason
        }
        return excuses
    }

    /// A rule that is not to count, with the reason and, in RFC 3339, until when.
    package struct Waiver: Sendable, Equatable {
        package var rule: String
        package var reason: String
        /// The last day, `2026-12-31`; nil for no end.
        package var until: String?

        package init(rule: String, reason: String, until: String? = nil) {
            self.rule = rule
            self.reason = reason
            self.until = until
        }
    }

    /// What the contract says, and nothing else.
    package static let contract = Profile(name: "contract")

    /// The board as observed (board facts).
    package static let board12: Profile = {
        var profile = Profile(name: "board-1.2")
        profile.queueWaitMinimumMilliseconds = 10_000
        profile.heartbeatSweepMilliseconds = 15_000
        profile.inFlightMilliseconds = 30_000
        profile.queueSweepMilliseconds = 60_000
        profile.maximumRedeliveries = 3
        profile.queueLifeMilliseconds = 300_000
        profile.resultRetentionMilliseconds = 120_000
        profile.defaultPollLimit = 10
        profile.maximumMessageSize = 32_768
        profile.deviations = [
            "http-missing-allow": "a 405 comes without Allow (board facts, \"Routes\")",
            "http-missing-upgrade":
                "a 426 to HTTP/1.0 comes without Upgrade (board facts, \"Handshake\")",
            "queue-result-handed-out":
                "a result is taken for a command that is still queued (seen in a capture)",
        ]
        return profile
    }()

    /// The profiles that come with the program.
    package static let builtIn: [Profile] = [.contract, .board12]
}

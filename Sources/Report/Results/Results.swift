package import Capture
package import PhoneBridge

/// What a command found out, whichever command it was: suites of cases, each with what was seen.
///
/// `check` makes a suite of each session and a case of each rule that was put to the test, so
/// that a clean report says what it looked at. Reports in any format are written from this.
package struct Results: Sendable, Equatable {
    /// The command that made them, such as `check`.
    package var command: String
    /// The program with its version, such as `bridgetap 0.1.0`.
    package var tool: String
    /// The target's profile, where one was used.
    package var profile: String?
    /// The rules that cases and findings may refer to, in a stable order.
    package var rules: [Rule]
    package var suites: [Suite]

    package init(
        command: String, tool: String, profile: String? = nil, rules: [Rule] = [],
        suites: [Suite] = []
    ) {
        self.command = command
        self.tool = tool
        self.profile = profile
        self.rules = rules
        self.suites = suites
    }

    /// How a case or a suite came out.
    package enum Outcome: String, Sendable, Equatable {
        case passed
        case failed
        /// It could not be found out: an input cannot be read, a target is not there.
        case error
        /// It was left out, or what was seen does not count.
        case skipped
    }

    /// What belongs together: a session, a target.
    package struct Suite: Sendable, Equatable {
        /// What people call it: a file as it was given.
        package var name: String
        /// The session's id; nil where it could not be read.
        package var session: String?
        /// When the session began, RFC 3339.
        package var startedAt: String?
        /// How long it took, in nanoseconds.
        package var duration: Int64 = 0
        /// Numbers that say how much was looked at, such as `events`.
        package var figures: [Figure] = []
        package var cases: [Case] = []

        package init(name: String) { self.name = name }

        /// The value of a figure; 0 where there is none of that name.
        package func figure(_ name: String) -> Int {
            figures.first { $0.name == name }?.value ?? 0
        }

        /// How many cases came out so.
        package func count(_ outcome: Outcome) -> Int {
            cases.reduce(0) { $0 + ($1.outcome == outcome ? 1 : 0) }
        }
    }

    /// A number with its name.
    package struct Figure: Sendable, Equatable {
        package var name: String
        package var value: Int

        package init(_ name: String, _ value: Int) {
            self.name = name
            self.value = value
        }
    }

    /// One thing that was held against its demand.
    package struct Case: Sendable, Equatable {
        /// The same from run to run: a rule's id, a command's id and ordinal.
        package var name: String
        /// The rule that it is about, where it is about one.
        package var rule: Rule?
        package var outcome: Outcome
        /// How often it was put to the test.
        package var exercised: Int
        /// What there is to say in one line, where it did not pass.
        package var message: String?
        /// How often each standing was met, those that are not kept included.
        package var tally = Tally()
        /// What was seen, in order; the first ones where there are very many.
        package var findings: [Finding] = []
        /// What it belongs to within its suite, such as the type of a command; nil for the suite
        /// itself.
        package var group: String?
        /// Lines that show why it came out so, where no findings do.
        package var details: [String] = []

        package init(
            name: String, rule: Rule? = nil, outcome: Outcome, exercised: Int = 0,
            message: String? = nil
        ) {
            self.name = name
            self.rule = rule
            self.outcome = outcome
            self.exercised = exercised
            self.message = message
        }
    }

    /// How many findings there are of each standing.
    package struct Tally: Sendable, Equatable {
        package var counted = 0
        package var excused = 0
        package var remarks = 0

        package init() {}

        package var total: Int { counted + excused + remarks }

        mutating func add(_ standing: Profile.Standing) {
            switch standing {
            case .counted: counted += 1
            case .excused: excused += 1
            case .remark: remarks += 1
            }
        }
    }

    /// One thing that was seen.
    package struct Finding: Sendable, Equatable {
        package var standing: Profile.Standing
        /// How sure it is that it is a fault; the evidence may be weaker than the rule.
        package var rating: Rule.Rating
        /// Whose doing it is.
        package var side: Side?
        /// The connection; 0 for none.
        package var conn: Int
        /// Nanoseconds since the session began.
        package var time: Int64
        /// The `seq` of the events that show it.
        package var events: [Int]
        /// Where those events stand, as far as it is known.
        package var places: [EventPlace]
        package var command: Breach.Command?
        /// What was seen and what was due, one sentence without a full stop.
        package var text: String
        /// The same for equal faults in every run; nil to make one of what was seen.
        package var fingerprint: String?

        package init(
            _ breach: Breach, standing: Profile.Standing, places: [EventPlace]
        ) {
            self.standing = standing
            rating = breach.rule.rating
            side = breach.side
            conn = breach.conn
            time = breach.time
            events = breach.events
            self.places = places
            command = breach.command
            text = breach.text
        }
    }
}

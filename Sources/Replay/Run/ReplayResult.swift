package import Capture
package import PhoneBridge
package import Report
import Wire

/// What came of playing one session: what took place, what did not, and how the two sessions
/// belong together.
package struct ReplayResult {
    /// Something that was to happen and did not, which belongs to no command, exchange or event.
    package struct LinkFailure: Sendable, Equatable {
        /// The event of the recording.
        package var seq: Int
        /// What was waited for, such as `opened` or `echo`.
        package var name: String
        /// The number of the WebSocket connection, from 1.
        package var link: Int
        /// One sentence without a full stop.
        package var text: String
    }

    package var script: ReplayScript
    package var states: [StepSchedule.State]
    /// What took place.
    package var live: DiffSession
    /// How both sessions belong together, with what was skipped and what failed.
    package var pairing: SessionPairing
    package var linkFailures: [LinkFailure] = []
    /// The lines of the live session's timeline, where they were kept.
    package var rows: SessionRows?
    /// What took place, as a session, where it was kept.
    package var session: SpooledOutput?
    /// Rules that the live session broke.
    package var breaches: [Breach] = []
    /// Whether the target ever answered.
    package var hasReachedTarget: Bool
    /// Nanoseconds that the play took.
    package var duration: Int64
    /// Whether the files of what took place hold all of it.
    package var isRecordComplete = true
    /// Why what took place could not be read for the comparison.
    package var trouble: OutputError?

    /// Makes the result of the app's side.
    package init(_ player: AppPlayer, live: LiveSession, duration: Int64) {
        self.init(
            player.script, player.schedule.states, player.liveIDs, [:], live, duration,
            player.hasReachedTarget)
    }

    /// Makes the result of the board's side.
    package init(_ player: BoardPlayer, live: LiveSession, duration: Int64) {
        self.init(
            player.script, player.schedule.states, player.liveIDs, player.values.live, live,
            duration, player.hasReachedTarget)
    }

    private init(
        _ script: ReplayScript, _ states: [StepSchedule.State], _ liveIDs: [Int: String],
        _ values: [String: String], _ live: LiveSession, _ duration: Int64,
        _ hasReachedTarget: Bool
    ) {
        self.script = script
        self.states = states
        self.live = live.session
        breaches = live.breaches
        rows = live.rows
        trouble = live.trouble
        self.duration = duration
        self.hasReachedTarget = hasReachedTarget
        pairing = SessionPairing(judged: script.role.peer, values: values)
        for (command, id) in liveIDs { pairing.commands[script.commands[command].id] = id }
        for link in script.links where !link.hasEnd {
            pairing.unexercised[link.beginSeq] = "the recording ended before the connection"
        }
        for (index, state) in states.enumerated() {
            switch state {
            case .skipped(let why): skipped(script.steps[index], why)
            case .failed(_, let why) where why != StepSchedule.noCause:
                failed(script.steps[index], why)
            case .failed, .done, .running, .waiting: break
            }
        }
    }

    private mutating func skipped(_ step: ReplayScript.Step, _ why: String) {
        switch step.kind {
        case .stimulate(let command), .arrival(let command), .command(let command, _, _),
            .offer(let command, _, _), .handedOut(let command), .answered(let command, _):
            // What did arrive by itself is there to be judged.
            guard pairing.commands[script.commands[command].id] == nil || !isThere(command) else {
                return
            }
            pairing.skipped[script.commands[command].id] = why
        case .appEvent: pairing.unexercised[step.seq] = why
        case .ended(let link), .end(let link, _), .opened(let link):
            pairing.unexercised[script.links[link].beginSeq] = why
        case .request(let exchange), .response(let exchange), .post(let exchange, _):
            pairing.unexercised[script.exchanges[exchange].seq] = why
        case .frame: self.script.unplayable.append((step.seq, why))
        case .send, .ping, .kept, .connect, .beat, .answer, .state, .treatPoll, .echo, .outcome,
            .pause:
            break
        }
    }

    /// Whether any sending of a command came about.
    private func isThere(_ command: Int) -> Bool {
        script.commands[command].arrivals.contains { step in
            if case .done = states[step] { true } else { false }
        }
    }

    private mutating func failed(_ step: ReplayScript.Step, _ why: String) {
        switch step.kind {
        case .outcome(let command):
            pairing.failures[script.commands[command].seq] = why
        case .response(let exchange): pairing.failures[script.exchanges[exchange].seq] = why
        case .opened(let link): fail(link, "opened", step, why)
        case .ended(let link): fail(link, "ended", step, why)
        case .echo(let link): fail(link, "echo", step, why)
        case .end(let link, _): fail(link, "end", step, why)
        case .kept(let link): fail(link, "kept", step, why)
        // These show as what is missing: a command, an answer, an event.
        case .arrival, .appEvent, .handedOut, .answered: break
        // Ours: what they rested on has been told.
        case .send, .ping, .frame, .connect, .beat, .answer, .request, .post, .stimulate,
            .command, .offer, .state, .treatPoll, .pause:
            break
        }
    }

    private mutating func fail(
        _ link: Int, _ name: String, _ step: ReplayScript.Step, _ why: String
    ) {
        // A connection that does not echo is told once.
        guard !linkFailures.contains(where: { $0.link == link + 1 && $0.name == name }) else {
            return
        }
        linkFailures.append(LinkFailure(seq: step.seq, name: name, link: link + 1, text: why))
    }
}

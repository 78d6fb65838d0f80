package import Capture
package import Network
package import Simulator

/// What may be done on the phone of an app under test.
package enum TargetEffects: String, Sendable, CaseIterable {
    /// No command that writes or opens anything.
    case none
    /// What is created is marked, and nothing else is changed or deleted.
    case own
    /// Everything.
    case all
}

/// How the target is moved by a command line or a request.
package enum TargetCall: Sendable, Equatable {
    case command(TargetTemplate)
    case request(TargetRequest)

    /// The places that it has.
    package var places: Set<TargetPlace> {
        switch self {
        case .command(let template): template.places
        case .request(let request): request.places
        }
    }
}

/// How a board is made to send a command.
package enum TargetStimulus: Sendable, Equatable {
    /// As the reference board is: `POST /simulate/command` to the board itself.
    case reference
    /// A command line gets the command's JSON on its standard input.
    case call(TargetCall)

    /// Reads `reference`, `exec:COMMAND` or `METHOD URL [BODY]`.
    package init(parsing text: String) throws(TargetTextError) {
        if text == "reference" {
            self = .reference
        } else if text.hasPrefix("exec:") {
            let command = String(text.dropFirst("exec:".count))
            guard command.contains(where: { !$0.isWhitespace }) else { throw .empty }
            self = .call(.command(try TargetTemplate(parsing: command)))
        } else {
            self = .call(.request(try TargetRequest(parsing: text, needed: .command)))
        }
    }
}

/// When a target that was started counts as ready.
package enum TargetReadiness: Sendable, Equatable {
    /// A board: when it accepts a connection. An app: it says so itself when it connects.
    case connection
    /// When a line of its output has this text in it.
    case text(String)
    /// When this file is there, and is not the one that was there before.
    case file(TargetTemplate)
}

/// How a fresh target comes to be.
package enum TargetLaunch: Sendable, Equatable {
    /// Somebody else keeps it running.
    case byOthers
    /// It runs as a child of this process.
    case spawn(TargetTemplate, ready: TargetReadiness)
    /// A command brings back a fresh one, and ends.
    case restart(TargetTemplate, ready: TargetReadiness)
}

/// The implementation under test: where it is, and how it is started, moved and ended.
package struct TargetOptions: Sendable, Equatable {
    /// How the link comes to be.
    package enum Reach: Sendable, Equatable {
        /// A board is tested: it is dialled there. Port 0 stands for any free one.
        case dial(WebSocketURL)
        /// An app is tested: it comes to this address. Port 0 stands for any free one.
        case listen(Endpoint)
    }

    package var reach: Reach
    package var launch = TargetLaunch.byOthers
    /// How a board is made to send a command; nil to look whether it is a reference board.
    package var stimulus: TargetStimulus?
    /// Prints what the target's process takes (`ProbeAnswer`); nil where its group is looked at.
    package var probe: TargetTemplate?
    /// Runs before the target is started.
    package var before: TargetTemplate?
    /// Runs after the target has ended.
    package var after: TargetTemplate?
    /// Brings an app into a state.
    package var onState: TargetCall?
    /// What was asked for; nil where nothing was.
    package var effects: TargetEffects?
    /// How long a target may take to be ready, in nanoseconds.
    package var readyTime = 30 * nanosecondsPerSecond
    /// How long a hook may take, in nanoseconds.
    package var hookTime = 60 * nanosecondsPerSecond

    package init(_ reach: Reach) {
        self.reach = reach
    }

    /// The side that is played against the target.
    package var played: Side {
        switch reach {
        case .dial: .app
        case .listen: .board
        }
    }

    /// Whether the target is a child of this process.
    package var isSpawned: Bool {
        if case .spawn = launch { true } else { false }
    }

    /// What may be done on the phone: as asked for, or everything where no real phone can be hurt,
    /// or nothing.
    package func effects(isReferencePeer: Bool) -> TargetEffects {
        effects ?? (isSpawned || isReferencePeer ? .all : .none)
    }

    /// Whether programs have to be run for it.
    var runsPrograms: Bool {
        if launch != .byOthers || before != nil || after != nil { return true }
        if case .command? = onState { return true }
        if case .call(.command)? = stimulus { return true }
        return false
    }

    /// Whether somebody wants to know the port for control.
    var usesControl: Bool {
        if runsPrograms || onState?.places.contains(.control) == true { return true }
        if case .call(let call)? = stimulus { return call.places.contains(.control) }
        return false
    }
}

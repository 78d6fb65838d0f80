import Capture
import PhoneBridge
import Report
package import Wire

/// Plays the app's side of a script against a live board: a pure machine over whole messages,
/// whole exchanges and time.
///
/// All times are nanoseconds of one monotonic clock.
package struct AppPlayer {
    /// What the owner has to do.
    package enum Action: Equatable, Sendable {
        case connect(link: Int)
        case send(link: Int, Opcode, Bytes)
        case ping(link: Int, Bytes)
        /// Sends a frame as it is, to the byte.
        case frame(link: Int, Bytes)
        case end(link: Int, ReplayScript.Ending)
        /// Sends a request on the connection of an exchange; `target` and `body` as they go out.
        case request(exchange: Int, target: String, body: Bytes)
        /// Puts a command into the queue, by a request of our own.
        case enqueue(command: Int, before: Int, Bytes)
        /// Has the board send a command; the call may take so long.
        case stimulate(command: Int, JSON, timeout: Int64)
        /// The board's own side got this for a command.
        case note(command: Int, JSON)
    }

    package let script: ReplayScript
    package private(set) var schedule: StepSchedule
    private let options: PlayerOptions
    /// Recorded commands by their live ids.
    private var commandOfLive: [String: Int] = [:]
    /// Live ids of recorded commands that have been seen.
    package private(set) var liveIDs: [Int: String] = [:]
    /// Commands that were stimulated and have not arrived, in that order.
    private var expected: [Int] = []
    /// Recorded commands by their recorded ids.
    private let numbers: [String: Int]
    private var openLinks: Set<Int> = []
    /// Values that the rules file ties together.
    private var bound: BoundValues
    /// Per link: the last beat, or the opening, and when that was.
    private var lastBeat: [Int: (step: Int, time: Int64, content: Bytes?)] = [:]
    /// Beats and openings behind which the recorded app was silent.
    private let silences: Set<Int>
    /// The first beat of each link.
    private let firstBeats: [Int: Bytes]
    /// Steps of the peer that are still to come, by what they are about.
    private var echoes: [Int: ArraySlice<Int>] = [:]
    private var outcomes: [Int: [Int]] = [:]
    private var ends: [Int: Int] = [:]
    private var openings: [Int: Int] = [:]
    private var responses: [Int: Int] = [:]
    /// Enqueue requests that a poll waits for, by its step.
    private var enqueuing: [Int: Int] = [:]
    private var nextRepeat: Int64?
    /// Whether anything ever answered.
    package private(set) var hasReachedTarget = false
    /// Why the first connection could not be made.
    package private(set) var firstTrouble: String?

    /// How long a queue is given before it is asked again, in nanoseconds.
    private static let repeatInterval: Int64 = 200_000_000

    package init(_ script: ReplayScript, options: PlayerOptions) {
        self.script = script
        self.options = options
        bound = BoundValues(options.rules)
        schedule = StepSchedule(
            script, speed: options.speed, timeScale: options.timeScale,
            patience: options.patience, isStrict: options.isStrict)
        var silences: Set<Int> = []
        var firstBeats: [Int: Bytes] = [:]
        for (index, step) in script.steps.enumerated() {
            switch step.kind {
            case .beat(let link, let content):
                if firstBeats[link] == nil { firstBeats[link] = content }
                if let wait = step.wait { silences.insert(wait.after) }
            case .pause: if let wait = step.wait { silences.insert(wait.after) }
            case .ended(let link):
                if let wait = step.wait { silences.insert(wait.after) }
                ends[link] = index
            case .echo(let link): echoes[link, default: []].append(index)
            case .outcome(let command): outcomes[command, default: []].append(index)
            case .opened(let link): openings[link] = index
            case .response(let exchange): responses[exchange] = index
            default: break
            }
        }
        self.silences = silences
        self.firstBeats = firstBeats
        numbers = Dictionary(
            script.commands.enumerated().map { ($0.element.id, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Begins.
    package mutating func start(at now: Int64) -> [Action] {
        schedule.begin(at: now)
        return proceed(at: now)
    }

    /// Whether the script has come to its end.
    package var isFinished: Bool { schedule.isFinished }

    /// When `deadlineReached` wants to be called; nil for never.
    package var nextDeadline: Int64? {
        var earliest = Self.earlier(schedule.nextDeadline, nextRepeat)
        for link in openLinks { earliest = Self.earlier(earliest, nextBeat(of: link)) }
        return earliest
    }

    private static func earlier(_ left: Int64?, _ right: Int64?) -> Int64? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    /// The time of `nextDeadline` has come.
    package mutating func deadlineReached(at now: Int64) -> [Action] {
        var actions: [Action] = []
        for link in openLinks.sorted() {
            guard let due = nextBeat(of: link), due <= now, let last = lastBeat[link],
                let content = last.content ?? firstBeats[link]
            else { continue }
            // The recorded app went on beating while something else was waited for.
            lastBeat[link]?.time = now
            actions.append(.send(link: link, .text, content))
        }
        return actions + proceed(at: now)
    }

    /// When a link is to be kept alive; nil where the recorded app was silent.
    private func nextBeat(of link: Int) -> Int64? {
        guard firstBeats[link] != nil, let last = lastBeat[link], !silences.contains(last.step)
        else { return nil }
        let interval = Double(options.contract.timing.heartbeatIntervalMilliseconds) * 1e6
        return last.time + Int64(interval / max(1, options.timeScale))
    }

    // MARK: Steps

    private mutating func proceed(at now: Int64) -> [Action] {
        var actions: [Action] = []
        while let turn = schedule.next(at: now) {
            switch turn {
            case .act(let step): perform(step, at: now, &actions)
            case .overdue(let step): schedule.fail(step, overdue(step), at: now)
            case .finished: return actions
            }
        }
        repeatPoll(at: now, &actions)
        return actions
    }

    private mutating func perform(_ index: Int, at now: Int64, _ actions: inout [Action]) {
        let step = script.steps[index]
        switch step.kind {
        case .connect(let link):
            actions.append(.connect(link: link))
        case .send(let link, let opcode, let content):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            actions.append(.send(link: link, opcode, live(event: content)))
        case .beat(let link, let content):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            actions.append(.send(link: link, .text, content))
            lastBeat[link] = (index, now, content)
        case .ping(let link, let payload):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            actions.append(.ping(link: link, payload))
        case .frame(let link, let bytes):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            actions.append(.frame(link: link, bytes))
        case .kept(let link):
            guard openLinks.contains(link) else {
                return schedule.fail(
                    index, "the board ended the connection behind a broken frame", at: now)
            }
        case .end(let link, let how):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            actions.append(.end(link: link, how))
        case .answer(let command, let link, let content):
            guard openLinks.contains(link) else { return gone(index, at: now) }
            let id = liveID(of: command)
            actions.append(
                .send(
                    link: link, .text,
                    MessageEdit.replacingID(in: live(content, of: command), with: id)))
        case .request(let exchange):
            guard enqueue(before: exchange, index, &actions) else { return }
            actions.append(request(exchange))
        case .post(let exchange, _):
            actions.append(request(exchange))
        case .stimulate(let command):
            guard options.canStimulate else {
                return schedule.skip(index, Self.noStimulus)
            }
            stimulate(command, &actions)
        case .pause: break
        case .command, .offer, .state, .treatPoll, .opened, .ended, .arrival, .response, .echo,
            .outcome, .appEvent, .handedOut, .answered:
            // These are the board's, or the peer's: no script of the app has them as our part.
            return schedule.skip(index, "not the app's to do")
        }
        schedule.done(index, at: now)
    }

    /// Why a command of the board's own cannot be asked for.
    package static let noStimulus = "the board sent it on its own, and there is no --stimulus"

    private mutating func gone(_ index: Int, at now: Int64) {
        schedule.fail(index, "the connection was gone", at: now)
    }

    private func overdue(_ index: Int) -> String {
        let seconds = max(1, options.patience / 1_000_000_000)
        return switch script.steps[index].kind {
        case .opened: "no answer to the handshake within \(seconds) s"
        case .ended: "the board did not end the connection"
        case .arrival: "the board did not send it"
        case .response: "no response within \(seconds) s"
        case .echo: "the heartbeat was not echoed within \(seconds) s"
        case .outcome(let command):
            "the board had not ended the command "
                + "\(script.commands[command].timeout / 1_000_000) ms after it was sent, "
                + "nor \(seconds) s later"
        default: "did not happen within \(seconds) s"
        }
    }

    // MARK: Ids

    /// The id that a command has on the live link.
    private mutating func liveID(of command: Int) -> String {
        if let id = liveIDs[command] { return id }
        let id = script.commands[command].id + options.suffix
        bind(command, to: id)
        return id
    }

    private mutating func bind(_ command: Int, to id: String) {
        liveIDs[command] = id
        commandOfLive[id] = command
    }

    // MARK: Values

    /// An answer with the live values that the rules file ties to recorded ones.
    private func live(_ answer: Bytes, of command: Int) -> Bytes {
        bound.filled(answer, as: "result", of: script.commands[command].type)
    }

    /// The same for an event of the app.
    private func live(event content: Bytes) -> Bytes {
        guard !bound.isEmpty, let value = try? JSON(parsing: content),
            let name = value["method"]?.stringValue ?? value["id"]?.stringValue
        else { return content }
        return bound.filled(content, as: "event", of: name)
    }

    /// A command as the board is to send it: under its live id, with live values.
    private mutating func content(of command: Int) -> Bytes {
        let recorded = script.commands[command]
        return MessageEdit.replacingID(
            in: bound.filled(recorded.content, as: "command", of: recorded.type),
            with: liveID(of: command))
    }

    // MARK: Requests

    /// Puts what the queue has to hold into it; false where the request has to wait for that.
    private mutating func enqueue(
        before exchange: Int, _ index: Int, _ actions: inout [Action]
    ) -> Bool {
        let commands = script.exchanges[exchange].enqueuesFirst
        guard !commands.isEmpty, enqueuing[index] == nil else { return true }
        enqueuing[index] = commands.count
        for command in commands {
            actions.append(
                .enqueue(
                    command: command, before: index,
                    Bytes(#"{"command":"#.utf8) + content(of: command) + Bytes("}".utf8)))
        }
        return false
    }

    /// A request of our own that put a command into the queue was answered.
    package mutating func enqueued(
        command: Int, before index: Int, status: Int?, at now: Int64
    ) -> [Action] {
        var actions: [Action] = []
        if let status, !(200..<300).contains(status) {
            // The arrival tells; waiting for it would be in vain.
            failArrivals(of: command, "the board's queue refused it with \(status)", at: now)
        }
        guard let left = enqueuing[index] else { return [] }
        enqueuing[index] = left - 1
        if left == 1, case .request(let exchange) = script.steps[index].kind {
            actions.append(request(exchange))
            schedule.done(index, at: now)
        }
        return actions + proceed(at: now)
    }

    /// The request of an exchange, under the live ids.
    private mutating func request(_ exchange: Int) -> Action {
        let recorded = script.exchanges[exchange]
        var target = recorded.request.target
        var body = recorded.request.wholeBody
        switch recorded.route {
        case .query(let id)?:
            if let command = numbers[id] {
                let live = liveID(of: command)
                if live != id {
                    target = options.contract.paths.results + "/" + PercentText.encode(live)
                }
            }
        case .result?:
            if let id = (try? JSON(parsing: body))?["id"]?.stringValue,
                let command = numbers[id]
            {
                body = MessageEdit.replacingID(
                    in: live(body, of: command), with: liveID(of: command))
            }
        case .enqueue?:
            if let value = try? JSON(parsing: body), let inner = value["command"],
                let id = inner["id"]?.stringValue, let command = numbers[id]
            {
                let live = liveID(of: command)
                if live != id { body = MessageEdit.replacingCommandID(in: body, with: live) }
            }
        default: break
        }
        return .request(exchange: exchange, target: target, body: body)
    }

    /// Asks the queue again while a command that it should hand out has not come.
    private mutating func repeatPoll(at now: Int64, _ actions: inout [Action]) {
        guard let exchange = waitingPoll else {
            nextRepeat = nil
            return
        }
        guard let due = nextRepeat else {
            nextRepeat = now + Self.repeatInterval
            return
        }
        guard due <= now else { return }
        nextRepeat = now + Self.repeatInterval
        actions.append(request(exchange))
    }

    /// The poll that should have brought the command which all wait for.
    private var waitingPoll: Int? {
        guard let step = schedule.awaited, case .arrival(let command) = script.steps[step].kind,
            script.commands[command].route == .queue
        else { return nil }
        return script.exchanges.lastIndex { $0.handsOut.contains(command) }
    }

    // MARK: Stimulus

    private mutating func stimulate(_ command: Int, _ actions: inout [Action]) {
        // The board adds the phone's id itself.
        let content = MessageEdit.removing("phone_id", from: content(of: command))
        guard let value = try? JSON(parsing: content) else { return }
        expected.append(command)
        let timeout =
            Int64(Double(script.commands[command].timeout) / max(1, options.timeScale))
            + 2 * options.patience
        actions.append(.stimulate(command: command, value, timeout: timeout))
    }

    /// The stimulus of a command has ended: with what the board made of it, with nil where it
    /// does not tell, or with why it failed.
    package mutating func stimulusEnded(
        command: Int, _ result: Result<JSON?, StimulusFailure>, at now: Int64
    ) -> [Action] {
        var actions: [Action] = []
        let step = outcomes[command]?.first
        switch result {
        case .success(let outcome?):
            actions.append(.note(command: command, outcome))
            if let step {
                outcomes[command]?.removeFirst()
                schedule.done(step, at: now)
            }
            // What ended before it was sent is not sent any more.
            if let code = outcome["error"]?["code"]?.stringValue {
                failNextArrival(of: command, "the board did not send it: \(code)", at: now)
            }
        case .success(nil):
            if let step {
                outcomes[command]?.removeFirst()
                schedule.skip(step, "the stimulus does not tell how a command ended")
            }
        case .failure(let failure):
            if let step {
                outcomes[command]?.removeFirst()
                schedule.skip(step, failure.text)
            }
            for arrival in script.commands[command].arrivals
            where !schedule.states[arrival].isOver {
                schedule.skip(arrival, failure.text)
            }
        }
        return actions + proceed(at: now)
    }

    private mutating func failNextArrival(of command: Int, _ why: String, at now: Int64) {
        guard
            let step = script.commands[command].arrivals.first(where: {
                !schedule.states[$0].isOver
            }), step <= (schedule.awaited ?? -1)
        else { return }
        schedule.fail(step, why, at: now)
    }

    private mutating func failArrivals(of command: Int, _ why: String, at now: Int64) {
        for step in script.commands[command].arrivals where !schedule.states[step].isOver {
            schedule.fail(step, why, at: now)
        }
    }

    // MARK: What the board does

    /// A handshake was answered with 101.
    package mutating func linkOpened(_ link: Int, at now: Int64) -> [Action] {
        hasReachedTarget = true
        openLinks.insert(link)
        if let step = openings[link] {
            lastBeat[link] = (step, now, nil)
            if script.links[link].isAccepted {
                schedule.done(step, at: now)
            } else {
                schedule.fail(step, "the board accepted the connection now", at: now)
            }
        }
        return proceed(at: now)
    }

    /// A handshake was answered with something else than 101, or not at all.
    package mutating func linkRefused(
        _ link: Int, status: Int?, _ why: String, at now: Int64
    ) -> [Action] {
        if status != nil {
            hasReachedTarget = true
        } else if firstTrouble == nil {
            firstTrouble = why
        }
        if let step = openings[link] {
            if let status, script.links[link].response?.status == status {
                schedule.done(step, at: now)
            } else {
                schedule.fail(step, why, at: now)
            }
        }
        return proceed(at: now)
    }

    /// A whole message came.
    package mutating func message(_ content: Bytes, on link: Int, at now: Int64) -> [Action] {
        guard let value = try? JSON(parsing: content), let id = value["id"]?.stringValue else {
            return []
        }
        if value["type"]?.stringValue != nil {
            arrived(id, value, route: .websocket, at: now)
        } else if options.contract.isHeartbeat(id), let step = echoes[link]?.popFirst() {
            schedule.done(step, at: now)
        }
        return proceed(at: now)
    }

    /// A connection is over.
    package mutating func linkClosed(_ link: Int, at now: Int64) -> [Action] {
        openLinks.remove(link)
        for step in echoes.removeValue(forKey: link) ?? [] {
            schedule.fail(step, "the connection ended before the echo", at: now)
        }
        if let step = ends[link] { schedule.done(step, at: now) }
        return proceed(at: now)
    }

    /// A response came, or nil where none did and why.
    package mutating func response(
        _ exchange: Int, status: Int?, body: Bytes, _ why: String, at now: Int64
    ) -> [Action] {
        if status != nil {
            hasReachedTarget = true
        } else if firstTrouble == nil {
            firstTrouble = why
        }
        if let step = responses.removeValue(forKey: exchange) {
            if status == nil {
                schedule.fail(step, why, at: now)
            } else {
                schedule.done(step, at: now)
            }
        }
        if case .poll? = script.exchanges[exchange].route, let value = try? JSON(parsing: body) {
            for command in value.elements ?? value["commands"]?.elements ?? [] {
                guard let id = command["id"]?.stringValue else { continue }
                arrived(id, command, route: .queue, at: now)
            }
        }
        return proceed(at: now)
    }

    /// A command reached us.
    private mutating func arrived(_ id: String, _ value: JSON, route: Route, at now: Int64) {
        guard let command = commandOfLive[id] ?? match(value) else { return }
        bind(command, to: id)
        if bound.binds(script.commands[command].type),
            let recorded = try? JSON(parsing: script.commands[command].content)
        {
            bound.learn(recorded, value, as: "command", of: script.commands[command].type)
        }
        expected.removeAll { $0 == command }
        guard
            let step = script.commands[command].arrivals.first(where: { schedule.mayHappen($0) })
        else { return }
        schedule.done(step, at: now)
    }

    /// The recorded command that a live one under an unknown id is: one that asks for the same, or
    /// the only one of its type that is being waited for.
    private func match(_ value: JSON) -> Int? {
        guard let type = value["type"]?.stringValue else { return nil }
        let content = Self.content(value)
        let candidates =
            expected
            + script.commands.indices.filter {
                !expected.contains($0) && liveIDs[$0] == nil
            }
        if let same = candidates.first(where: { candidate in
            guard let recorded = try? JSON(parsing: script.commands[candidate].content) else {
                return false
            }
            return Self.content(recorded).isEquivalent(to: content)
        }) {
            return same
        }
        let waiting = expected.filter { script.commands[$0].type == type }
        return waiting.count == 1 ? waiting.first : nil
    }

    /// What a command asks for, without what tells it from another.
    private static func content(_ value: JSON) -> JSON {
        .object((value.members ?? []).filter { $0.name != "id" && $0.name != "phone_id" })
    }
}

/// Why a board could not be made to send a command.
package struct StimulusFailure: Error, Equatable, Sendable {
    /// A sentence without a full stop.
    package var text: String

    package init(_ text: String) { self.text = text }
}

import Capture
package import PhoneBridge
import Report
package import Wire

/// Plays the board's side of a script against a live app: a pure machine over whole messages,
/// whole requests and time.
///
/// An app does what it likes when it likes: it polls, beats and reconnects at its own pace. Those
/// are answered as they come; what the script knows of is waited for.
package struct BoardPlayer {
    /// A live WebSocket connection, as its owner names it.
    package typealias LinkID = Int
    /// A request that waits for its answer.
    package typealias ExchangeID = Int

    /// What the owner has to do.
    package enum Action: Equatable, Sendable {
        case respond(ExchangeID, HTTPMessage)
        /// Lets a request hang.
        case ignore(ExchangeID)
        /// Ends a request's connection instead of an answer.
        case cutOff(ExchangeID)
        /// Accepts an upgrade; the link gets the number of the exchange.
        case accept(ExchangeID, compresses: Bool, framing: MessageWriter.Framing)
        case send(LinkID, Opcode, Bytes)
        case ping(LinkID, Bytes)
        /// Sends a frame as it is, to the byte.
        case frame(LinkID, Bytes)
        case end(LinkID, ReplayScript.Ending)
        case setState(step: Int, String)
    }

    package let script: ReplayScript
    package private(set) var schedule: StepSchedule
    private let options: PlayerOptions
    private var commandOfLive: [String: Int] = [:]
    /// Live ids of recorded commands that were sent.
    package private(set) var liveIDs: [Int: String] = [:]
    /// Values that answers brought into being: recorded to live.
    package private(set) var values = ValueBinding()
    /// Values that the rules file ties together.
    private var bound: BoundValues
    /// What lets commands out to the phone.
    package private(set) var gate: EffectGate

    /// Live links of the script's.
    private var liveLinks: [Int: LinkID] = [:]
    private var openLinks: [LinkID] = []
    /// The phone's id, as the last connection said.
    private var phoneID: String?
    /// How many beats of a script's link were echoed.
    private var echoed: [LinkID: Int] = [:]
    private var scriptLinks: [LinkID: Int] = [:]
    private var offers: [(command: Int, content: Bytes, state: String?)] = []
    private var treatments: [Int] = []
    /// Why what needs a state cannot be put to the test, while that holds.
    private var unreached: String?
    /// Whether an app ever came.
    package var hasReachedTarget: Bool { !scriptLinks.isEmpty || hasHeard }
    private var hasHeard = false

    private var openings: [Int] = []
    private var events: [(step: Int, link: Int, name: String)] = []
    private var answers: [Int: [Int]] = [:]
    private var handings: [Int: [Int]] = [:]
    private var ends: [Int: Int] = [:]
    /// The commands that broken frames carry, by their steps.
    private var carried: [Int: Int] = [:]

    /// - Parameter gate: what lets commands out to the phone.
    package init(
        _ script: ReplayScript, options: PlayerOptions, gate: EffectGate = EffectGate(level: .all)
    ) {
        self.script = script
        self.options = options
        self.gate = gate
        bound = BoundValues(options.rules)
        schedule = StepSchedule(
            script, speed: options.speed, timeScale: options.timeScale,
            patience: options.patience, isStrict: options.isStrict)
        for (index, step) in script.steps.enumerated() {
            switch step.kind {
            case .opened: openings.append(index)
            case .appEvent(let link, let name): events.append((index, link, name))
            case .answered(let command, _): answers[command, default: []].append(index)
            case .handedOut(let command): handings[command, default: []].append(index)
            case .ended(let link): ends[link] = index
            default: break
            }
        }
        for (number, command) in script.commands.enumerated() {
            for step in command.arrivals {
                guard script.steps.indices.contains(step), case .frame = script.steps[step].kind
                else { continue }
                carried[step] = number
            }
        }
    }

    package mutating func start(at now: Int64) -> [Action] {
        schedule.begin(at: now)
        return proceed(at: now)
    }

    package var isFinished: Bool { schedule.isFinished }

    /// When `deadlineReached` wants to be called; nil for never.
    package var nextDeadline: Int64? { schedule.nextDeadline }

    package mutating func deadlineReached(at now: Int64) -> [Action] {
        proceed(at: now)
    }

    // MARK: Steps

    private mutating func proceed(at now: Int64) -> [Action] {
        var actions: [Action] = []
        while let turn = schedule.next(at: now) {
            switch turn {
            case .act(let step): perform(step, at: now, &actions)
            case .overdue(let step): overdue(step, at: now)
            case .finished: return actions
            }
        }
        return actions
    }

    private mutating func perform(_ index: Int, at now: Int64, _ actions: inout [Action]) {
        switch script.steps[index].kind {
        case .command(let command, let link, let content):
            guard let live = live(link) else { return gone(index, command, at: now) }
            switch gate.pass(outgoing(command, content)) {
            case .refused(let why): return refuse(index, command, why)
            case .allowed(let message):
                name(command)
                actions.append(.send(live, .text, message))
            }
        case .offer(let command, let content, let state):
            // It is let out when it is fetched; here it is only asked whether it would be.
            var question = gate
            let message = outgoing(command, content)
            if case .refused(let why) = question.pass(message) {
                return refuse(index, command, why)
            }
            name(command)
            offers.append((command, message, state))
        case .send(let link, let opcode, let content):
            guard let live = live(link) else {
                return schedule.fail(index, Self.isGone, at: now)
            }
            switch gate.pass(content) {
            case .refused(let why): return schedule.skip(index, why)
            case .allowed(let message): actions.append(.send(live, opcode, message))
            }
        case .ping(let link, let payload):
            guard let live = live(link) else {
                return schedule.fail(index, Self.isGone, at: now)
            }
            actions.append(.ping(live, payload))
        case .frame(let link, let bytes):
            if case .refused(let why) = gate.pass(brokenFrame: bytes) {
                return refuse(frame: index, on: link, why)
            }
            guard let live = live(link) else {
                return schedule.fail(index, Self.isGone, at: now)
            }
            if let command = carried[index] {
                // As it was recorded, with its id.
                name(command, script.commands[command].id)
            }
            actions.append(.frame(live, bytes))
        case .kept(let link):
            guard let own = liveLinks[link], openLinks.contains(own) else {
                return schedule.fail(
                    index, "the app ended the connection behind a broken frame", at: now)
            }
        case .end(let link, let how):
            guard let live = live(link) else {
                return schedule.fail(index, Self.isGone, at: now)
            }
            actions.append(.end(live, how))
        case .state(let word):
            unreached = nil
            guard options.canSetState else {
                schedule.skip(index, Self.noState(word))
                // Permissions show in the answers; a state may still come about by itself.
                if !word.contains("=") { unreached = Self.noState(word) }
                return
            }
            // It is over when the hook is.
            actions.append(.setState(step: index, word))
            return
        case .treatPoll(let exchange):
            treatments.append(exchange)
        case .pause: break
        case .connect, .beat, .answer, .request, .post, .stimulate, .opened, .ended,
            .arrival, .response, .echo, .outcome, .appEvent, .handedOut, .answered:
            return schedule.skip(index, "not the board's to do")
        }
        schedule.done(index, at: now)
    }

    private static let isGone = "the connection was gone"

    private static func noState(_ word: String) -> String {
        "nothing brings the app into the state \"\(word)\" (--on-state)"
    }

    private mutating func gone(_ index: Int, _ command: Int, at now: Int64) {
        schedule.fail(index, Self.isGone, at: now)
        for step in answers[command] ?? [] where !schedule.states[step].isOver {
            schedule.fail(step, "the command could not be sent: \(Self.isGone)", at: now)
        }
    }

    /// A command is kept from the phone, and what hangs on it cannot be put to the test.
    private mutating func refuse(_ index: Int, _ command: Int, _ why: String) {
        schedule.skip(index, why)
        for step in (answers[command] ?? []) + (handings[command] ?? []) {
            schedule.skip(step, why)
        }
    }

    /// A broken frame is kept from the phone: what the app made of it cannot be put to the test.
    private mutating func refuse(frame index: Int, on link: Int, _ why: String) {
        schedule.skip(index, why)
        if let command = carried[index] { refuse(index, command, why) }
        var next: Int?
        for step in (index + 1)..<script.steps.count {
            switch script.steps[step].kind {
            case .kept(link): schedule.skip(step, why)
            case .ended(link):
                // The app stays, and does not come again.
                schedule.skip(step, why)
                next = openings.first { $0 > step }
            case .opened(let other) where step == next:
                schedule.skip(step, why)
                openings.removeAll { $0 == step }
                for event in events where event.link == other { schedule.skip(event.step, why) }
                return
            default: break
            }
        }
    }

    private mutating func overdue(_ index: Int, at now: Int64) {
        // Nobody could bring the app there: one wait is enough to see that it does not go itself.
        if let unreached {
            return skipWhatNeeds(unreached, from: index, at: now)
        }
        schedule.fail(index, text(ofOverdue: index), at: now)
    }

    /// Leaves out what the app would have done in a state that it is not in, up to the next one.
    private mutating func skipWhatNeeds(_ why: String, from index: Int, at now: Int64) {
        for step in index..<script.steps.count {
            switch script.steps[step].kind {
            case .state(let word) where !word.contains("="): return
            case .appEvent, .handedOut, .ended, .opened: schedule.skip(step, why)
            case .offer(let command, _, _):
                schedule.skip(step, why)
                for answer in answers[command] ?? [] { schedule.skip(answer, why) }
            case .answered(let command, _):
                if offers.contains(where: { $0.command == command }) { schedule.skip(step, why) }
            default: break
            }
        }
        offers = []
    }

    private func text(ofOverdue index: Int) -> String {
        let seconds = max(1, options.patience / 1_000_000_000)
        return switch script.steps[index].kind {
        case .opened: "the app did not connect"
        case .ended: "the app did not end the connection"
        case .appEvent(_, let name): "the app did not send \(name) within \(seconds) s"
        case .handedOut(let command):
            "no poll of the app fetched it within \(seconds) s"
                + (offers.first { $0.command == command }?.state.map { " in the state \"\($0)\"" }
                    ?? "")
        case .answered(let command, _):
            "no answer within \(script.commands[command].timeout / 1_000_000) ms, "
                + "nor \(seconds) s later"
        default: "did not happen within \(seconds) s"
        }
    }

    /// The live link that stands for one of the script's: its own, or the newest where that is
    /// gone and the app has come back by itself.
    private func live(_ link: Int) -> LinkID? {
        if let own = liveLinks[link], openLinks.contains(own) { return own }
        return openLinks.last
    }

    // MARK: Commands

    /// A command as it goes out: under its live id, to this phone, with live values.
    private func outgoing(_ command: Int, _ content: Bytes) -> Bytes {
        let recorded = script.commands[command]
        var message = MessageEdit.replacingID(
            in: bound.filled(content, as: "command", of: recorded.type),
            with: recorded.id + options.suffix)
        if let phoneID {
            message = MessageEdit.replacing("phone_id", in: message, with: phoneID)
        }
        if let used = options.contract.command(named: recorded.type)?.usedID {
            message = MessageEdit.replacingPayload(used, in: message) { values[$0] }
        }
        return message
    }

    private mutating func name(_ command: Int, _ liveID: String? = nil) {
        let id = liveID ?? script.commands[command].id + options.suffix
        liveIDs[command] = id
        commandOfLive[id] = command
    }

    // MARK: Requests

    /// A whole request came.
    package mutating func request(
        _ message: HTTPMessage, _ exchange: ExchangeID, wall: Int64, at now: Int64
    ) -> [Action] {
        hasHeard = true
        gate.heard(message.body)
        let route = HTTPRoute(
            method: message.head.method ?? "", target: message.head.target ?? "",
            paths: options.contract.paths)
        var actions: [Action] = []
        switch route {
        case .connect? where message.head.isUpgradeToWebSocket:
            upgrade(message, exchange, at: now, &actions)
        case .poll?: poll(message, exchange, wall: wall, at: now, &actions)
        case .result?: result(message.body, exchange, at: now, &actions)
        case .status?: actions.append(.respond(exchange, status))
        case .connect?:
            actions.append(
                .respond(exchange, .plainText(426, "WebSocket protocol violation: not an upgrade")))
        case .enqueue?, .query?, nil:
            actions.append(.respond(exchange, .plainText(404, "404 page not found")))
        }
        return actions + proceed(at: now)
    }

    private mutating func upgrade(
        _ message: HTTPMessage, _ exchange: ExchangeID, at now: Int64, _ actions: inout [Action]
    ) {
        let target = PhoneBridge.RequestTarget(message.head.target ?? "")
        phoneID = target[options.contract.poll.phoneID]
        let step = openings.isEmpty ? nil : openings.removeFirst()
        var link: Int?
        if let step, case .opened(let number) = script.steps[step].kind { link = number }
        let recorded = link.map { script.links[$0] } ?? script.links.last
        if let response = link.flatMap({ script.links[$0].response }), response.status != 101 {
            actions.append(.respond(exchange, Self.message(response)))
            if let step { schedule.done(step, at: now) }
            return
        }
        let compresses =
            recorded?.response?.headers.contains {
                $0.isNamed("Sec-WebSocket-Extensions")
            } ?? false
        actions.append(
            .accept(
                exchange, compresses: compresses, framing: recorded?.framing ?? .whole))
        openLinks.append(exchange)
        if let link {
            liveLinks[link] = exchange
            scriptLinks[exchange] = link
        }
        if let step { schedule.done(step, at: now) }
    }

    private mutating func poll(
        _ message: HTTPMessage, _ exchange: ExchangeID, wall: Int64, at now: Int64,
        _ actions: inout [Action]
    ) {
        if !treatments.isEmpty {
            let treated = script.exchanges[treatments.removeFirst()]
            if let response = treated.response {
                actions.append(.respond(exchange, Self.message(response)))
            } else {
                actions.append(treated.isCutOff ? .cutOff(exchange) : .ignore(exchange))
            }
            return
        }
        let text = message.head.target ?? ""
        let told = ScriptReading.state(ofPoll: text, options.contract)
        let target = PhoneBridge.RequestTarget(text)
        let wished = target[options.contract.poll.limit].flatMap { Int64($0) }
        let limit =
            wished.flatMap { options.contract.poll.limits.contains($0) ? $0 : nil }
            ?? options.contract.poll.defaultLimit
        var handed: [JSON] = []
        var left: [(command: Int, content: Bytes, state: String?)] = []
        for offer in offers {
            guard handed.count < Int(limit), offer.state == nil || offer.state == told,
                let value = try? JSON(parsing: offer.content)
            else {
                left.append(offer)
                continue
            }
            handed.append(value)
            if let step = handings[offer.command]?.first {
                handings[offer.command]?.removeFirst()
                schedule.done(step, at: now)
            }
        }
        offers = left
        let time = Timestamp(wall: wall).wholeSecondsText
        let answer = JSON.object([
            .init("commands", handed.isEmpty ? .null : .array(handed)),
            .init("server_time", .string(time)),
        ])
        switch gate.pass(pollAnswer: answer.encoded) {
        case .allowed(let body):
            actions.append(.respond(exchange, Self.json(200, body)))
        case .refused:
            // Each of them was let through before; together they are not.
            actions.append(.respond(exchange, .plainText(503, "the queue is closed")))
        }
    }

    private mutating func result(
        _ body: Bytes, _ exchange: ExchangeID, at now: Int64, _ actions: inout [Action]
    ) {
        guard let value = try? JSON(parsing: body), let id = value["id"]?.stringValue,
            let command = commandOfLive[id]
        else {
            actions.append(
                .respond(
                    exchange,
                    Self.json(404, .object([.init("error", "command not found")]))))
            return
        }
        answered(command, value, at: now)
        actions.append(
            .respond(exchange, Self.json(200, .object([.init("status", "acknowledged")]))))
    }

    /// The status document, as the recorded board gave it first.
    private var status: HTTPMessage {
        for exchange in script.exchanges {
            guard case .status? = exchange.route, let response = exchange.response,
                response.status == 200
            else { continue }
            return Self.message(response)
        }
        return Self.json(200, .object([.init("connected", .bool(!openLinks.isEmpty))]))
    }

    private static func message(_ response: Event.Response) -> HTTPMessage {
        var body = Bytes()
        if case .whole(let bytes) = response.body.content { body = bytes }
        let hopByHop = ["Content-Length", "Transfer-Encoding", "Connection", "Upgrade"]
        return .response(
            response.status, reason: response.reason,
            fieldLines: response.headers.filter { line in
                !hopByHop.contains { line.isNamed($0) }
            }, body: body)
    }

    private static func json(_ status: Int, _ value: JSON) -> HTTPMessage {
        json(status, value.encoded)
    }

    private static func json(_ status: Int, _ body: Bytes) -> HTTPMessage {
        .response(
            status, fieldLines: [FieldLine("Content-Type", "application/json")],
            body: body + [UInt8(ascii: "\n")])
    }

    // MARK: Messages

    /// A whole message came.
    package mutating func message(
        _ content: Bytes, on live: LinkID, at now: Int64
    ) -> [Action] {
        gate.heard(content)
        guard let value = try? JSON(parsing: content), let id = value["id"]?.stringValue else {
            return []
        }
        var actions: [Action] = []
        if options.contract.isHeartbeat(id) {
            let count = echoed[live, default: 0]
            echoed[live] = count + 1
            let mutedFrom = scriptLinks[live].flatMap { script.links[$0].mutedFrom }
            if mutedFrom.map({ count < $0 }) ?? true {
                let kept = ["id", "method", "error", "data"]
                let members = kept.compactMap { name in
                    value[name].map { JSON.Member(name, $0) }
                }
                actions.append(.send(live, .text, JSON.object(members).encoded))
            }
        } else if let command = commandOfLive[id] {
            answered(command, value, at: now)
        } else {
            let name = value["method"]?.stringValue ?? id
            let link = scriptLinks[live]
            if let place = events.firstIndex(where: {
                $0.name == name && (link == nil || $0.link == link)
                    && schedule.mayHappen($0.step)
            }) {
                schedule.done(events.remove(at: place).step, at: now)
            }
        }
        return actions + proceed(at: now)
    }

    private mutating func answered(_ command: Int, _ value: JSON, at now: Int64) {
        guard let step = answers[command]?.first, schedule.mayHappen(step) else { return }
        answers[command]?.removeFirst()
        if case .answered(_, let number) = script.steps[step].kind,
            script.commands[command].answers.indices.contains(number - 1),
            let recorded = try? JSON(parsing: script.commands[command].answers[number - 1])
        {
            let type = script.commands[command].type
            values.bind(recorded, value, type: options.contract.command(named: type))
            bound.learn(recorded, value, as: "result", of: type)
        }
        schedule.done(step, at: now)
    }

    /// A connection is over.
    package mutating func linkClosed(_ live: LinkID, at now: Int64) -> [Action] {
        openLinks.removeAll { $0 == live }
        if let link = scriptLinks[live], let step = ends[link] { schedule.done(step, at: now) }
        return proceed(at: now)
    }

    /// A hook that was to bring the app into a state has ended; nil where it worked.
    package mutating func stateSet(step: Int, _ failure: String?, at now: Int64) -> [Action] {
        if let failure {
            schedule.skip(step, failure)
            if case .state(let word) = script.steps[step].kind, !word.contains("=") {
                unreached = failure
            }
        } else {
            schedule.done(step, at: now)
        }
        return proceed(at: now)
    }
}

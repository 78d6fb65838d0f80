import Capture
package import PhoneBridge
package import Report
import Wire

extension ReplayScript {
    /// Makes the script by which the board's side of a session is played against an app.
    ///
    /// - Parameter states: what the session's rules file says the phone has to be brought into,
    ///   and before which commands.
    package static func board(
        _ session: RecordedSession, states: [ComparisonRules.State] = [],
        contract: Contract = .current
    ) -> ReplayScript {
        var builder = BoardSideScript(ScriptReading(session, role: .board, contract: contract))
        builder.build()
        builder.insert(states)
        return builder.reading.script
    }
}

/// Makes a script for the board's side.
struct BoardSideScript {
    var reading: ScriptReading

    /// Links whose end has been decided.
    private var ending: Set<Int> = []
    /// Commands without an answer in time, with when their time is over and their last sending.
    private var open: [(command: Int, due: Int64, sent: Int)] = []
    /// The step with which a command was last sent or handed out.
    private var lastSending: [Int: Int] = [:]
    /// What the app was last known to be doing; in the foreground as it connects.
    private var state = PhoneStateWord.active.text
    /// When that was said.
    private var stateTime: Int64 = 0
    private var platform: String?
    /// The last event that told of an inactive app.
    private var inactive: Int?
    /// What was learnt of the phone's permissions.
    private var permissions: [Contract.Permission: String] = [:]
    /// Prompts that were open: the step of the command, and when it was answered.
    private var echoes: [Int: (beats: Int, echoes: Int)] = [:]
    /// Polls that got no answer, by the events of their requests.
    private var hanging: [Int: UnansweredPolls.Poll] = [:]

    init(_ reading: ScriptReading) { self.reading = reading }

    mutating func build() {
        let items = reading.session.items
        hanging = UnansweredPolls.find(in: items, isPoll: reading.isPoll)
        // What comes last of all of a link is the end of the recording, not of the link.
        let lastDoing = items.lastIndex { item in
            switch item.kind {
            case .request(let request):
                // The queue is polled on and on.
                return !reading.isPoll(request)
            case .message, .brokenFrame(.board, _, _): return true
            default: return false
            }
        }
        for (index, item) in items.enumerated() {
            settlePauses(before: item.time, item)
            add(item, isTail: index > lastDoing ?? -1)
        }
        for (link, count) in echoes where count.beats > count.echoes + 1 {
            reading.script.links[link].mutedFrom = count.echoes
        }
        inferPermissions()
        allowForHangingPolls()
    }

    /// What comes behind a poll that hangs may come so much later: the app has to give it up.
    private mutating func allowForHangingPolls() {
        for (index, step) in reading.script.steps.enumerated() {
            guard case .treatPoll(let exchange) = step.kind,
                let poll = hanging[reading.script.exchanges[exchange].seq],
                let next = reading.script.steps[(index + 1)...].firstIndex(where: {
                    !$0.kind.isOurs
                })
            else { continue }
            reading.script.steps[next].allowance += poll.duration
        }
    }

    // MARK: Times that run out

    private mutating func settlePauses(before time: Int64, _ item: RecordedSession.Item) {
        while let index = open.indices.filter({ open[$0].due < time })
            .min(by: { open[$0].due < open[$1].due })
        {
            let entry = open.remove(at: index)
            reading.add(
                .pause, item, at: entry.due,
                wait: ReplayScript.Wait(
                    after: entry.sent,
                    duration: reading.script.commands[entry.command].timeout,
                    why: "a command's time runs out"))
        }
    }

    // MARK: Items

    private mutating func add(_ item: RecordedSession.Item, isTail: Bool) {
        switch item.kind {
        case .request(let request): add(request, item)
        case .response(let response): add(response, item)
        case .message(.app, _, let content, _): appMessage(content, item)
        case .message(.board, let opcode, let content, let framing):
            if framing != .whole, let link = reading.link(item.conn) {
                reading.script.links[link].framing = framing
            }
            boardMessage(opcode, content, item)
        case .ping(.board, let payload):
            guard let link = reading.link(item.conn) else { return }
            reading.add(.ping(link: link, payload), item)
        case .ping(.app, _): break
        case .brokenFrame(.board, let frame, _): brokenFrame(frame, item)
        case .brokenFrame(.app, let frame, _):
            guard frame.header.opcode == .close else { return }
            closed(by: .app, .frame(ClosePayload(frame.payload)), item, isTail)
        case .closeFrame(let side, let payload):
            closed(by: side, .frame(payload), item, isTail)
        case .ended(let side, let how):
            closed(by: side, how == .fin ? .fin : .reset, item, isTail)
        case .outcome: break
        case .unplayable(let side, let why):
            if side != .app { reading.script.unplayable.append((item.seq, why)) }
        }
    }

    // MARK: HTTP

    private mutating func add(_ request: Event.Request, _ item: RecordedSession.Item) {
        let upgrades = request.headers.contains {
            $0.isNamed("Upgrade") && $0.value.lowercased() == "websocket"
        }
        let exchange = reading.request(request, item)
        switch reading.script.exchanges[exchange].route {
        case .connect? where upgrades:
            let link = reading.handshake(request, item)
            let target = PhoneBridge.RequestTarget(request.target)
            platform = target[reading.contract.poll.platform] ?? platform
            // The app takes its time between two attempts.
            reading.add(
                .opened(link: link), item,
                allowance: reading.contract.timing.reconnectMilliseconds.upperBound * 1_000_000)
            state = PhoneStateWord.active.text
        case .enqueue?: _ = reading.enqueued(request, item)
        case .poll?:
            if let told = reading.state(ofPoll: request.target) { reach(told, item) }
            guard let poll = hanging[item.seq] else { break }
            reading.script.exchanges[exchange].isCutOff = poll.endedBy == .board
            reading.add(.treatPoll(exchange: exchange), item)
        case .result?:
            guard !request.body.incomplete, let result = reading.meaning("result", item) else {
                return
            }
            answer(result, request.wholeBody, item)
        default: break
        }
    }

    private mutating func add(_ response: Event.Response, _ item: RecordedSession.Item) {
        guard let exchange = reading.response(response, item) else { return }
        if let link = reading.link(item.conn),
            reading.script.links[link].seq == reading.script.exchanges[exchange].seq
        {
            reading.script.links[link].response = response
            reading.script.links[link].beginSeq = item.seq
            return
        }
        guard case .poll? = reading.script.exchanges[exchange].route else { return }
        if response.status != 200 {
            reading.add(.treatPoll(exchange: exchange), item)
            return
        }
        let told = reading.state(ofPoll: reading.script.exchanges[exchange].request.target)
        var handed: [Int] = []
        for (meaning, content) in reading.handedOut(item, response) {
            guard let command = reading.command(meaning, content, item) else { continue }
            let wait = lastSending[command].map { earlier in
                ReplayScript.Wait(
                    after: earlier, duration: item.time - reading.script.steps[earlier].time,
                    why: "the queue hands a command out again once its time is over")
            }
            reading.add(.offer(command: command, content, state: told), item, wait: wait)
            handed.append(command)
        }
        for command in handed {
            reading.script.exchanges[exchange].handsOut.append(command)
            let step = reading.add(.handedOut(command: command), item)
            sent(command, step, item)
        }
    }

    private mutating func sent(_ command: Int, _ step: Int, _ item: RecordedSession.Item) {
        lastSending[command] = step
        reading.script.commands[command].arrivals.append(step)
        open.removeAll { $0.command == command }
        open.append((command, item.time + reading.script.commands[command].timeout, step))
    }

    // MARK: Messages

    private mutating func boardMessage(
        _ opcode: Opcode, _ content: Bytes, _ item: RecordedSession.Item
    ) {
        guard let link = reading.link(item.conn) else { return }
        if let meaning = reading.meaning("command", item),
            let command = reading.command(meaning, content, item)
        {
            let step = reading.add(
                .command(command: command, link: link, content), item)
            sent(command, step, item)
            return
        }
        if reading.meaning("heartbeat", item) != nil {
            echoes[link, default: (0, 0)].echoes += 1
            return
        }
        reading.add(.send(link: link, opcode, content), item)
    }

    /// A broken frame goes out as it is; an app may take it for a command all the same.
    private mutating func brokenFrame(_ frame: Frame, _ item: RecordedSession.Item) {
        guard let link = reading.link(item.conn) else { return }
        let command = reading.meaning("command", item).flatMap {
            reading.command($0, frame.payload, item)
        }
        let step: Int
        if ending.contains(link),
            let end = reading.script.steps.lastIndex(where: {
                if case .ended(link) = $0.kind { true } else { false }
            })
        {
            // Behind the close frame, and before the end of all.
            insert(.frame(link: link, frame.encoded()), at: end) { $0.seq = item.seq }
            step = end
        } else {
            step = reading.brokenFrame(frame, on: link, item)
        }
        if let command { sent(command, step, item) }
    }

    private mutating func appMessage(_ content: Bytes, _ item: RecordedSession.Item) {
        guard let link = reading.link(item.conn) else { return }
        if reading.meaning("heartbeat", item) != nil {
            echoes[link, default: (0, 0)].beats += 1
        } else if let event = reading.meaning("app_event", item),
            let name = event["id"]?.stringValue
        {
            let told = stateWord(content)
            if let told { reach(told, item) }
            let step = reading.add(.appEvent(link: link, name: name), item)
            if told == PhoneStateWord.inactive.text { inactive = step }
        } else if let result = reading.meaning("result", item) {
            answer(result, content, item)
        }
    }

    /// The state that an event of the app tells.
    private func stateWord(_ content: Bytes) -> String? {
        guard let data = (try? JSON(parsing: content))?["data"] else { return nil }
        return PhoneStateWord(
            PollState(
                platform: platform ?? "", appState: data["app_state"]?.stringValue,
                pipEnabled: data["pip_bridge_enabled"]?.boolValue,
                fgsEnabled: data["fgs_bridge_enabled"]?.boolValue), reportedBy: .event)?.text
    }

    /// The app came into another state: somebody has to bring it there.
    private mutating func reach(_ word: String, _ item: RecordedSession.Item) {
        // On its way to the background an app is inactive for a moment.
        guard word != state else { return }
        // Polls and events cross: one of them tells first where the app has come to by now.
        if word == PhoneStateWord.inactive.text, state.hasPrefix("background"),
            item.time - stateTime < 1_000_000_000
        {
            return
        }
        let suspended = PhoneStateWord.background(.suspended).text
        if word.hasPrefix("background "), state == suspended {
            // A poll tells more than the event before it.
            refineState(to: word)
            return
        }
        if word == suspended, state.hasPrefix("background ") { return }
        let wasInactive = state == PhoneStateWord.inactive.text
        state = word
        stateTime = item.time
        if wasInactive, word.hasPrefix("background"), let inactive,
            inactive == reading.script.steps.count - 1
        {
            // The app only went through it on its way: one word brings about both.
            for step in reading.script.steps.indices.reversed().prefix(8) {
                guard case .state(PhoneStateWord.inactive.text) = reading.script.steps[step].kind
                else { continue }
                reading.script.steps[step].kind = .state(word)
                return
            }
        }
        insert(.state(word), at: beforeEvents(item)) { _ in }
    }

    /// The place before the events that the app has just sent in one go.
    private func beforeEvents(_ item: RecordedSession.Item) -> Int {
        var place = reading.script.steps.count
        while place > 0, case .appEvent = reading.script.steps[place - 1].kind,
            item.time - reading.script.steps[place - 1].time < 100_000_000
        {
            place -= 1
        }
        return place
    }

    private mutating func refineState(to word: String) {
        state = word
        guard
            let step = reading.script.steps.lastIndex(where: {
                if case .state = $0.kind { true } else { false }
            }),
            case .state(PhoneStateWord.background(.suspended).text) = reading.script.steps[step]
                .kind
        else { return }
        reading.script.steps[step].kind = .state(word)
    }

    private mutating func answer(
        _ result: JSON, _ content: Bytes, _ item: RecordedSession.Item
    ) {
        guard let id = result["id"]?.stringValue, let command = reading.commandOfID[id],
            let sending = lastSending[command]
        else { return }
        reading.script.commands[command].answers.append(content)
        let isLate = result["late"]?.boolValue ?? false
        let number = reading.script.commands[command].answers.count
        let lateness =
            isLate ? max(0, item.time - reading.script.steps[sending].time) : 0
        reading.add(
            .answered(command: command, number: number), item,
            allowance: reading.script.commands[command].timeout + lateness)
        open.removeAll { $0.command == command }
        if result["code"]?.stringValue == "permission_denied" {
            denied.append(command)
        } else if isLate || reading.script.commands[command].arrivals.count > 1, number == 1 {
            prompted.append((command, item.time))
        } else if item.time - reading.script.steps[sending].time > slowness, number == 1 {
            slow.append((command, item.time))
        }
    }

    /// Nanoseconds after which an answer is slow: longer than most commands are waited for.
    private var slowness: Int64 {
        Int64(reading.contract.timing.defaultTimeoutMilliseconds) * 1_000_000
    }

    /// Commands that the phone's user had not allowed.
    private var denied: [Int] = []
    /// Commands that were never answered, though only a prompt may keep them.
    private var unanswered: Set<Int> = []
    /// Commands that were answered late, or only when they came again, with when: a prompt was
    /// open.
    private var prompted: [(command: Int, answered: Int64)] = []
    /// Commands that took long, and were in time: likely a prompt was open, but their answers are
    /// the same without it.
    private var slow: [(command: Int, answered: Int64)] = []

    // MARK: Ends

    private mutating func closed(
        by side: Side, _ how: ReplayScript.Ending, _ item: RecordedSession.Item, _ isTail: Bool
    ) {
        guard let link = reading.link(item.conn), reading.script.links[link].isAccepted,
            !ending.contains(link)
        else { return }
        if side == .board {
            ending.insert(link)
            reading.script.links[link].hasEnd = true
            reading.add(.end(link: link, how), item)
            reading.add(.ended(link: link), item)
        } else {
            ending.insert(link)
            let isReaction = reading.reactions.ends(item.conn)
            guard !isTail || isReaction else { return }
            reading.script.links[link].hasEnd = true
            if !isReaction, !isCalledFor(item) {
                reading.add(.state(PhoneStateWord.disconnect.text), item)
            }
            // An app that hears no echo gives up in its own time.
            reading.add(.ended(link: link), item, allowance: 20_000_000_000)
        }
    }

    /// Whether the app had a reason on the link to end it: a change of its state just before, or
    /// a board that did not echo any more.
    private func isCalledFor(_ item: RecordedSession.Item) -> Bool {
        if let link = reading.link(item.conn), let count = echoes[link],
            count.beats > count.echoes + 1
        {
            return true
        }
        for step in reading.script.steps.reversed() {
            guard item.time - step.time < 1_000_000_000 else { return false }
            if case .state = step.kind { return true }
        }
        return false
    }

    // MARK: What the rules file says

    /// Puts states before the first sendings of the commands that they are meant for.
    mutating func insert(_ states: [ComparisonRules.State]) {
        guard !states.isEmpty else { return }
        var ordinals: [String: Int] = [:]
        var words: [Int: [String]] = [:]
        for (number, command) in reading.script.commands.enumerated() {
            ordinals[command.type, default: 0] += 1
            let ordinal = ordinals[command.type, default: 0]
            words[number] = states.filter {
                $0.isBefore(id: command.id, type: command.type, ordinal: ordinal)
            }.map(\.state)
        }
        for index in reading.script.steps.indices.reversed() {
            let number: Int
            switch reading.script.steps[index].kind {
            case .command(let command, _, _), .offer(let command, _, _): number = command
            default: continue
            }
            // Behind it stand its later sendings.
            guard reading.script.commands[number].arrivals.first.map({ $0 >= index }) ?? false,
                !reading.script.steps[..<index].contains(where: { step in
                    switch step.kind {
                    case .command(number, _, _), .offer(number, _, _): true
                    default: false
                    }
                })
            else { continue }
            for word in (words[number] ?? []).reversed() {
                insert(.state(word), at: index) { _ in }
            }
        }
    }

    // MARK: What the phone was allowed

    private mutating func inferPermissions() {
        for command in denied {
            guard let type = permission(of: command) else { continue }
            reading.script.preconditions.append(
                ReplayScript.Precondition(
                    command: command, state: "\(type.rawValue)=denied",
                    text: "the recorded phone had denied \(type.rawValue)"))
        }
        for command in reading.script.commands.indices
        where reading.script.commands[command].answers.isEmpty
            && !reading.script.commands[command].arrivals.isEmpty && permission(of: command) != nil
        {
            unanswered.insert(command)
        }
        for command in prompted.map(\.command) + unanswered.sorted() {
            guard let type = permission(of: command) else { continue }
            reading.script.preconditions.append(
                ReplayScript.Precondition(
                    command: command, state: "\(type.rawValue)=pending",
                    text: "on the recorded phone a prompt for \(type.rawValue) was open"))
        }
        insertPermissions()
    }

    private func permission(of command: Int) -> Contract.Permission? {
        reading.contract.command(named: reading.script.commands[command].type)?.permission
    }

    /// Puts the changes of permissions where they belong: before the command that met them, and
    /// back behind it.
    private mutating func insertPermissions() {
        let kept = prompted + slow
        guard !denied.isEmpty || !kept.isEmpty || !unanswered.isEmpty else { return }
        var before: [Int: [String]] = [:]
        var later: [(step: Int, wait: ReplayScript.Wait, state: String)] = []
        let answers = Dictionary(
            kept.map { ($0.command, $0.answered) }, uniquingKeysWith: { first, _ in first })
        for (index, step) in reading.script.steps.enumerated() {
            let command: Int
            switch step.kind {
            case .command(let number, _, _), .offer(let number, _, _): command = number
            default: continue
            }
            guard reading.script.commands[command].arrivals.first.map({ $0 >= index }) ?? false,
                let type = permission(of: command)
            else { continue }
            let wanted: String
            var stays = false
            if denied.contains(command) {
                wanted = "denied"
            } else if let answered = answers[command],
                let sending = reading.script.commands[command].arrivals.first
            {
                let latency = answered - reading.script.steps[sending].time
                wanted = "pending"
                later.append(
                    (
                        sending,
                        ReplayScript.Wait(
                            after: sending, duration: max(0, latency - 20_000_000),
                            why: "a late answer stays late"), "\(type.rawValue)=granted"
                    ))
            } else if unanswered.contains(command) {
                wanted = "pending"
                stays = true
            } else if !reading.script.commands[command].answers.isEmpty {
                wanted = "granted"
            } else {
                continue
            }
            guard permissions[type, default: "granted"] != wanted else { continue }
            // A prompt that was answered is open no more.
            permissions[type] = wanted == "pending" && !stays ? "granted" : wanted
            before[index, default: []].append("\(type.rawValue)=\(wanted)")
        }
        for (index, words) in before.sorted(by: { $0.key > $1.key }) {
            for word in words.reversed() { insert(.state(word), at: index) { _ in } }
            later = later.map { entry in
                var entry = entry
                if entry.step >= index { entry.step += words.count }
                if entry.wait.after >= index { entry.wait.after += words.count }
                return entry
            }
        }
        for entry in later.sorted(by: { $0.step > $1.step }) {
            // Just before the late answer, whatever lies between.
            guard
                let place = reading.script.steps.firstIndex(where: {
                    if case .answered(let command, _) = $0.kind {
                        reading.script.commands[command].arrivals.contains(entry.step)
                    } else {
                        false
                    }
                })
            else { continue }
            insert(.state(entry.state), at: place) { $0.wait = entry.wait }
        }
    }

    /// Inserts a step; the numbers behind the place move by one.
    private mutating func insert(
        _ kind: ReplayScript.Kind, at place: Int, _ change: (inout ReplayScript.Step) -> Void
    ) {
        let near = min(place, reading.script.steps.count - 1)
        guard near >= 0 else { return }
        var step = ReplayScript.Step(
            kind, seq: reading.script.steps[near].seq, time: reading.script.steps[near].time)
        change(&step)
        for index in reading.script.steps.indices {
            if let after = reading.script.steps[index].wait?.after, after >= place {
                reading.script.steps[index].wait?.after = after + 1
            }
        }
        for index in reading.script.commands.indices {
            reading.script.commands[index].arrivals = reading.script.commands[index].arrivals.map {
                $0 >= place ? $0 + 1 : $0
            }
        }
        reading.script.steps.insert(step, at: place)
        lastSending = lastSending.mapValues { $0 >= place ? $0 + 1 : $0 }
        open = open.map { ($0.command, $0.due, $0.sent >= place ? $0.sent + 1 : $0.sent) }
    }
}

extension ScriptReading {
    /// Whether a request asks for commands of the queue.
    func isPoll(_ request: Event.Request) -> Bool {
        if case .poll? = HTTPRoute(
            method: request.method, target: request.target, paths: contract.paths)
        {
            true
        } else {
            false
        }
    }
}

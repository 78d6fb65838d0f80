import Capture
import Network
import PhoneBridge
import Simulator
import Wire

extension Mutator {
    /// Rows C of the queue, as the app.
    static let queueMutators: [Mutator] = [
        Mutator(
            "C1", .sure, as: .app, summary: "an id that the queue has", needs: [.queue],
            variants: 4, weight: 10
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            let again: FuzzAction = .enqueue(story.name, story.json)
            switch variant {
            case 0: editor.insert([again], at: story.enqueue + 1)
            case 1:
                editor.insert(
                    [again, .get(editor.phone.poll(limit: "50"))], at: story.poll + 1)
            case 2:
                editor.insert(
                    [
                        again, .get("results/$(\(story.name))"),
                        .get(editor.phone.poll(limit: "50")),
                        .post("results", editor.failure("$(\(story.name))")),
                        .get("results/$(\(story.name))"),
                    ], at: story.result + 1)
            default:
                // Over the other transport, once it has been answered.
                guard editor.hasLink, let link = editor.lastLink else { return false }
                let name = editor.name("c")
                let text = editor.steps[story.result].action.content ?? []
                editor.insert(
                    [
                        .stimulate(name, story.json), .await(name, 2 * nanosecondsPerSecond),
                        .text(link, text),
                    ], at: editor.steps.count)
            }
            return true
        },
        Mutator(
            "C2", .sure, as: .app, summary: "the same under a new id, in the queue",
            needs: [.queue], weight: 3
        ) { editor, _, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            let name = editor.name("q")
            guard
                let other = JSONEdit.replacing(story.json, ["id"], by: JSONEdit.quoted(name)),
                let text = editor.steps[story.result].action.content,
                let answer = JSONEdit.replacing(text, ["id"], by: JSONEdit.quoted("$(\(name))"))
            else { return false }
            editor.insert(
                [.post("results", answer), .get("results/$(\(name))")], at: story.result + 1)
            editor.insert([.enqueue(name, other)], at: story.enqueue + 1)
            return true
        },
        Mutator(
            "C3", .likely, as: .app, summary: "an id of the queue with another payload",
            needs: [.queue], variants: 3, weight: 4
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices),
                let type = choices.pick(editor.contract.commands)
            else { return false }
            let other = editor.values.command(
                type, id: story.id, number: editor.number(), used: "thing", timeout: 7000, &choices
            ).encoded
            let place = [story.enqueue, story.poll, story.result][variant] + 1
            editor.insert(
                [
                    .enqueue(story.name, other), .get(editor.phone.poll(limit: "50")),
                    .get("results/$(\(story.name))"),
                ], at: place)
            return true
        },
        Mutator(
            "C7", .sure, as: .app, summary: "an answer to a poll that is lost", needs: [.queue],
            variants: 8, weight: 4
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            let http = RawHTTP(editor.contract)
            let target = http.paths.base + "/" + editor.phone.poll()
            editor.insert(
                [
                    .raw([
                        .bytes(http.head("GET", target)), .pause(nanosecondsPerMillisecond),
                        .reset,
                    ]), .milliseconds(editor.inFlightWait(phase: variant)),
                ], at: story.poll)
            return true
        },
        Mutator(
            "C13", .sure, as: .app, summary: "the app's state changes before the poll",
            variants: 4, weight: 10
        ) { editor, variant, choices in
            editor.pollInChangingState(variant, &choices)
        },
        Mutator(
            "C14", .likely, as: .app, summary: "two phones with the same ids", variants: 2,
            weight: 3
        ) { editor, variant, choices in
            let id = editor.name("t")
            let other = PlayedPhone(platform: .android, id: "p2", editor.contract.poll)
            let first = editor.name("q")
            let second = editor.name("q")
            func command(_ phone: String) -> Bytes {
                Bytes(
                    #"{"id":"\#(id)","type":"clipboard_read","phone_id":"\#(phone)"}"#.utf8)
            }
            editor.insert(
                [
                    .enqueue(first, command("p1")), .enqueue(second, command("p2")),
                    .get(other.poll()), .get(editor.phone.poll()),
                    .post(
                        "results",
                        variant == 0
                            ? Bytes(#"{"id":"\#(id)","data":{"text":"p1"}}"#.utf8)
                            : editor.failure(id)), .get("results/\(id)"),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "C15", .likely, as: .app, summary: "two polls at once", needs: [.queue], weight: 3
        ) { editor, _, choices in
            guard let poll = choices.pick(editor.places { $0 == .poll }) else { return false }
            editor.insert([editor.steps[poll].action], at: poll, isConcurrent: true)
            return true
        },
        Mutator(
            "C16", .sure, as: .app, summary: "commands that are polled and not answered",
            needs: [.queue], variants: 8, weight: 12
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            let rounds = choices.number(in: 1...4)
            var actions: [FuzzAction] = []
            for round in 0..<rounds {
                actions += [
                    .milliseconds(editor.inFlightWait(phase: round == 0 ? variant : 7)),
                    .get(editor.phone.poll()),
                ]
            }
            actions.append(.get("results/$(\(story.name))"))
            editor.insert(actions, at: story.poll + 1)
            return true
        },
        Mutator(
            "C17", .sure, as: .app, summary: "many wait, and many polls take them", variants: 3,
            weight: 3
        ) { editor, variant, choices in
            let count = choices.pick([12, 25, 60]) ?? 12
            let limit = [1, 3, 10][variant]
            var actions: [FuzzAction] = []
            for _ in 0..<count {
                let name = editor.name("q")
                actions.append(
                    .enqueue(
                        name,
                        editor.forPhone(
                            Bytes(#"{"id":"\#(name)","type":"clipboard_read"}"#.utf8))))
            }
            let polls = (count + limit - 1) / limit
            actions += Array(
                repeating: .get(editor.phone.poll(limit: "\(limit)")), count: polls + 1)
            editor.insert(actions, at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "C18", .sure, as: .app, summary: "a second result", needs: [.queue], variants: 3,
            weight: 8
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            var actions: [FuzzAction] = [
                .post("results", editor.failure("$(\(story.name))")),
                .get("results/$(\(story.name))"),
            ]
            // Once more behind the time at which it would be handed out again.
            if variant > 0 {
                actions += [
                    .milliseconds(editor.inFlightWait(phase: variant * 3)),
                    .get(editor.phone.poll(limit: "50")),
                ]
            }
            editor.insert(actions, at: story.result + 1)
            return true
        },
        Mutator(
            "C16", .sure, as: .app, summary: "time passes behind a result", needs: [.queue],
            variants: 8, weight: 6
        ) { editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            editor.insert(
                [
                    .milliseconds(editor.inFlightWait(phase: variant)),
                    .get(editor.phone.poll(limit: "50")), .get("results/$(\(story.name))"),
                ], at: story.result + 1)
            return true
        },
        Mutator("C18", .weak, as: .app, summary: "a result that nobody waits for", variants: 2) {
            editor, variant, choices in
            guard let story = editor.pickQueued(&choices) else { return false }
            if variant == 0 {
                editor.insert(
                    [.post("results", editor.failure("$(\(story.name))"))], at: story.enqueue + 1)
            } else {
                editor.insert(
                    [
                        .post("results", editor.failure("nobody-\(editor.number())"))
                    ], at: story.poll + 1)
            }
            return true
        },
        Mutator(
            "C21", .likely, as: .app, summary: "a result for what was not handed out",
            weight: 2
        ) { editor, _, choices in
            let name = editor.name("q")
            editor.insert(
                [
                    .enqueue(
                        name,
                        Bytes(
                            #"{"id":"\#(name)","type":"clipboard_read","phone_id":"p2"}"#.utf8)),
                    .get(editor.phone.poll()),
                    .post("results", editor.failure("$(\(name))")),
                    .get("results/$(\(name))"),
                ], at: editor.quietPlace(&choices))
            return true
        },
    ]
}

extension ScriptEditor {
    /// The steps of a command in the queue: what comes of it is in `result`.
    struct Queued {
        var name: String
        var id: String
        var json: Bytes
        var enqueue: Int
        var poll: Int
        var result: Int
    }

    /// A command that is put into the queue, polled and answered.
    func pickQueued(_ choices: inout Choices) -> Queued? {
        let commands = commands
        let roles = roles
        var found: [Queued] = []
        for command in commands.all where command.isQueued && steps[command.step].mark == nil {
            guard
                let poll = roles[command.step...].firstIndex(of: .poll),
                let result = roles[poll...].firstIndex(of: .result(command.name)),
                steps[poll].mark == nil, steps[result].mark == nil
            else { continue }
            found.append(
                Queued(
                    name: command.name, id: command.id, json: command.json, enqueue: command.step,
                    poll: poll, result: result))
        }
        return choices.pick(found)
    }

    /// A command for the phone that is played, whoever was heard of last.
    func forPhone(_ command: Bytes) -> Bytes {
        guard !phone.id.isEmpty else { return command }
        return JSONEdit.setting(
            command, [contract.poll.phoneID], to: JSONEdit.quoted(phone.id)) ?? command
    }

    /// Milliseconds after which what is in flight has to be back, swept in eight phases: from just
    /// behind the window to behind the last sweep.
    func inFlightWait(phase: Int) -> Int {
        let window = Int(max(1000, min(profile.inFlightMilliseconds ?? 30_000, 3_600_000)))
        let sweep = Int(
            profile.queueSweepMilliseconds > 0
                ? min(profile.queueSweepMilliseconds, 3_600_000) : 60_000)
        return window + 1000 + (sweep + 3000) * (phase % 8) / 7
    }

    /// Commands wait while the app goes to the background, polls, comes back and polls again.
    mutating func pollInChangingState(_ variant: Int, _ choices: inout Choices) -> Bool {
        let place = hasLink ? quietPlace(&choices) : steps.count
        let isAndroid = phone.platform == .android
        let route: Contract.BackgroundRoute =
            isAndroid ? .fgs : variant % 2 == 0 ? .pip : .bleWake
        let held = contract.commands.filter { !$0.backgroundRoutes.contains(route) }
        let free = contract.commands.filter { $0.backgroundRoutes.contains(route) }
        guard let first = choices.pick(held), let second = choices.pick(free) else { return false }
        var actions: [FuzzAction] = []
        var results: [FuzzAction] = []
        for type in [first, second] {
            let name = self.name("q")
            let number = self.number()
            actions.append(
                .enqueue(
                    name,
                    forPhone(
                        values.command(
                            type, id: name, number: number, used: "thing-\(number)",
                            timeout: 8000, &choices
                        ).encoded)))
            results += [
                .post(
                    "results",
                    values.answer(to: type, id: "$(\(name))", number: number, &choices).encoded),
                .get("results/$(\(name))"),
            ]
        }
        let isOn = route == .pip
        if variant > 1, hasLink, let event = values.appState {
            actions.append(
                .text(link, Conversation.report("background", pip: isOn, event, contract)))
        }
        let background =
            isAndroid ? phone.poll("background", fgs: true) : phone.poll("background", pip: isOn)
        actions += [.get(background), .get(background)]
        if variant > 1, hasLink, let event = values.appState {
            actions.append(.text(link, Conversation.report("active", pip: false, event, contract)))
        }
        actions.append(
            .get(
                phone.poll(
                    "active", pip: isAndroid ? nil : false, fgs: isAndroid ? true : nil,
                    limit: "50")))
        insert(actions + results, at: place)
        return true
    }
}

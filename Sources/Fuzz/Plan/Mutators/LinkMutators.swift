import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows C over the WebSocket, as the app: order, time and ends of connections.
    static let linkMutators: [Mutator] = [
        Mutator(
            "C1", .sure, as: .app, summary: "an id that is under way goes out again",
            needs: [.command], variants: 3, weight: 4
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let name = editor.answered(at: place), let command = editor.commands[name]
            else { return false }
            let again = editor.name("c")
            switch variant {
            case 0: editor.insert([.stimulate(again, command.json)], at: place)
            case 1:
                // Over the other transport, while it waits.
                editor.insert(
                    [.enqueue(again, command.json), .get(editor.phone.poll(limit: "50"))],
                    at: place)
            default:
                guard let text = editor.steps[place].action.content else { return false }
                editor.insert(
                    [
                        .milliseconds(300), .stimulate(again, command.json),
                        .await(again, 2 * nanosecondsPerSecond),
                        .text(editor.openLink(at: place), text), .milliseconds(300),
                    ], at: place + 1)
            }
            return true
        },
        Mutator(
            "C2", .sure, as: .app, summary: "the same under a new id", needs: [.command],
            weight: 2
        ) { editor, _, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let name = editor.answered(at: place), let command = editor.commands[name],
                let text = editor.steps[place].action.content
            else { return false }
            let again = editor.name("c")
            guard let other = JSONEdit.replacing(command.json, ["id"], by: JSONEdit.quoted(again)),
                let answer = JSONEdit.replacing(text, ["id"], by: JSONEdit.quoted("$(\(again))"))
            else { return false }
            editor.insert(
                [
                    .stimulate(again, other), .await(again, 2 * nanosecondsPerSecond),
                    .text(editor.openLink(at: place), answer),
                ], at: place + 1)
            return true
        },
        Mutator(
            "C4", .sure, as: .app, summary: "two commands wait, and are answered in any order",
            excludes: [.withoutLink], variants: 3, weight: 4
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let first = editor.name("w")
            let second = editor.name("v")
            let order = variant == 0 ? [1, 0] : [0, 1]
            guard
                editor.waitTogether([first, second], at: place, answering: order, &choices)
            else { return false }
            if variant == 2 {
                // Both answers in one segment.
                let link = editor.link
                editor.insert([.cork(link)], at: place + 4)
                editor.insert([.uncork(link)], at: place + 9)
            }
            return true
        },
        Mutator(
            "C4", .sure, as: .app, summary: "a second answer that contradicts the first",
            needs: [.command], variants: 2, weight: 6
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.answers),
                let text = editor.steps[place].action.content,
                let name = editor.answered(at: place), let wrong = ScriptEditor.failing(text)
            else { return false }
            let second = editor.steps[place].action.with(content: wrong)
            let wait: [FuzzAction] = variant == 0 ? [] : [.milliseconds(500)]
            let query: [FuzzAction] =
                editor.commands[name]?.isQueued == true ? [.get("results/$(\(name))")] : []
            editor.insert(wait + [second] + query, at: place + 1)
            return true
        },
        Mutator(
            "C5", .sure, as: .app, summary: "no answer, or one that comes too late",
            needs: [.command], variants: 5, weight: 10
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let name = editor.answered(at: place), let command = editor.commands[name]
            else { return false }
            let timeout = Int(
                max(
                    100,
                    min(
                        command.timeout ?? editor.contract.timing.defaultTimeoutMilliseconds,
                        60_000)))
            switch variant {
            case 0: return editor.replace(place, by: .milliseconds(timeout + 3000))
            case 1: editor.insert([.milliseconds(max(1, timeout - 300))], at: place)
            case 2: editor.insert([.milliseconds(timeout + 300)], at: place)
            case 3: editor.insert([.milliseconds(timeout * 10)], at: place)
            // With heartbeats close to each other: what is heard must not put the end off.
            default:
                editor.insert(
                    [.beats(editor.openLink(at: place), nanosecondsPerSecond)],
                    at: command.step)
                return editor.replace(place + 1, by: .milliseconds(timeout + 3000))
            }
            return true
        },
        Mutator(
            "C5", .sure, as: .app, summary: "a late answer while another command waits",
            needs: [.command, .secondCommand], weight: 10
        ) { editor, _, choices in
            let answers = editor.linkAnswers
            guard answers.count > 1, case let index = choices.below(answers.count - 1),
                let first = editor.answered(at: answers[index]),
                let command = editor.commands[first],
                case let late = editor.steps[answers[index]].action,
                let next = editor.answered(at: answers[index + 1]),
                let waiting = editor.commands[next], waiting.step > answers[index]
            else { return false }
            let timeout = Int(max(100, min(command.timeout ?? 5000, 60_000)))
            editor.insert([late, .milliseconds(300)], at: answers[index + 1])
            return editor.replace(answers[index], by: .milliseconds(timeout + 500))
        },
        Mutator(
            "C6", .sure, as: .app, summary: "an answer nobody asked for, while a command waits",
            needs: [.command], variants: 2, weight: 8
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers) else { return false }
            let link = editor.openLink(at: place)
            let answer: Bytes =
                variant == 0
                ? editor.failure("nobody-\(editor.number())")
                : Bytes(#"{"id":"nobody","data":{"text":"unasked"}}"#.utf8)
            editor.insert([.text(link, answer), .milliseconds(300)], at: place)
            return true
        },
        Mutator(
            "C6", .sure, as: .app, summary: "an event while a command waits", needs: [.command],
            variants: 3, weight: 8
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let state = editor.values.appState, let environment = editor.values.environment
            else { return false }
            let link = editor.openLink(at: place)
            let event: JSON =
                switch variant {
                case 0: Conversation.report("active", pip: false, state, editor.contract)
                case 1: Conversation.report("inactive", pip: false, state, editor.contract)
                default: editor.values.event(environment, number: editor.number(), &choices)
                }
            editor.insert([.text(link, event), .milliseconds(300)], at: place)
            return true
        },
        Mutator(
            "C8", .sure, as: .app, summary: "the connection ends while a command waits",
            needs: [.command], variants: 4, weight: 8
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers) else { return false }
            let link = editor.openLink(at: place)
            let end: FuzzAction =
                switch variant % 3 {
                case 0: .reset(link)
                case 1: .fin(link)
                default: .close(link, code: 1000, reason: [])
                }
            var actions: [FuzzAction] = [
                end, .milliseconds(500), .get("status"), .get(editor.phone.poll(limit: "50")),
            ]
            if variant == 3 {
                actions += [.seconds(4), .connect(link, editor.phone.dial), .milliseconds(500)]
                if let environment = editor.values.environment {
                    actions.append(
                        .text(
                            link,
                            editor.values.event(environment, number: editor.number(), &choices)))
                }
                actions += [.beats(link, 5 * nanosecondsPerSecond), .get("status")]
            }
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C9", .likely, as: .app, summary: "a second connection before the first has ended",
            excludes: [.withoutLink], variants: 5, weight: 12
        ) { editor, variant, choices in
            guard let old = editor.lastLink, let environment = editor.values.environment else {
                return false
            }
            let link = editor.name("l")
            var actions: [FuzzAction] = [
                // A peer that does not hear the close goes on talking.
                variant == 0 ? .milliseconds(1) : .pause(old), .connect(link, editor.phone.dial),
                .text(
                    link, editor.values.event(environment, number: editor.number(), &choices)),
                .beats(link, 5 * nanosecondsPerSecond), .milliseconds(300), .get("status"),
            ]
            // A frame goes out although the link is silent.
            let talk: FuzzAction = .frame(
                old,
                FuzzFrame(
                    .text,
                    editor.values.event(environment, number: editor.number(), &choices).encoded))
            let end: FuzzAction =
                variant % 2 == 0 ? .reset(old) : .close(old, code: 1001, reason: [])
            let waits = editor.waiting(link, &choices)
            switch variant {
            case 0: actions += waits.ask + waits.answer
            case 1: actions += [talk, .milliseconds(300), .get("status"), end]
            case 2: actions += waits.ask + [end, .milliseconds(500), .get("status")] + waits.answer
            case 3: actions += waits.ask + [end, .milliseconds(500), .get("status")] + waits.answer
            default:
                actions += [talk] + waits.ask + [talk, .get("status")] + waits.answer + [end]
            }
            editor.insert(actions + [.milliseconds(500), .get("status")], at: editor.steps.count)
            return true
        },
        Mutator(
            "C10", .sure, as: .app, summary: "heartbeats at another pace",
            excludes: [.withoutLink], variants: 4, weight: 6
        ) { editor, variant, choices in
            let beats = editor.places { if case .beats = $0 { true } else { false } }
            guard let place = choices.pick(beats),
                case .beats(let link, _) = editor.steps[place].action
            else { return false }
            let seconds = [4, 20, 40, 59][variant]
            guard editor.replace(place, by: .beats(link, Int64(seconds) * nanosecondsPerSecond))
            else { return false }
            editor.insert(
                [.seconds(min(200, seconds * 3 + choices.below(15))), .get("status")],
                at: place + 1)
            return true
        },
        Mutator(
            "C10", .likely, as: .app, summary: "no heartbeats for over a minute",
            excludes: [.withoutLink], variants: 8, weight: 6
        ) { editor, variant, choices in
            let beats = editor.places { if case .beats = $0 { true } else { false } }
            guard let place = beats.last,
                case .beats(let link, _) = editor.steps[place].action
            else { return false }
            let sweep = Int(max(editor.profile.heartbeatSweepMilliseconds, 15_000))
            let limit = Int(editor.contract.timing.heartbeatLimitMilliseconds)
            var actions: [FuzzAction] = [
                .milliseconds(sweep * (variant % 4) / 4), .beats(link, nil),
            ]
            if variant < 4 {
                actions.append(.milliseconds(limit + sweep + 1500))
            } else {
                // Other traffic is no heartbeat.
                for _ in 0..<((limit + sweep) / 10_000 + 1) {
                    actions += [
                        .frame(link, FuzzFrame(.ping, Bytes("x".utf8))), .seconds(10),
                    ]
                }
                actions.append(.seconds(2))
            }
            actions.append(.get("status"))
            editor.insert(actions, at: editor.steps.count)
            return true
        },
        Mutator(
            "C10", .sure, as: .app, summary: "a heartbeat of the other name",
            excludes: [.withoutLink], variants: 2, weight: 6
        ) { editor, variant, choices in
            guard editor.hasLink, let id = editor.contract.heartbeatIDs.last else { return false }
            let text =
                variant == 0
                ? #"{"id":\#(JSONEdit.quoted(id))}"#
                : #"{"id":\#(JSONEdit.quoted(id)),"method":"x"}"#
            editor.insert(
                [.text(editor.link, text), .seconds(1)], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "C20", .weak, as: .app, summary: "connections that come and go",
            excludes: [.withoutLink]
        ) { editor, _, choices in
            guard let old = editor.lastLink else { return false }
            var actions: [FuzzAction] = []
            for _ in 0..<choices.number(in: 5...40) {
                actions += [
                    choices.oneIn(3) ? .reset(old) : .close(old, code: 1000, reason: []),
                    .milliseconds(choices.pick([10, 100, 1000, 4000]) ?? 10),
                    .connect(old, editor.phone.dial),
                ]
            }
            editor.insert(actions, at: editor.steps.count)
            return true
        },
        Mutator(
            "C22", .likely, as: .app, summary: "the old peer never answers the close",
            excludes: [.withoutLink], variants: 2, weight: 3
        ) { editor, variant, choices in
            guard let old = editor.lastLink else { return false }
            var actions: [FuzzAction] = [.stall(old)]
            var link = old
            for _ in 0...variant {
                link = editor.name("l")
                actions += [.connect(link, editor.phone.dial), .milliseconds(300)]
            }
            let waits = editor.waiting(link, &choices)
            editor.insert(actions + waits.ask + waits.answer, at: editor.steps.count)
            return true
        },
    ]
}

extension ScriptEditor {
    /// A command over a link, up to where it waits, and its answer.
    mutating func waiting(
        _ link: String, _ choices: inout Choices
    ) -> (ask: [FuzzAction], answer: [FuzzAction]) {
        guard let type = choices.pick(contract.commands) else { return ([], []) }
        let name = self.name("c")
        let number = self.number()
        let command = values.command(
            type, id: name, number: number, used: "thing-\(number)", timeout: 5000, &choices
        ).encoded
        return (
            [.stimulate(name, command), .await(name, 2 * nanosecondsPerSecond)],
            [
                .text(
                    link, values.answer(to: type, id: "$(\(name))", number: number, &choices)),
                .milliseconds(300),
            ]
        )
    }
}

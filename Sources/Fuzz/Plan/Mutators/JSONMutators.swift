import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows J that both sides' messages can have: answers and results of the app, commands of the
    /// board.
    static let jsonMutators: [Mutator] = [
        Mutator(
            "J1", .sure, as: .app, summary: "a broken answer before the right one",
            needs: [.command], variants: TextVariants.broken.count
        ) { editor, variant, choices in
            editor.insertBeforeAnswer(TextVariants.broken[variant], &choices)
        },
        Mutator(
            "J1", .sure, as: .board, summary: "a broken command", needs: [.command],
            variants: TextVariants.broken.count
        ) { editor, variant, choices in
            editor.insertLikeCommand(TextVariants.broken[variant], &choices)
        },
        Mutator(
            "J2", .sure, as: .app, summary: "an answer without an id before the right one",
            needs: [.command], variants: TextVariants.withoutID.count
        ) { editor, variant, choices in
            editor.insertBeforeAnswer(TextVariants.withoutID[variant], &choices)
        },
        Mutator(
            "J2", .sure, as: .board, summary: "a command without an id", needs: [.command],
            variants: TextVariants.withoutID.count
        ) { editor, variant, choices in
            editor.insertLikeCommand(TextVariants.withoutID[variant], &choices)
        },
        Mutator(
            "J4", .likely, as: .app, summary: "fields that nobody knows, for the board",
            needs: [.command, .queue], variants: TextVariants.extended.count
        ) { editor, variant, choices in
            editor.editMessage(TextVariants.extended[variant], &choices)
        },
        Mutator(
            "J4", .sure, as: .board, summary: "fields that nobody knows, for the app",
            needs: [.command], variants: TextVariants.extended.count
        ) { editor, variant, choices in
            editor.editMessage(TextVariants.extended[variant], &choices)
        },
        Mutator(
            "J5", .weak, as: .app, .board, summary: "names that stand twice",
            needs: [.command], variants: TextVariants.doubled.count
        ) { editor, variant, choices in
            editor.editMessage(TextVariants.doubled[variant], &choices)
        },
        Mutator(
            "J15", .weak, as: .app, .board, summary: "values that are deep or many",
            needs: [.command], variants: TextVariants.huge.count
        ) { editor, variant, choices in
            editor.editMessage(TextVariants.huge[variant], &choices)
        },
        Mutator(
            "J20", .likely, as: .app, .board, summary: "another spelling of the same",
            needs: [.command], variants: TextVariants.respelt.count
        ) { editor, variant, choices in
            editor.editMessage(TextVariants.respelt[variant], &choices)
        },
    ]
}

extension ScriptEditor {
    /// Puts another form of an answer before the right one.
    mutating func insertBeforeAnswer(
        _ change: TextVariants.Change, _ choices: inout Choices
    ) -> Bool {
        guard let place = choices.pick(answers), let text = steps[place].action.content,
            let changed = change(text)
        else { return false }
        insert([steps[place].action.with(content: changed)], at: place)
        return true
    }

    /// Puts another form of a command before it, under an id of its own.
    mutating func insertLikeCommand(
        _ change: TextVariants.Change, _ choices: inout Choices
    ) -> Bool {
        guard
            let place = choices.pick(places { if case .command = $0 { true } else { false } }),
            case .command(_, let text) = steps[place].action,
            let other = JSONEdit.replacing(
                text, ["id"], by: JSONEdit.quoted(name("x"))), let changed = change(other)
        else { return false }
        insert([.text(openLink(at: place), changed), .milliseconds(500)], at: place)
        return true
    }

    /// Changes a message of ours that belongs to a command.
    mutating func editMessage(
        _ change: TextVariants.Change, _ choices: inout Choices
    ) -> Bool {
        let wanted = places { role in
            switch role {
            case .answer, .result, .event: played == .app
            case .command, .enqueue: played == .board
            default: false
            }
        }
        for place in choices.shuffled(wanted) where edit(place, change) { return true }
        return false
    }

    /// The steps that answer a command, over the link or by HTTP.
    var answers: [Int] {
        places { role in
            switch role {
            case .answer, .result: true
            default: false
            }
        }
    }

    /// The steps that answer over the link.
    var linkAnswers: [Int] { places { if case .answer = $0 { true } else { false } } }

    /// The link that is open at a step.
    func openLink(at index: Int) -> String {
        for step in steps.prefix(index).reversed() {
            switch step.action {
            case .connect(let name, _), .accept(let name, _): return name
            default: break
            }
        }
        return link
    }

    /// The name of the command that a step answers.
    func answered(at index: Int) -> String? {
        switch StepRole(of: steps[index].action, commands, contract) {
        case .answer(let name, _), .result(let name): name
        default: nil
        }
    }
}

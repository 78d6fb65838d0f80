import Capture
import Network
import PhoneBridge
import Wire

/// What every case ends with: faults are lifted, what is under way gets its time, and what came of
/// it is asked for, so that a finding's script stands alone.
///
/// Only what the steps before make needful is there.
enum Aftermath {
    static func add(to editor: inout ScriptEditor, _ choices: inout Choices) {
        editor.mutation = nil
        switch editor.played {
        case .app: asApp(&editor)
        case .board: asBoard(&editor, &choices)
        }
    }

    // MARK: As the app

    private static func asApp(_ editor: inout ScriptEditor) {
        if editor.needsHealing { editor.add(.heal) }
        if let wait = editor.unansweredWait { editor.add(.milliseconds(wait)) }
        editor.add(.get("status"))
        let queued = editor.commands.all.filter(\.isQueued)
        if !queued.isEmpty {
            editor.add(.get(editor.phone.poll(limit: "50")))
            for command in queued.prefix(8) {
                let isAsked = editor.steps.last?.action == .get("results/$(\(command.name))")
                if !isAsked { editor.add(.get("results/$(\(command.name))")) }
            }
        }
        editor.add(.alive)
        editor.add(.get("status"))
    }

    // MARK: As the board

    private static func asBoard(_ editor: inout ScriptEditor, _ choices: inout Choices) {
        if editor.needsHealing { editor.add(.heal) }
        // Where they are: what comes of a state is not to be undone by another one.
        for command in editor.commands.all.suffix(8) {
            editor.add(
                .await(
                    command.name,
                    command.isQueued ? 45 * nanosecondsPerSecond : 41 * nanosecondsPerSecond))
        }
        if editor.isAway { editor.add(.state(PhoneStateWord.active.text)) }
        editor.add(.alive)
        var types: Set<String> = []
        var born: Set<String> = []
        for command in editor.commands.all { types.insert(command.type) }
        for type in editor.contract.commands where types.contains(type.name) {
            if let id = type.bornID ?? type.usedID { born.insert(id) }
        }
        // In an order that every machine has.
        for id in born.sorted() {
            for action in editor.read(id, &choices) { editor.add(action) }
        }
        if editor.commands.all.contains(where: { !$0.isQueued }) { editor.add(.bystander) }
    }
}

extension ScriptEditor {
    /// Whether something is stalled or served badly.
    var needsHealing: Bool {
        steps.contains { step in
            switch step.action {
            case .stall, .pause, .serve, .cork: true
            default: false
            }
        }
    }

    /// Whether the app may be left somewhere else than in the foreground.
    var isAway: Bool {
        steps.last { step in
            if case .state(let words) = step.action {
                words == "active" || words == "inactive" || words.hasPrefix("background")
            } else {
                false
            }
        }.map { $0.action != .state(PhoneStateWord.active.text) } ?? false
    }

    /// Milliseconds until all commands have come to their end that are not answered for sure; nil
    /// where there are none.
    var unansweredWait: Int? {
        let roles = roles
        var longest: Int64?
        for command in commands.all where !command.isQueued {
            let isAnswered = steps.indices.contains { index in
                guard steps[index].mark == nil, index > command.step else { return false }
                if case .answer(let name, _) = roles[index] { return name == command.name }
                return false
            }
            guard !isAnswered || steps.contains(where: { $0.mark != nil }) else { continue }
            let timeout = command.timeout ?? contract.timing.defaultTimeoutMilliseconds
            if (1...60_000).contains(timeout) { longest = max(longest ?? 0, timeout) }
        }
        return longest.map { Int($0) + 1000 }
    }
}

import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// What is done to a live message besides the mutators of scripts: it comes again.
    ///
    /// The message is the last step of the script.
    static let inlineMutators: [Mutator] = [
        Mutator(
            "C1", .sure, as: .board, summary: "the command once more", variants: 3, weight: 30
        ) { editor, variant, _ in
            guard case .command(let name, let json)? = editor.steps.last?.action else {
                return false
            }
            var actions: [FuzzAction] = [.command(name, json), .seconds(3)]
            if variant > 0 { actions.insert(.milliseconds([300, 3000][variant - 1]), at: 0) }
            editor.insert(actions, at: editor.steps.count)
            return true
        },
        Mutator(
            "C4", .sure, as: .app, summary: "the answer once more", variants: 2, weight: 10
        ) { editor, variant, _ in
            guard let place = editor.linkAnswers.last else { return false }
            let answer = editor.steps[place].action
            editor.insert(
                variant == 0 ? [answer] : [.milliseconds(500), answer], at: editor.steps.count)
            return true
        },
        Mutator(
            "C10", .sure, as: .app, summary: "a heartbeat that is called ping", weight: 10
        ) { editor, _, _ in
            let beats = editor.places { if case .heartbeat = $0 { true } else { false } }
            guard let place = beats.last, let other = editor.contract.heartbeatIDs.last else {
                return false
            }
            return editor.edit(place) {
                JSONEdit.replacing($0, ["id"], by: JSONEdit.quoted(other))
            }
        },
    ]
}

import Capture
import Network
package import PhoneBridge
import Simulator
import Wire

/// The plan of what is done to live messages (`fuzz --inline`).
///
/// What is done to the message with some number in its class is a pure function of the seed, that
/// number and the message itself: never of a clock, nor of what was done before. Whether it is done
/// is the campaign's to decide, which lets the session live.
package struct InlinePlan: Sendable {
    /// Goes up when the same seed, number and message give another mutation.
    package static let version = 1

    package let seed: UInt64
    package let contract: Contract
    /// Stands in the ids of this session, so that an app that remembers those of an earlier one
    /// takes none for the same; it is no part of what is done.
    private let mark: String
    private let profile: Profile
    private let mutators: [Mutator]

    /// Rows whose mutations end the connection that they stand on.
    private static let ending: Set<String> = [
        "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F12", "F14",
    ]
    /// How often a message that cannot be mutated in one way is tried in another.
    private static let attempts = 16

    /// - Parameters:
    ///   - levels: all of them where it is empty.
    ///   - mark: letters and digits for the ids of this session.
    package init(
        seed: UInt64, contract: Contract = .current, profile: Profile = .contract,
        levels: Set<FuzzLevel> = [], mark: String = ""
    ) {
        self.seed = seed
        self.mark = mark
        self.contract = contract
        self.profile = profile
        // Where the contract is silent, nothing could be told of a session that goes on.
        mutators = (Mutator.inlineMutators + Mutator.all).filter { mutator in
            mutator.mutation.rating != .weak
                && (levels.isEmpty || levels.contains(mutator.level))
                && mutator.level != .http
        }
    }

    /// What is done to a message; nil where it passes as it came.
    ///
    /// - Parameter number: its number in its class, from 0.
    package func strike(_ message: LiveMessage, number: Int) -> InlineStrike? {
        var hash = FNVHash()
        hash.combine(Int64(Self.version))
        hash.combine(Int64(bitPattern: seed))
        hash.combine(message.kind(contract))
        hash.combine(Int64(number))
        let start = UInt64(bitPattern: Int64(hash.number))
        var choices = Choices(seed: start)
        guard choices.oneIn(message.sort == .heartbeat ? 8 : 2) else { return nil }
        let fitting = mutators.indices.filter { mutators[$0].played.contains(message.from) }
        for attempt in 0..<Self.attempts {
            guard let index = pick(fitting, &choices) else { return nil }
            let mutator = mutators[index]
            let recipe = InlineRecipe(
                mutator: index, variant: choices.below(mutator.variants),
                seed: start &+ UInt64(attempt), mutation: mutator.mutation,
                summary: mutator.summary)
            if let strike = again(recipe, message, number: number) { return strike }
        }
        return nil
    }

    private func pick(_ indices: [Int], _ choices: inout Choices) -> Int? {
        var number = choices.below(indices.reduce(0) { $0 + mutators[$1].weight })
        for index in indices {
            number -= mutators[index].weight
            if number < 0 { return index }
        }
        return indices.first
    }

    /// Does to a message what was done to another one of its class; nil where that cannot be done.
    ///
    /// - Parameter number: its number in its class.
    package func again(
        _ recipe: InlineRecipe, _ message: LiveMessage, number: Int
    ) -> InlineStrike? {
        guard mutators.indices.contains(recipe.mutator) else { return nil }
        let mutator = mutators[recipe.mutator]
        var choices = Choices(seed: recipe.seed)
        let exchange = exchange(of: message)
        var editor = ScriptEditor(
            as: message.from, to: platform(message), tag: tag(message, number), contract: contract,
            profile: profile)
        // Numbers of the context's own names.
        for _ in 0..<3 { _ = editor.number() }
        for action in exchange.context + [exchange.live] { editor.add(action) }
        editor.mutation = mutator.mutation
        guard mutator.apply(&editor, recipe.variant, &choices) else { return nil }
        let expression = InlineExpression(
            context: exchange.context, live: exchange.live, command: exchange.command)
        guard let (steps, script, injected) = expression.express(editor.steps) else { return nil }
        var whole = ScriptEditor(
            keeping: FuzzScript(as: message.from, to: platform(message), script),
            contract: contract, profile: profile)
        Aftermath.add(to: &whole, &choices)
        let isEnding =
            Self.ending.contains(mutator.mutation.id)
            || steps.contains { step in
                switch step.part {
                case .bytes, .reset: true
                case .frame(let frame): frame.opcode == .close
                case .live, .text, .binary: false
                }
            }
        let own = exchange.command.map { [$0.id] } ?? []
        return InlineStrike(
            steps: steps, script: whole.script, recipe: recipe,
            injected: injected.filter { !own.contains($0) }, endsLink: isEnding)
    }

    /// What no other message's ids end in; its last letter keeps what is nearly an id from being
    /// another one.
    private func tag(_ message: LiveMessage, _ number: Int) -> String {
        var hash = FNVHash()
        hash.combine(message.kind(contract))
        let kind = UInt64(bitPattern: Int64(hash.number)) % 60_466_176
        return "\(number)\(mark)-\(String(kind, radix: 36))z"
    }

    // MARK: The exchange that a message belongs to

    private struct Exchange {
        var context: [FuzzAction]
        var live: FuzzAction
        var command: LiveMessage.Command?
    }

    private func exchange(of message: LiveMessage) -> Exchange {
        let open: FuzzAction =
            message.from == .app
            ? .connect("a", FuzzDial(query: message.query))
            : .accept("a", 20 * nanosecondsPerSecond)
        let beats: FuzzAction = .beats("a", 5 * nanosecondsPerSecond)
        let text: FuzzAction = .text("a", message.content)
        switch message.sort {
        case .heartbeat: return Exchange(context: [open], live: text)
        case .event: return Exchange(context: [open, beats], live: text)
        case .command(let command):
            return Exchange(context: [open], live: .command("c1", command.json), command: command)
        case .answer(let command):
            // Boards may give ids of their own to what they are told to send.
            let answer =
                JSONEdit.replacing(message.content, ["id"], by: JSONEdit.quoted("$(c1)"))
                ?? message.content
            return Exchange(
                context: [
                    open, beats, .stimulate("c1", command.json),
                    .await("c1", 5 * nanosecondsPerSecond),
                ], live: .text("a", answer), command: command)
        }
    }

    private func platform(_ message: LiveMessage) -> Platform {
        message.query.contains("android") ? .android : .ios
    }
}

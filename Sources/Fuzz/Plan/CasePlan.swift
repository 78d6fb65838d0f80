package import Capture
import Network
package import PhoneBridge
import Simulator
import Wire

/// The plan of a campaign: which case has which number.
///
/// A pure function of what it is made of, byte for byte the same on any machine (fuzzing plan,
/// decision 6). First all ways of mutating bytes, HTTP and frames once; from then on chance, which
/// follows from the seed and the number: 30 % JSON, 70 % conversations, and half of those start
/// from the corpus where there is one.
package struct CasePlan: Sendable {
    /// Goes up when the same seed and number give another case.
    package static let version = 1

    /// The side that is played.
    package let played: Side
    package let seed: UInt64
    package let contract: Contract
    package let profile: Profile
    /// What conversations start from beside the contract, in this order.
    package let corpus: [FuzzScript]
    package let levels: Set<FuzzLevel>
    private let mutators: [Mutator]
    private let finite: [(mutator: Int, variant: Int)]

    /// - Parameters:
    ///   - corpus: scripts of other sides than the played one are left out.
    ///   - levels: all of them where it is empty.
    package init(
        as played: Side, seed: UInt64, contract: Contract = .current,
        profile: Profile = .contract, corpus: [FuzzScript] = [],
        levels: Set<FuzzLevel> = Set(FuzzLevel.allCases)
    ) {
        self.played = played
        self.seed = seed
        self.contract = contract
        self.profile = profile
        self.corpus = corpus.filter { $0.played == played && !$0.steps.isEmpty }
        let levels = levels.isEmpty ? Set(FuzzLevel.allCases) : levels
        self.levels = levels
        let mutators = Mutator.all.filter {
            levels.contains($0.level) && $0.played.contains(played)
        }
        self.mutators = mutators
        finite = mutators.indices.filter { mutators[$0].level.isFinite }.flatMap { index in
            (0..<mutators[index].variants).map { (index, $0) }
        }
    }

    /// How many cases the finite pass at the start has.
    package var conformanceCount: Int { finite.count }

    /// The rows of the plan's tables that its cases may be of.
    package var rows: [Mutation] {
        var seen: Set<Mutation> = []
        return mutators.map(\.mutation).filter { seen.insert($0).inserted }
    }

    /// What a row does, in a few words; empty for one that is not known.
    package static func summary(of row: Mutation) -> String {
        Mutator.all.filter { $0.mutation == row }.map(\.summary).joined(separator: "; ")
    }

    /// The case with that number, counted from 0.
    package func script(_ index: Int) -> FuzzScript {
        var choices = choices(index)
        return script(index, &choices)
    }

    /// The choices that the case with that number is made of.
    package func choices(_ index: Int) -> Choices {
        var hash = FNVHash()
        hash.combine(Int64(Self.version))
        hash.combine(played.rawValue)
        hash.combine(Int64(bitPattern: seed))
        hash.combine(Int64(index))
        return Choices(seed: UInt64(bitPattern: Int64(hash.number)))
    }

    /// The case with that number, made of choices that may be other ones than its own: those of the
    /// case before they were edited, as `Choices.made` told them.
    package func script(_ index: Int, _ choices: inout Choices) -> FuzzScript {
        // Ends in a letter that numbers do not have: what is nearly an id is not another case's.
        let tag = String(max(0, index), radix: 35) + "z"
        var editor: ScriptEditor
        if finite.indices.contains(index) {
            editor = conformance(finite[index], tag, &choices)
        } else {
            editor = mixed(tag, &choices)
        }
        Aftermath.add(to: &editor, &choices)
        return editor.script
    }

    // MARK: The finite pass

    private func conformance(
        _ entry: (mutator: Int, variant: Int), _ tag: String, _ choices: inout Choices
    ) -> ScriptEditor {
        let mutator = mutators[entry.mutator]
        for _ in 0..<Self.attempts {
            var editor = conversation(
                mutator.needs, richness: 0, mutator.excludes, tag, &choices)
            if apply(mutator, entry.variant, &editor, &choices) { return editor }
        }
        return conversation(
            mutator.needs, richness: 0, mutator.excludes, tag, &choices)
    }

    // MARK: Chance

    /// How often a mutation is tried on another exchange before the exchange goes unmutated.
    private static let attempts = 8

    private func mixed(_ tag: String, _ choices: inout Choices) -> ScriptEditor {
        for _ in 0..<Self.attempts {
            guard let first = pickMutator(&choices) else { break }
            var editor = base(for: first, tag, &choices)
            let variant = choices.below(first.variants)
            guard apply(first, variant, &editor, &choices) else { continue }
            addFurther(beside: first, &editor, &choices)
            return editor
        }
        return conversation([.command], richness: 2, [], tag, &choices)
    }

    /// Three in ten of JSON, seven of conversations, as far as the levels are there; bytes, HTTP and
    /// frames have had their turn, and come back now and then.
    private func pickMutator(_ choices: inout Choices) -> Mutator? {
        let draw = choices.below(100)
        let wanted: [FuzzLevel] =
            switch draw {
            case 0..<62: [.session]
            case 62..<70: [.bytes, .http, .frames]
            default: [.json]
            }
        let fitting = mutators.filter { wanted.contains($0.level) }
        return pick(fitting.isEmpty ? mutators : fitting, &choices)
    }

    /// One of the mutators, by their weights.
    private func pick(_ mutators: [Mutator], _ choices: inout Choices) -> Mutator? {
        var number = choices.below(mutators.reduce(0) { $0 + $1.weight })
        for mutator in mutators {
            number -= mutator.weight
            if number < 0 { return mutator }
        }
        return mutators.first
    }

    /// The exchange that a mutation starts from.
    private func base(
        for mutator: Mutator, _ tag: String, _ choices: inout Choices
    ) -> ScriptEditor {
        if !corpus.isEmpty, mutator.level != .json, choices.oneIn(2),
            let script = choices.pick(corpus)
        {
            return ScriptEditor(script, tag: tag, contract: contract, profile: profile)
        }
        return conversation(
            mutator.needs, richness: choices.below(4), mutator.excludes, tag, &choices)
    }

    /// A further mutation or two, in three cases of ten, as sure as the first one.
    private func addFurther(
        beside first: Mutator, _ editor: inout ScriptEditor, _ choices: inout Choices
    ) {
        guard choices.below(10) > 6 else { return }
        let others = mutators.filter { $0.mutation.rating <= first.mutation.rating }
        for _ in 0...choices.below(2) {
            guard let next = pick(others, &choices) else { return }
            _ = apply(next, choices.below(next.variants), &editor, &choices)
        }
    }

    private func apply(
        _ mutator: Mutator, _ variant: Int, _ editor: inout ScriptEditor,
        _ choices: inout Choices
    ) -> Bool {
        let before = editor
        editor.mutation = mutator.mutation
        let isDone = mutator.apply(&editor, variant, &choices)
        // What is not done leaves nothing behind.
        if !isDone { editor = before }
        editor.mutation = nil
        return isDone
    }

    // MARK: Conversations

    /// Features that a conversation may have by chance.
    private static func optional(_ played: Side) -> [Feature] {
        switch played {
        case .app:
            [
                .command, .queue, .secondCommand, .things, .background, .reconnect,
                .secondPhone, .manyQueued,
            ]
        case .board: [.command, .queue, .secondCommand, .things, .background, .reconnect]
        }
    }

    private func conversation(
        _ needs: Set<Feature>, richness: Int, _ excludes: Set<Feature>, _ tag: String,
        _ choices: inout Choices
    ) -> ScriptEditor {
        var features = needs
        for _ in 0..<richness {
            if let feature = choices.pick(Self.optional(played)) { features.insert(feature) }
        }
        let linked: Set<Feature> = [.command, .secondCommand, .reconnect]
        if played == .app, !excludes.contains(.withoutLink), features.isDisjoint(with: linked),
            features.contains(.queue) || features.contains(.manyQueued), choices.oneIn(4)
        {
            features.insert(.withoutLink)
        }
        features.subtract(excludes)
        let platform: Platform = choices.oneIn(4) ? .android : .ios
        var editor = ScriptEditor(
            as: played, to: played == .board ? platform : .ios, tag: tag, contract: contract,
            profile: profile)
        editor.phone.platform = platform
        return Conversation.make(editor, with: features, &choices)
    }
}

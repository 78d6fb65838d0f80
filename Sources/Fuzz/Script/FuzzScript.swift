package import Capture
package import PhoneBridge
package import Simulator

/// What a case does, step by step: concrete bytes, waits and bindings, which need neither the seed
/// nor the corpus that they came from (fuzzing plan, decision 3).
///
/// The text form is one step a line; `FuzzScript(parsing:)` reads it and `description` writes it:
///
///     bridgetap-fuzz 1 as app
///     connect a platform=ios&phone_id=p1
///     stimulate c1 {"id":"c1","type":"clipboard_read"}
///     await c1 5s
///     text a {"id":"$(c1)","data":{"text":"x"}}
///     !C4 text a {"id":"$(c1)","data":{"text":"y"}}
///     get status
///
/// A step that a mutation made bears its name behind `!`; a line with `-` below it is what the
/// control does in its place, and without one the control does nothing there.
package struct FuzzScript: Sendable, Hashable {
    /// The version of the text form.
    package static let version = 1

    /// The side that is played; the other one is under test.
    package var played: Side
    /// The system of the phone, where an app is under test: `as board to android`.
    package var platform: Platform
    package var steps: [FuzzStep]

    package init(as played: Side, to platform: Platform = .ios, _ steps: [FuzzStep] = []) {
        self.played = played
        self.platform = platform
        self.steps = steps
    }

    /// The side under test.
    package var judged: Side { played == .app ? .board : .app }

    /// The same exchange without what mutations made of it.
    package var control: FuzzScript {
        FuzzScript(
            as: played, to: platform,
            steps.compactMap { step in
                guard let mark = step.mark else { return step }
                return mark.original.map { FuzzStep($0, isConcurrent: step.isConcurrent) }
            })
    }

    /// Rounds that a script may have at most.
    package static let maximumRounds = 10_000
    /// Rounds by which it is seen whether a figure goes on growing.
    private static let soakingRounds = 48

    /// How often its steps are done.
    package var rounds: Int {
        if case .again(let times)? = steps.last?.action { times } else { 1 }
    }

    /// The same, done so often that growth can be seen (U6).
    package var soaked: FuzzScript {
        guard rounds == 1 else { return self }
        var script = self
        script.steps.append(FuzzStep(.again(Self.soakingRounds)))
        return script
    }

    /// The mutations in it, each once, in the order of their steps.
    package var mutations: [Mutation] {
        var seen: Set<Mutation> = []
        return steps.compactMap(\.mark?.mutation).filter { seen.insert($0).inserted }
    }

    /// How sure it is what a correct peer makes of it: as sure as the least sure of its mutations.
    package var rating: Rule.Rating {
        mutations.map(\.rating).max() ?? .sure
    }
}

/// One step of a script.
package struct FuzzStep: Sendable, Hashable {
    package var action: FuzzAction
    /// Whether the next step begins at once, whatever comes of this one: `&` before it.
    package var isConcurrent: Bool
    /// Which mutation made the step; nil where it belongs to a correct exchange.
    package var mark: Mark?

    /// Where a step comes from.
    package struct Mark: Sendable, Hashable {
        package var mutation: Mutation
        /// What the control does in its place; nil for nothing.
        package var original: FuzzAction?

        package init(_ mutation: Mutation, insteadOf original: FuzzAction? = nil) {
            self.mutation = mutation
            self.original = original
        }
    }

    package init(_ action: FuzzAction, isConcurrent: Bool = false, mark: Mark? = nil) {
        self.action = action
        self.isConcurrent = isConcurrent
        self.mark = mark
    }
}

/// A row of the fuzzing plan's tables: what is done to a correct exchange.
package struct Mutation: Sendable, Hashable {
    /// The row: `T1` to `T9`, `H1` to `H12`, `F1` to `F14`, `J1` to `J21`, `C1` to `C22`.
    package var id: String
    /// How sure it is what a correct peer makes of it; weak where the contract is silent and only
    /// the universal checks judge.
    package var rating: Rule.Rating

    package init(_ id: String, _ rating: Rule.Rating) {
        self.id = id
        self.rating = rating
    }
}

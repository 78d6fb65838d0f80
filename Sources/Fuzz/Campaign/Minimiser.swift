/// Shortens a script, question by question, as long as it still shows the same (fuzzing plan, 3.6).
///
/// Steps are dropped first, then mutations are taken back, waits are shortened, fields simplified,
/// and bytes last. Rounds are repeated until one changes nothing or the questions are used up; what
/// is best so far is there at any time. It is a pure machine: whoever asks runs the scripts.
package struct Minimiser: Sendable {
    /// The shortest script so far that shows the same.
    package private(set) var best: FuzzScript
    /// How many questions were asked.
    package private(set) var questions = 0

    private let limit: Int
    private var stage = Stage.drop
    /// What the question under way would make of it.
    private var asked: FuzzScript?
    private var hasChanged = false

    /// Steps that are dropped at once, and where the last ones of them end.
    private var chunk: Int
    private var end: Int
    /// The step that is worked on, and the variant that is next.
    private var step = 0
    private var variant = 0
    private var variants: [FuzzAction]?

    private enum Stage: Int, CaseIterable {
        case drop
        case takeBack
        case waits
        case fields
        case bytes
    }

    /// - Parameter limit: the most questions that may be asked.
    package init(_ script: FuzzScript, limit: Int) {
        best = script
        self.limit = limit
        chunk = max(1, script.steps.count / 2)
        end = script.steps.count
    }

    /// The next script to be run; nil when there is no simpler one.
    ///
    /// Each is followed by `answer`.
    package mutating func next() -> FuzzScript? {
        guard questions < limit else { return nil }
        while true {
            if let candidate = candidate() {
                questions += 1
                asked = candidate
                return candidate
            }
            guard advance() else { return nil }
        }
    }

    /// Takes whether the script still shows the same.
    package mutating func answer(_ holds: Bool) {
        guard let candidate = asked else { return }
        asked = nil
        if holds {
            best = candidate
            hasChanged = true
        }
        switch stage {
        case .drop:
            // What stands before the dropped ones is next; so it is behind the kept ones.
            end -= chunk
        case .takeBack: if !holds { step += 1 }
        case .waits, .fields, .bytes:
            if holds {
                // The variants of what it has become.
                variants = nil
                variant = 0
            } else {
                variant += 1
            }
        }
    }

    /// The candidate of the present place; nil when the stage is through with it.
    private mutating func candidate() -> FuzzScript? {
        switch stage {
        case .drop: return dropped()
        case .takeBack: return takenBack()
        case .waits, .fields, .bytes: return simplified()
        }
    }

    /// Goes on to the next stage or round; false when all is done.
    private mutating func advance() -> Bool {
        if stage == .drop, chunk > 1 {
            chunk = max(1, chunk / 2)
            end = best.steps.count
            return true
        }
        if let next = Stage(rawValue: stage.rawValue + 1) {
            stage = next
        } else {
            guard hasChanged else { return false }
            hasChanged = false
            stage = .drop
            // What else could be dropped goes one by one, or in pairs such as a question and the
            // wait for its answer.
            chunk = min(2, max(1, best.steps.count / 2))
        }
        end = best.steps.count
        step = 0
        variant = 0
        variants = nil
        return true
    }

    /// Without a chunk of steps, from the end to the front: what comes last needs most.
    private mutating func dropped() -> FuzzScript? {
        end = min(end, best.steps.count)
        guard end > 0 else { return nil }
        let start = max(0, end - chunk)
        guard end - start < best.steps.count else {
            end = 0
            return nil
        }
        var script = best
        script.steps.removeSubrange(start..<end)
        return script
    }

    /// With a step as it was before a mutation changed it.
    private mutating func takenBack() -> FuzzScript? {
        while step < best.steps.count {
            if let original = best.steps[step].mark?.original, best.mutations.count > 1 {
                var script = best
                script.steps[step].action = original
                script.steps[step].mark = nil
                return script
            }
            step += 1
        }
        return nil
    }

    /// With a simpler action in one step.
    private mutating func simplified() -> FuzzScript? {
        while step < best.steps.count {
            let options =
                variants
                ?? Self.variants(of: best.steps[step].action, stage, in: best)
            variants = options
            if variant < options.count {
                var script = best
                script.steps[step].action = options[variant]
                return script
            }
            step += 1
            variant = 0
            variants = nil
        }
        return nil
    }

    private static func variants(
        of action: FuzzAction, _ stage: Stage, in script: FuzzScript
    ) -> [FuzzAction] {
        switch stage {
        case .waits: ShorterWaits(in: script).variants(of: action)
        case .fields: SimplerFields.variants(of: action)
        case .bytes: ShorterBytes.variants(of: action)
        case .drop, .takeBack: []
        }
    }
}

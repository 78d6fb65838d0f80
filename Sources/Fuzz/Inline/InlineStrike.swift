import Network
package import Wire

/// What is done in the place of a live message, and the same as a script against one side.
package struct InlineStrike: Sendable {
    /// One thing that goes out to the side that the message was for.
    package enum Part: Sendable, Hashable {
        /// The message as it came, in frames of so many bytes where that is given.
        case live(fragmentSize: Int?)
        /// A whole message of text.
        case text(Bytes, fragmentSize: Int?)
        case binary(Bytes)
        case frame(FuzzFrame)
        /// Bytes as they are.
        case bytes(Bytes)
        case reset
    }

    /// A part and when it goes out, in nanoseconds of the protocol's time from now.
    package struct Step: Sendable, Hashable {
        package var part: Part
        package var delay: Int64
    }

    package let steps: [Step]
    /// The exchange as a script that plays the sender.
    package let script: FuzzScript
    package let recipe: InlineRecipe
    /// Ids of commands that the board did not send: answers to them are not for it.
    package let injected: [String]
    /// Whether the connection does not outlive it.
    package let endsLink: Bool

    package var mutation: Mutation { recipe.mutation }

    /// When the last thing is done, in nanoseconds of the protocol's time from now.
    var lastDelay: Int64 { steps.last?.delay ?? 0 }

    /// Whether the message goes out first, and just as it came: what a compressed connection needs.
    package var leavesMessageAlone: Bool {
        steps.contains { step in
            if case .live(nil) = step.part { step.delay == 0 } else { false }
        }
    }
}

/// How a message was mutated, so that another one of its class can be mutated in the same way.
package struct InlineRecipe: Sendable, Hashable {
    /// The place in the plan's list of mutators.
    var mutator: Int
    var variant: Int
    /// Where its further choices come from.
    var seed: UInt64
    package var mutation: Mutation
    /// What the mutator does, in a few words.
    package var summary: String
}

/// Turns what a mutator made of a little script into what goes out on a live link.
struct InlineExpression {
    private let context: [FuzzAction]
    private let live: FuzzAction
    private var names = CommandNames()

    /// No part goes out later than this behind the message, in nanoseconds.
    private static let longest = 60 * nanosecondsPerSecond
    /// So long behind a command it is certain that its answer is missing, in nanoseconds.
    private static let missTime = 41 * nanosecondsPerSecond
    /// What waits for an answer to another command waits so long, in nanoseconds.
    private static let answerTime = 1500 * nanosecondsPerMillisecond

    /// - Parameters:
    ///   - context: what has taken place before the message, as steps.
    ///   - live: the message as a step.
    init(context: [FuzzAction], live: FuzzAction, command: LiveMessage.Command?) {
        self.context = context
        self.live = live
        if let command { names.add("c1", nil, id: command.id) }
    }

    /// What is behind the context: steps before the message, the message, and steps behind it.
    private struct Parted {
        var before: [FuzzStep] = []
        var live: FuzzStep?
        var after: [FuzzStep] = []
    }

    /// Parts a script; nil where a mutation has changed what took place already.
    private func parted(_ steps: [FuzzStep]) -> Parted? {
        var parted = Parted()
        var expected = context[...]
        for step in steps {
            let original = step.mark == nil ? step.action : step.mark?.original
            if let original {
                if let next = expected.first {
                    guard original == next, step.mark == nil else { return nil }
                    expected = expected.dropFirst()
                } else {
                    guard original == live, parted.live == nil else { return nil }
                    parted.live = step
                }
            } else if parted.live == nil {
                parted.before.append(step)
            } else {
                parted.after.append(step)
            }
        }
        return parted.live == nil ? nil : parted
    }

    /// What a script does on a live link, and the script in the order of that; nil where it cannot
    /// be done there.
    func express(
        _ steps: [FuzzStep]
    ) -> (steps: [InlineStrike.Step], script: [FuzzStep], injected: [String])? {
        guard let parted = parted(steps), let message = parted.live else { return nil }
        let rest = parted.before + [message] + parted.after
        var done: [InlineStrike.Step] = []
        var injected: [String] = []
        var time: Int64 = 0
        var size: Int?
        for step in rest {
            if step.mark == nil {
                done.append(.init(part: .live(fragmentSize: size), delay: time))
                continue
            }
            switch step.action {
            case .wait(let pause): time += min(pause, 2 * Self.longest)
            case .await: time += Self.answerTime
            case .alive, .bystander, .heal: break
            case .request(let request) where request.method == "GET": break
            case .fragment(_, let bytes): size = bytes
            case .command(_, let json):
                guard let content = filled(json) else { return nil }
                if step.mark?.original == nil, let id = JSONEdit.view(content, ["id"])?.string {
                    injected.append(id)
                }
                done.append(.init(part: .text(content, fragmentSize: size), delay: time))
            default:
                guard let part = part(step.action, size) else { return nil }
                done.append(.init(part: part, delay: time))
            }
            guard time <= 2 * Self.longest else { return nil }
        }
        guard done.last?.delay ?? 0 <= Self.longest,
            done != [.init(part: .live(fragmentSize: nil), delay: 0)]
        else { return nil }
        // That an app never answers shows late.
        var wait: [FuzzStep] = []
        if case .accept? = context.first { wait = [FuzzStep(.wait(Self.missTime))] }
        return (done, context.map { FuzzStep($0) } + rest + wait, injected)
    }

    private func part(_ action: FuzzAction, _ size: Int?) -> InlineStrike.Part? {
        switch action {
        case .text(_, let content): filled(content).map { .text($0, fragmentSize: size) }
        case .binary(_, let content): filled(content).map { .binary($0) }
        case .frame(_, var frame):
            filled(frame.payload).map { payload in
                frame.payload = payload
                return .frame(frame)
            }
        case .bytes(_, let bytes): .bytes(bytes)
        case .close(_, let code, let reason):
            .frame(
                FuzzFrame(
                    .close,
                    (code.map { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []) + reason))
        case .reset: .reset
        default: nil
        }
    }

    /// A text with the command's live id in it; nil where something else is not known.
    private func filled(_ text: Bytes) -> Bytes? {
        let filled = names.fill(text)
        return Self.hasPlace(filled) ? nil : filled
    }

    private static func hasPlace(_ text: Bytes) -> Bool {
        text.indices.dropLast().contains {
            text[$0] == UInt8(ascii: "$") && text[$0 + 1] == UInt8(ascii: "(")
        }
    }
}

import Capture
import PhoneBridge

/// The levels at which an exchange is mutated (fuzzing plan, section 1).
package enum FuzzLevel: String, Sendable, Hashable, CaseIterable {
    /// Rows T: bytes and connections of TCP.
    case bytes
    /// Rows H.
    case http
    /// Rows F: frames of the WebSocket.
    case frames
    /// Rows J: JSON and schema.
    case json
    /// Rows C: session, timing and order.
    case session

    /// The level that a row of the plan's tables belongs to, by the letter of its id.
    package init?(row: String) {
        switch row.first {
        case "T": self = .bytes
        case "H": self = .http
        case "F": self = .frames
        case "J": self = .json
        case "C": self = .session
        default: return nil
        }
    }

    /// Whether its mutations are few enough to be all tried once at the start of a campaign.
    var isFinite: Bool { self == .bytes || self == .http || self == .frames }
}

/// What a conversation has in it; each case draws its own few (swarm testing).
enum Feature: String, Sendable, CaseIterable {
    /// A command over the WebSocket, with its answer.
    case command
    /// A second one of another type.
    case secondCommand
    /// Commands in the queue, polled and answered.
    case queue
    /// As many in the queue that limits matter.
    case manyQueued
    /// A thing that is created, read, changed or deleted, and read again.
    case things
    /// The app goes to the background and comes back.
    case background
    /// The connection ends, and another one begins.
    case reconnect
    /// A second phone polls.
    case secondPhone
    /// A phone that polls and has no connection.
    case withoutLink
}

/// One way of mutating an exchange: a row of the fuzzing plan's tables, or a part of a row whose
/// rating is its own.
struct Mutator: Sendable {
    /// The row and how sure it is what a correct peer makes of it.
    var mutation: Mutation
    /// What it does, in a few words.
    var summary: String
    /// The sides that can be played when it is done.
    var played: Set<Side>
    /// What a conversation has to have for it.
    var needs: Set<Feature>
    /// What the conversation must not have, for its steps would be in the way.
    var excludes: Set<Feature>
    /// How many ways of doing it there are, each worth a case.
    var variants: Int
    /// How often it is drawn compared with others.
    var weight: Int
    /// Does it in one of its ways; false where the exchange has no place for it.
    var apply: @Sendable (inout ScriptEditor, Int, inout Choices) -> Bool

    var level: FuzzLevel { FuzzLevel(row: mutation.id) ?? .session }

    init(
        _ row: String, _ rating: Rule.Rating, as played: Side..., summary: String,
        needs: Set<Feature> = [], excludes: Set<Feature> = [], variants: Int = 1,
        weight: Int = 2,
        apply: @escaping @Sendable (inout ScriptEditor, Int, inout Choices) -> Bool
    ) {
        mutation = Mutation(row, rating)
        self.summary = summary
        self.played = Set(played)
        self.needs = needs
        self.excludes = excludes
        self.variants = max(1, variants)
        self.weight = max(1, weight)
        self.apply = apply
    }

    /// All of them, by level.
    static let all: [Mutator] =
        byteMutators + httpMutators + appHTTPMutators + frameMutators + frameViolations
        + jsonMutators + answerMutators + commandMutators + eventMutators
        + queueMutators + linkMutators + appSessionMutators
}

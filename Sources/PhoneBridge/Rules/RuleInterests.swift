import Capture

/// What a group of rules has to be told: kinds of events and of facts, and that time passes.
///
/// An event of a session concerns a few groups of a score, and most facts do too.
package struct RuleInterests: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    // Events as they stand in the session.
    package static let sessions = RuleInterests(rawValue: 1 << 0)
    package static let opens = RuleInterests(rawValue: 1 << 1)
    package static let requests = RuleInterests(rawValue: 1 << 2)
    package static let responses = RuleInterests(rawValue: 1 << 3)
    package static let frames = RuleInterests(rawValue: 1 << 4)
    package static let messages = RuleInterests(rawValue: 1 << 5)
    package static let pieces = RuleInterests(rawValue: 1 << 6)
    package static let data = RuleInterests(rawValue: 1 << 7)
    package static let gaps = RuleInterests(rawValue: 1 << 8)
    package static let notes = RuleInterests(rawValue: 1 << 9)
    /// `close` and `end`.
    package static let ends = RuleInterests(rawValue: 1 << 10)

    // Facts.
    package static let opened = RuleInterests(rawValue: 1 << 11)
    package static let upgraded = RuleInterests(rawValue: 1 << 12)
    package static let message = RuleInterests(rawValue: 1 << 13)
    package static let command = RuleInterests(rawValue: 1 << 14)
    package static let result = RuleInterests(rawValue: 1 << 15)
    package static let request = RuleInterests(rawValue: 1 << 16)
    package static let exchange = RuleInterests(rawValue: 1 << 17)
    package static let hole = RuleInterests(rawValue: 1 << 18)
    package static let outcome = RuleInterests(rawValue: 1 << 19)
    package static let ended = RuleInterests(rawValue: 1 << 20)
    /// `closed` and `forgotten`: a connection is not followed any more.
    package static let gone = RuleInterests(rawValue: 1 << 21)

    /// `advance`.
    package static let time = RuleInterests(rawValue: 1 << 22)

    package static let all = RuleInterests(rawValue: (1 << 23) - 1)
}

extension Event.Kind {
    /// The interest that an event of this kind meets.
    var interest: RuleInterests {
        switch self {
        case .session: .sessions
        case .open: .opens
        case .request: .requests
        case .response: .responses
        case .frame: .frames
        case .message: .messages
        case .piece: .pieces
        case .data: .data
        case .gap: .gaps
        case .note: .notes
        case .close, .end: .ends
        }
    }
}

extension LinkFact.Kind {
    /// The interest that a fact of this kind meets.
    var interest: RuleInterests {
        switch self {
        case .opened: .opened
        case .upgraded: .upgraded
        case .message: .message
        case .command: .command
        case .result: .result
        case .request: .request
        case .exchange: .exchange
        case .hole: .hole
        case .outcome: .outcome
        case .ended: .ended
        case .closed, .forgotten: .gone
        }
    }
}

/// Which of up to 64 groups, by their places, have which interests.
struct RuleAudience: Sendable {
    private let interests: [RuleInterests]
    /// For each bit of the interests, a bit for each group.
    private let groups: [UInt64]

    init(_ types: [any RuleGroup.Type]) {
        interests = types.map { $0.interests }
        groups = (0..<RuleInterests.RawValue.bitWidth).map { bit in
            let wanted = RuleInterests(rawValue: 1 << bit)
            return types.prefix(Self.maximumGroups).indices.reduce(0) { set, place in
                types[place].interests.contains(wanted) ? set | 1 << UInt64(place) : set
            }
        }
    }

    static let maximumGroups = 64

    /// A bit for each group that has this one interest.
    func groups(of interest: RuleInterests) -> UInt64 {
        groups[interest.rawValue.trailingZeroBitCount & 31]
    }

    /// Whether the group at a place has this interest.
    func wants(_ place: Int, _ interest: RuleInterests) -> Bool {
        interests[place].rawValue & interest.rawValue != 0
    }
}

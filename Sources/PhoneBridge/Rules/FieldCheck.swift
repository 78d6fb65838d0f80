import Capture
import Wire

/// What holding an object against its fields found.
struct FieldCheck: Sendable {
    /// Of commands, answers and events; `board-times` is about the board's HTTP answers.
    static let timeFormat = Rule(
        "time-format", .sure, nil, section: #"contract, "Time Format""#,
        "Every time field of a command, an answer or an event is RFC 3339 with an offset")

    var faults: [FieldFault] = []
    /// Time fields, URLs and fields with a closed set of values that were looked at.
    var instants = 0
    var urls = 0
    var choices = 0
    /// Whether what is looked at stands within a field of the object, or in a list.
    var isNested = false

    /// So many faults of one object are found: the first ones say it.
    static let maximumFaults = 16

    /// The fields of a kind of fault as one sentence; nil for none.
    ///
    /// Faults deep inside are known from the contract's examples alone, and some texts may be
    /// meant: these are likely, the others sure.
    func finding(_ isWanted: (FieldFault) -> Bool) -> (text: String, rating: Rule.Rating)? {
        let wanted = faults.filter(isWanted)
        guard !wanted.isEmpty else { return nil }
        let sure = wanted.contains { !$0.isNested && !$0.isDoubtful }
        var text = wanted.prefix(3).map(\.text).joined(separator: "; ")
        if wanted.count > 3 { text += "; and \(wanted.count - 3) more" }
        return (text, sure ? .sure : .likely)
    }

    /// Reports bad time fields of a message by `side`.
    func reportTimes(
        by side: Side, _ fact: LinkFact, _ command: Breach.Command?,
        _ context: inout RuleContext
    ) {
        guard instants > 0 else { return }
        context.exercise(Self.timeFormat, times: instants)
        // The sentence on time fields is about all of them, however deep.
        let bad = faults.filter(\.isInstant)
        guard !bad.isEmpty else { return }
        context.report(
            Self.timeFormat, rating: bad.allSatisfy(\.isDoubtful) ? .likely : .sure, by: side,
            conn: fact.conn, events: [fact.seq], command: command,
            bad.prefix(3).map(\.text).joined(separator: "; ")
                + (bad.count > 3 ? "; and \(bad.count - 3) more" : ""))
    }
}

/// One field that is not as it should be.
struct FieldFault: Sendable {
    enum Kind: Sendable {
        case missing
        case type(expected: String, found: String)
        /// Not RFC 3339 with an offset.
        case instant(found: String)
        case scheme(found: String)
        case choice(found: String, [String])
    }

    let kind: Kind
    /// Where it stands: `payload.start_at`, `data.events[2].title`.
    let path: String
    let isNested: Bool
    /// Whether another reading than that of the contract's examples may be meant.
    let isDoubtful: Bool

    init(
        _ kind: Kind, _ path: String, _ name: String, isNested: Bool, isDoubtful: Bool = false
    ) {
        self.kind = kind
        self.path = path.isEmpty ? name : "\(path).\(name)"
        self.isNested = isNested
        self.isDoubtful = isDoubtful
    }

    var isMissing: Bool { if case .missing = kind { true } else { false } }
    var isType: Bool { if case .type = kind { true } else { false } }
    var isInstant: Bool { if case .instant = kind { true } else { false } }
    var isScheme: Bool { if case .scheme = kind { true } else { false } }
    var isChoice: Bool { if case .choice = kind { true } else { false } }

    /// What was found and what was due.
    var text: String {
        switch kind {
        case .missing: "\(path) is missing"
        case .type(let expected, let found): "\(path) is \(found), not \(expected)"
        case .instant(let found):
            "\(path) is \(found.quoted), not RFC 3339 with an offset"
        case .scheme(let found): "\(path) is \(found.quoted), which has no scheme of the contract"
        case .choice(let found, let choices):
            "\(path) is \(found.quoted), none of \(choices.joined(separator: ", "))"
        }
    }
}

extension String {
    /// The text in quotes, cut where it is long.
    var quoted: String {
        let maximum = 64
        guard utf8.count > maximum else { return "\"\(self)\"" }
        return "\"\(prefix(maximum))…\""
    }
}

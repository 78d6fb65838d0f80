package import Capture
package import PhoneBridge
package import Report
import Wire

/// What the replay of one session showed: the same, or what differs.
package struct ReplayVerdict {
    /// One thing that was compared.
    package struct Item: Sendable {
        /// What kind of thing it is.
        package enum Kind: String, Sendable {
            case command
            case exchange
            case event
            /// A connection as a whole, its heartbeats, its end.
            case link
            /// A rule of the contract that the live session broke and the recorded one did not.
            case rule
        }

        package var kind: Kind
        /// What it belongs to: the type of a command, the name of an event.
        package var group: String
        /// The same from run to run.
        package var name: String
        package var outcome: SessionDiff.Outcome
        /// What there is to say, a line each, with personal values masked.
        package var details: [String] = []
        /// Where it stands in the recording and in the live session.
        package var recordedSeq: Int?
        package var liveSeq: Int?
        /// The differences themselves, for other programs.
        package var differences: [FieldDifference] = []
        package var left = 0
        /// What is to be said beside its differences.
        package var remarks: [String] = []
        /// Where it stands in both sessions, part by part.
        package var places: [ComparedItem.Place] = []

        /// The item as pages show it.
        package var compared: ComparedItem {
            ComparedItem(
                kind: kind.rawValue, outcome: outcome, group: group, name: name,
                remarks: remarks.isEmpty && differences.isEmpty ? details : remarks,
                differences: differences, left: left,
                places: places.isEmpty
                    ? [.init(recordedSeq, liveSeq, isFocus: true)] : places)
        }
    }

    package let name: String
    /// The first line of the recording; nil where it has none.
    package let info: SessionInfo?
    package private(set) var items: [Item] = []
    /// How many commands came out so.
    package private(set) var counts: [SessionDiff.Outcome: Int] = [:]
    /// Commands of the recording.
    package private(set) var commandCount = 0
    /// Nanoseconds that the play took.
    package let duration: Int64
    /// What of the session could not be played.
    package let unplayable: [(seq: Int, why: String)]
    /// Whether the files of what took place hold all of it.
    package let isRecordComplete: Bool
    /// Rules for the comparison that were of no use, or let too much pass.
    package private(set) var ruleRemarks: [ComparisonRules.Remark] = []
    /// Rules that count and are broken, and do not count here since the recorded peer broke them
    /// as well.
    package private(set) var excusedRules: Set<String> = []
    /// Why the target was lost; nil while it was there to the end.
    package private(set) var loss: TargetError?
    /// The lines of both timelines, where they were kept.
    package let rows: (recorded: SessionRows, live: SessionRows)?
    /// What took place, as a session, where it was kept.
    package let session: SpooledOutput?
    /// What stands around the first few things that differ, by their index.
    package private(set) var surroundings: [Int: ItemSurroundings] = [:]

    /// Differences whose surroundings are shown.
    private static let maximumSurroundings = 3

    /// Compares a session with what took place when it was played.
    ///
    /// - Parameter countsRecordedBreaches: rules count as broken though the recorded peer broke
    ///   them as well, as of a session that shows a bug.
    package init(
        _ session: LoadedSession, _ result: ReplayResult, loss: TargetError? = nil,
        rules: ComparisonRules = ComparisonRules(), profile: Profile, contract: Contract,
        countsRecordedBreaches: Bool = false
    ) throws(OutputError) {
        name = session.name
        info = session.recorded.info
        duration = result.duration
        unplayable = result.script.unplayable
        self.loss = loss
        isRecordComplete = result.isRecordComplete
        self.session = result.session
        if let recorded = session.rows, let live = result.rows {
            rows = (recorded, live)
        } else {
            rows = nil
        }
        var diff = SessionDiff(
            session.comparable, result.live, contract: contract, rules: rules,
            pairing: result.pairing)
        let layout = DiffText(isColoured: false)
        let conditions = Preconditions(result, contract: contract)
        while var pair = try diff.nextCommand() {
            try conditions.settle(&pair)
            add(pair, layout)
        }
        while let pair = try diff.nextExchange() {
            items.append(
                Item(
                    kind: .exchange, group: pair.kind.rawValue,
                    name: pair.id.isEmpty ? "\(pair.ordinal)" : "\(pair.id) \(pair.ordinal)",
                    outcome: pair.outcome, details: layout.details(pair),
                    recordedSeq: pair.first?.seq, liveSeq: pair.second?.seq,
                    differences: pair.differences, left: pair.left,
                    remarks: ComparedItem(pair).remarks))
        }
        while let pair = try diff.nextEvent() {
            items.append(
                Item(
                    kind: .event, group: pair.name, name: "\(pair.ordinal)",
                    outcome: pair.outcome, details: layout.details(pair),
                    recordedSeq: pair.first?.seq, liveSeq: pair.second?.seq,
                    differences: pair.differences, left: pair.left,
                    remarks: ComparedItem(pair).remarks))
        }
        for fact in diff.facts where fact.counts {
            items.append(
                Item(
                    kind: .link, group: "link", name: fact.name, outcome: .changed,
                    details: ["\(fact.first) → \(fact.second)"]))
        }
        for failure in result.linkFailures {
            items.append(
                Item(
                    kind: .link, group: "link", name: "\(failure.name) \(failure.link)",
                    outcome: .changed, details: [failure.text], recordedSeq: failure.seq))
        }
        add(rules: result, session, profile, countsRecordedBreaches)
        ruleRemarks = diff.ruleRemarks
        try lookAround()
    }

    /// Finds what stands around the first things that differ.
    private mutating func lookAround() throws(OutputError) {
        guard let rows, isDifferent else { return }
        let layout = RowLayout(rows.recorded, rows.live, items: items.map(\.compared))
        let differing = items.indices.filter {
            items[$0].outcome.counts && layout.places[$0] != nil
        }
        for index in differing.prefix(Self.maximumSurroundings) {
            surroundings[index] = try ItemSurroundings(
                of: index, in: layout, rows.recorded, rows.live)
        }
    }

    private mutating func add(_ pair: SessionDiff.CommandPair, _ layout: DiffText) {
        counts[pair.outcome, default: 0] += 1
        if pair.first != nil { commandCount += 1 }
        let id = pair.first?.id ?? pair.second?.id ?? ""
        let compared = ComparedItem(pair)
        items.append(
            Item(
                kind: .command, group: pair.type, name: "\(id) \(pair.ordinal)",
                outcome: pair.outcome, details: layout.details(pair),
                recordedSeq: pair.first?.seq, liveSeq: pair.second?.seq,
                differences: pair.differences, left: pair.left, remarks: compared.remarks,
                places: compared.places))
    }

    /// Rules that are broken now and were not before, by the side that is judged; where it
    /// is wanted, also those that were broken before.
    ///
    /// One that is rated likely counts as well where the recorded peer was put to its test and kept
    /// it: what it did is what is expected.
    private mutating func add(
        rules result: ReplayResult, _ session: LoadedSession, _ profile: Profile,
        _ countsRecordedBreaches: Bool
    ) {
        var found: [String: [Breach]] = [:]
        for breach in result.breaches where breach.side == result.pairing.judged {
            let isKnown = session.breaches[breach.rule.id] != nil
            switch profile.standing(of: breach) {
            case .counted:
                guard !isKnown || countsRecordedBreaches else {
                    excusedRules.insert(breach.rule.id)
                    continue
                }
            case .remark:
                guard !isKnown, breach.rule.rating == .likely,
                    session.exercised.contains(breach.rule.id)
                else { continue }
            case .excused: continue
            }
            found[breach.rule.id, default: []].append(breach)
        }
        for (id, breaches) in found.sorted(by: { $0.key < $1.key }) {
            guard let first = breaches.first else { continue }
            // What was seen may quote a person's values; what is demanded does not.
            var details = ["\(first.rule.demand) (\(first.rule.section))"]
            if breaches.count > 1 { details.append("\(breaches.count) times") }
            items.append(
                Item(
                    kind: .rule, group: "rules", name: id, outcome: .changed, details: details,
                    liveSeq: first.events.last))
        }
    }

    /// How many commands were put to the test.
    package var exercised: Int { commandCount - counts[.skipped, default: 0] }

    /// Whether anything that counts differs, the target's loss included.
    package var isDifferent: Bool { loss != nil || items.contains { $0.outcome.counts } }

    /// Whether at least so many percent of the commands were put to the test, and any at all.
    package func isExercised(percent: Int) -> Bool {
        exercised > 0 && exercised * 100 >= commandCount * percent
    }

    /// Whether what took place can stand for the session from now on: all of it is on file, and
    /// the target was there to its end.
    package var canReplace: Bool { loss == nil && isRecordComplete }

    /// What differs.
    package var differences: [Item] { items.filter { $0.outcome.counts } }
}

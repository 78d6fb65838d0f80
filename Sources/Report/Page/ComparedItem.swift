/// One thing that was compared, with all places at which it stands in both sessions: what a page
/// or a terminal needs to show it where it took place.
package struct ComparedItem: Sendable {
    /// Where something stands in both sessions, by the `seq` of its event.
    package struct Place: Sendable, Equatable {
        package var first: Int?
        package var second: Int?
        /// The ids of the command there, where an event can hold several.
        package var firstID: String?
        package var secondID: String?
        /// Whether this is what is looked at first.
        package var isFocus: Bool

        package init(
            _ first: Int?, _ second: Int?, firstID: String? = nil, secondID: String? = nil,
            isFocus: Bool = false
        ) {
            self.first = first
            self.second = second
            self.firstID = firstID
            self.secondID = secondID
            self.isFocus = isFocus
        }
    }

    /// What it is: `command`, `exchange`, `event`, `link` or `rule`.
    package var kind: String
    package var outcome: SessionDiff.Outcome
    /// What it belongs to: the type of a command, the name of an event.
    package var group: String
    /// The same from run to run.
    package var name: String
    /// What is to be said beside its differences, a line each, with personal values masked.
    package var remarks: [String]
    package var differences: [FieldDifference]
    /// Differences that were left out.
    package var left: Int
    package var places: [Place]

    package init(
        kind: String, outcome: SessionDiff.Outcome, group: String, name: String,
        remarks: [String] = [], differences: [FieldDifference] = [], left: Int = 0,
        places: [Place] = []
    ) {
        self.kind = kind
        self.outcome = outcome
        self.group = group
        self.name = name
        self.remarks = remarks
        self.differences = differences
        self.left = left
        self.places = places
    }

    /// Makes the item of a command.
    package init(_ pair: SessionDiff.CommandPair) {
        self.init(
            kind: "command", outcome: pair.outcome, group: pair.type,
            name: "\(pair.first?.id ?? pair.second?.id ?? "") \(pair.ordinal)",
            remarks: DiffText(isColoured: false).remarks(pair), differences: pair.differences,
            left: pair.left, places: Self.places(pair))
    }

    /// Makes the item of an event of the app.
    package init(_ pair: SessionDiff.EventPair) {
        self.init(
            kind: "event", outcome: pair.outcome, group: pair.name, name: "\(pair.ordinal)",
            remarks: pair.remarks.map { visible($0) }, differences: pair.differences,
            left: pair.left,
            places: [Place(pair.first?.seq, pair.second?.seq, isFocus: true)])
    }

    /// Makes the item of an HTTP exchange.
    package init(_ pair: SessionDiff.ExchangePair) {
        self.init(
            kind: "exchange", outcome: pair.outcome, group: pair.kind.rawValue,
            name: pair.id.isEmpty ? "\(pair.ordinal)" : "\(pair.id) \(pair.ordinal)",
            remarks: pair.remarks.map { visible($0) }, differences: pair.differences,
            left: pair.left,
            places: [Place(pair.first?.seq, pair.second?.seq, isFocus: true)])
    }

    /// Makes the item of something that differs of the whole.
    package init(_ fact: SessionDiff.FactDifference) {
        self.init(
            kind: "link", outcome: .changed, group: "link", name: fact.name,
            remarks: ["\(visible(fact.first)) → \(visible(fact.second))"])
    }

    /// The command, its answer and its outcome; what differs is looked at first.
    package static func places(_ pair: SessionDiff.CommandPair) -> [Place] {
        var places = [
            Place(
                pair.first?.seq, pair.second?.seq, firstID: pair.first?.id,
                secondID: pair.second?.id)
        ]
        let answers = (pair.first?.answer?.seq, pair.second?.answer?.seq)
        let outcomes = (pair.first?.outcome?.seq, pair.second?.outcome?.seq)
        let paths = pair.differences.filter(\.counts).map(\.path)
        let isAboutAnswer =
            [.late, .unanswered, .duplicate].contains(pair.outcome)
            || paths.contains { $0.hasPrefix("result") }
        if answers != (nil, nil) {
            places.append(
                Place(
                    answers.0, answers.1, firstID: pair.first?.id, secondID: pair.second?.id,
                    isFocus: isAboutAnswer))
        }
        if outcomes != (nil, nil) {
            places.append(
                Place(
                    outcomes.0, outcomes.1,
                    isFocus: !isAboutAnswer && paths.contains { $0.hasPrefix("outcome") }))
        }
        if !places.contains(where: \.isFocus) { places[0].isFocus = true }
        return places
    }
}

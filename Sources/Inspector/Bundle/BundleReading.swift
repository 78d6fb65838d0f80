import Capture
import PhoneBridge
import Report
import Wire

/// One reading of a bundle's session, by everything that has something to say about it.
struct BundleReading {
    private var feed: SessionFeed
    private var check: SessionCheck
    private var figures = StatisticsReader()
    private let name: String

    /// The findings, once all was read.
    private(set) var suite: Results.Suite
    private(set) var findings: [(rule: Rule, finding: Results.Finding)] = []
    private(set) var link = LinkFacts()
    /// Where somebody set a mark: the event and its time.
    private(set) var marks: [(seq: Int, time: Int64)] = []

    /// Findings and marks that are kept; more are counted by rule.
    private static let maximumFindings = 10_000
    private static let maximumMarks = 100

    init(name: String, profile: Profile, today: String) {
        self.name = name
        feed = SessionFeed(name: name, replay: Self.replay, profile: profile, today: today)
        check = SessionCheck(name: name, profile: profile, today: today)
        suite = Results.Suite(name: name)
    }

    /// The beginning of the command that plays the session.
    private static let replay = "bridgetap replay --check session.ndjson"

    /// The command that plays the session against a board.
    var command: String {
        "\(Self.replay) --as app --to \(SessionFeed.board(of: statistics.info))"
    }

    var log: SessionLog { feed.log }
    var statistics: SessionStatistics { figures.statistics }
    var isComplete: Bool { check.isComplete }

    /// Reads the session to its end.
    mutating func read(_ session: SpooledOutput) throws(OutputError) {
        var reader = SessionReader(session.open())
        while let item = try Self.next(&reader, session.name) {
            switch item {
            case .event(let event): try receive(event, at: reader.position)
            case .remark(let remark):
                // What this program has just written is whole, unless its disk is not.
                keep(check.lost())
                try feed.remark("\(remark.position.text): \(remark.text)")
            }
        }
        figures.finish()
        let (last, suite) = check.finish()
        keep(last)
        self.suite = suite
        try feed.finish()
    }

    private static func next(
        _ reader: inout SessionReader, _ name: String
    ) throws(OutputError) -> SessionReader.Item? {
        do throws(SessionError) {
            return try reader.next()
        } catch {
            if case .unreadable(let source) = error {
                throw OutputError(errno: source.errno, call: source.call, path: source.name)
            }
            // EIO: what was written there is not what is there.
            throw OutputError(errno: 5, call: "read", path: name)
        }
    }

    private mutating func receive(
        _ event: Event, at position: SessionPosition
    ) throws(OutputError) {
        try feed.receive(event)
        keep(check.receive(event, at: position, name: name))
        figures.receive(event)
        link.receive(event)
        if case .note(let note) = event.kind, note.code == "mark",
            marks.count < Self.maximumMarks
        {
            marks.append((event.seq, event.time))
        }
    }

    private mutating func keep(_ found: [(Rule, Results.Finding)]) {
        for (rule, finding) in found where findings.count < Self.maximumFindings {
            findings.append((rule, finding))
        }
    }
}

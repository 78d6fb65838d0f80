import Capture
import PhoneBridge
package import Wire

/// A finding with the circumstances in which it was made: what `finding.json` says.
package struct FindingRecord: Sendable {
    package var finding: FuzzFinding
    package var circumstances: Circumstances

    /// What a campaign was run with.
    package struct Circumstances: Sendable, Equatable {
        /// The program with its version.
        package var tool = ""
        package var profile = ""
        /// The seeds that found it.
        package var seeds: [UInt64] = []
        /// The flags that reach the target, as for a shell.
        package var flags = ""
        /// Whether the target was started for it, or simulated: then it is nobody's phone.
        package var isOwnTarget = false
        /// Days, as in `2026-12-31`.
        package var firstSeen = ""
        package var lastSeen = ""

        package init() {}
    }

    package init(_ finding: FuzzFinding, _ circumstances: Circumstances) {
        self.finding = finding
        self.circumstances = circumstances
    }

    /// The version of the form.
    package static let version = 1

    /// The record, without its sessions and its script, which stand beside it.
    package var json: JSON {
        let observation = finding.observation
        var members: [JSON.Member] = [
            .init("version", .integer(Self.version)),
            .init("bucket", .string(finding.name)),
            .init("check", .string(observation.check)),
            .init("side", .string(finding.bucket.side.rawValue)),
            .init("rating", .string(observation.rating.rawValue)),
            .init("verdict", .string(finding.verdict.word)),
            .init("k", .integer(finding.rate.hits)), .init("n", .integer(finding.rate.runs)),
            .init("section", .string(observation.section)),
            .init("demand", .string(observation.demand)),
            .init("seen", .string(observation.text)),
        ]
        if let type = observation.type { members.append(.init("type", .string(type))) }
        members += [
            .init("universal", .bool(observation.isUniversal)),
            .init("events", .array(observation.events.map { .integer($0) })),
            .init("normalised", .string(finding.bucket.signal.text)),
            .init("kinds", .array(finding.bucket.kinds.map { .string($0) })),
            .init("mutations", .array(finding.script.mutations.map { .string($0.id) })),
            .init("signals", .array(finding.signals.map(\.json).sorted { "\($0)" < "\($1)" })),
            .init("related", .array(finding.related.map { .string($0) })),
            .init("minimised", .bool(finding.isMinimised)),
            .init("questions", .integer(finding.questions)),
            .init("fresh", .bool(finding.isFresh)), .init("count", .integer(finding.count)),
        ]
        if let index = finding.firstCase { members.append(.init("first_case", .integer(index))) }
        if let index = finding.lastCase { members.append(.init("last_case", .integer(index))) }
        members += [
            .init("first_seen", .string(circumstances.firstSeen)),
            .init("last_seen", .string(circumstances.lastSeen)),
            .init("tool", .string(circumstances.tool)),
            .init("profile", .string(circumstances.profile)),
            // Seeds take all 64 bits, and other programs read numbers as doubles.
            .init("seeds", .array(circumstances.seeds.map { .string("\($0)") })),
            .init("flags", .string(circumstances.flags)),
            .init("own_target", .bool(circumstances.isOwnTarget)),
            .init("original", .string(finding.original.description)),
        ]
        return .object(members)
    }

    /// Reads a record.
    ///
    /// - Parameter script: the text of the script beside it.
    package init(parsing json: JSON, script: FuzzScript) throws(FindingRecordError) {
        func text(_ name: String) throws(FindingRecordError) -> String {
            guard let text = json[name]?.stringValue else { throw .missing(name) }
            return text
        }
        func number(_ name: String) -> Int {
            json[name]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
        }
        guard number("version") == Self.version else { throw .version(number("version")) }
        guard let rating = Rule.Rating(rawValue: try text("rating")) else {
            throw .missing("rating")
        }
        guard let verdict = Investigation.Verdict(word: try text("verdict")) else {
            throw .missing("verdict")
        }
        guard let side = Side(rawValue: try text("side")) else { throw .missing("side") }
        let observation = Observation(
            check: try text("check"), rating: rating, section: try text("section"),
            demand: try text("demand"), text: try text("seen"), type: json["type"]?.stringValue,
            events: Self.numbers(json["events"]), isUniversal: json["universal"] == true)
        let bucket = Bucket(
            side: side, signal: Signal(check: observation.check, text: try text("normalised")),
            kinds: Self.texts(json["kinds"]))
        finding = FuzzFinding(bucket: bucket, observation: observation, verdict: verdict, script)
        guard try text("bucket") == finding.name else { throw .otherBucket(finding.name) }
        if let original = json["original"]?.stringValue {
            finding.original = (try? FuzzScript(parsing: original)) ?? script
        }
        finding.rate = Investigation.Rate(number("k"), of: number("n"))
        finding.isMinimised = json["minimised"] == true
        finding.isFresh = json["fresh"] == true
        finding.questions = number("questions")
        finding.count = max(1, number("count"))
        finding.firstCase = json["first_case"]?.integerValue.flatMap { Int(exactly: $0) }
        finding.lastCase = json["last_case"]?.integerValue.flatMap { Int(exactly: $0) }
        finding.related = Self.texts(json["related"])
        finding.signals.formUnion((json["signals"]?.elements ?? []).compactMap { Signal($0) })
        circumstances = Circumstances()
        circumstances.tool = try text("tool")
        circumstances.profile = try text("profile")
        circumstances.seeds = Self.texts(json["seeds"]).compactMap { UInt64($0) }
        circumstances.flags = try text("flags")
        circumstances.isOwnTarget = json["own_target"] == true
        circumstances.firstSeen = try text("first_seen")
        circumstances.lastSeen = try text("last_seen")
    }

    private static func texts(_ json: JSON?) -> [String] {
        (json?.elements ?? []).compactMap(\.stringValue)
    }

    private static func numbers(_ json: JSON?) -> [Int] {
        (json?.elements ?? []).compactMap(\.integerValue).compactMap { Int(exactly: $0) }
    }
}

/// Why a text is no record of a finding: one sentence in lower case without a full stop.
package enum FindingRecordError: Error, Sendable, Hashable, CustomStringConvertible {
    case missing(String)
    case version(Int)
    case otherBucket(String)

    package var description: String {
        switch self {
        case .missing(let name): "\(JSON.string(name)) is missing, or is not what it should be"
        case .version(let version): "version \(version) of findings is not known"
        case .otherBucket(let name): "its bucket is not \(name), which follows from the rest"
        }
    }
}

extension Investigation.Verdict {
    /// The word for it in reports for programs.
    package var word: String {
        switch self {
        case .confirmed: "confirmed"
        case .keptAsSeen: "seen"
        case .withoutMutation: "without-mutation"
        case .flaky: "flaky"
        case .unconfirmed: "unconfirmed"
        case .undecided: "undecided"
        }
    }

    /// The verdict with that word; nil for an unknown one.
    package init?(word: String) {
        let all: [Self] = [
            .confirmed, .keptAsSeen, .withoutMutation, .flaky, .unconfirmed, .undecided,
        ]
        guard let verdict = all.first(where: { $0.word == word }) else { return nil }
        self = verdict
    }
}

extension Signal {
    /// The signal in a file of JSON.
    package var json: JSON { ["check": .string(check), "text": .string(text)] }

    /// Reads what `json` wrote; nil for anything else.
    package init?(_ json: JSON) {
        guard let check = json["check"]?.stringValue, let text = json["text"]?.stringValue else {
            return nil
        }
        self.init(check: check, text: text)
    }
}

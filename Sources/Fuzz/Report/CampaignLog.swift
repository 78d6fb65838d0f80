package import Wire

/// The state of a campaign as lines, each written behind a case, so that whatever ends the program
/// loses no more than the cases under way (fuzzing plan, 3.3).
///
/// A line that is torn at the end of the file is as if it were not there. When there are many lines
/// they are put together into a few, in a new file.
package struct CampaignLog: Sendable {
    /// What has to be the same for a campaign to be gone on with.
    package struct Identity: Sendable, Equatable {
        package var tool = ""
        package var planVersion = 0
        package var seed: UInt64 = 0
        package var side = ""
        /// The name of the profile, and a digest of what it says.
        package var profile = ""
        /// A digest of the corpus; empty where there is none.
        package var corpus = ""
        package var levels = ""
        package var shard = "1/1"

        package init() {}

        /// What is not the same, in words; nil where all is.
        package func difference(from other: Identity) -> String? {
            let all = zip(members, other.members)
            guard let (mine, its) = all.first(where: { $0.value != $1.value }) else { return nil }
            return "its \(mine.name) was \(its.value), and is \(mine.value) now"
        }

        fileprivate var members: [(name: String, value: String)] {
            [
                ("tool", tool), ("plan", "\(planVersion)"), ("seed", "\(seed)"), ("side", side),
                ("profile", profile), ("corpus", corpus), ("levels", levels), ("shard", shard),
            ]
        }

        fileprivate var line: Bytes {
            CampaignLog.encoded(
                [.init("kind", "campaign"), .init("version", .integer(CampaignLog.version))]
                    + members.map { .init($0.name, .string($0.value)) })
        }

        fileprivate init?(_ json: JSON) {
            func text(_ name: String) -> String { json[name]?.stringValue ?? "" }
            guard json["kind"] == "campaign", json["version"]?.integerValue == 1,
                let plan = Int(text("plan")), let seed = UInt64(text("seed"))
            else { return nil }
            tool = text("tool")
            planVersion = plan
            self.seed = seed
            side = text("side")
            profile = text("profile")
            corpus = text("corpus")
            levels = text("levels")
            shard = text("shard")
        }
    }

    /// The version of the form.
    package static let version = 1

    package let identity: Identity
    /// What is over.
    package private(set) var progress: CampaignProgress

    /// - Parameter shard: the part of the cases that the campaign runs.
    package init(_ identity: Identity, shard: (number: Int, count: Int) = (1, 1)) {
        self.identity = identity
        progress = CampaignProgress(shard: shard)
    }

    /// The beginning of a file: all that is known, in two lines.
    package var head: Bytes {
        var members: [JSON.Member] = [
            .init("below", .integer(progress.below)),
            .init("also", .array(progress.also.sorted().map { .integer($0) })),
            .init("cases", .integer(progress.figures.cases)),
        ]
        let reached = progress.figures.reached.sorted { $0.key.rawValue < $1.key.rawValue }
        members.append(
            .init(
                "reached",
                .object(reached.map { .init($0.key.rawValue, .integer($0.value)) })))
        let rows = progress.figures.mutations.sorted { $0.key < $1.key }
        members.append(
            .init("rows", .object(rows.map { .init($0.key, .integer($0.value)) })))
        members.append(
            .init(
                "new", .array(progress.shapes.sorted().map { .string(String($0, radix: 36)) })))
        return identity.line + (progress.figures.cases > 0 ? Self.encoded(members) : [])
    }

    /// Takes a case that is over, and gives its line.
    package mutating func take(_ record: CaseRecord) -> Bytes {
        progress.add(record)
        return Self.line(record)
    }

    private static func line(_ record: CaseRecord) -> Bytes {
        var members: [JSON.Member] = [.init("case", .integer(record.index))]
        if !record.mutations.isEmpty {
            members.append(.init("rows", .string(record.mutations.joined(separator: " "))))
        }
        if !record.reached.isEmpty {
            members.append(
                .init(
                    "reached", .array(record.reached.map(\.rawValue).sorted().map { .string($0) }))
            )
        }
        if !record.newShapes.isEmpty {
            members.append(
                .init("new", .array(record.newShapes.map { .string(String($0, radix: 36)) })))
        }
        return encoded(members)
    }

    /// Reads a file; nil where its first line is no campaign's.
    package init?(parsing text: Bytes, shard: (number: Int, count: Int) = (1, 1)) {
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // What has no line feed behind it was being written.
        if !lines.isEmpty { lines.removeLast() }
        guard let first = lines.first, let json = try? JSON(parsing: Bytes(first)),
            let identity = Identity(json)
        else { return nil }
        self.init(identity, shard: shard)
        for line in lines.dropFirst() {
            guard let json = try? JSON(parsing: Bytes(line)) else { continue }
            if let record = Self.record(json) {
                progress.add(record)
            } else {
                takeSum(json)
            }
        }
    }

    private mutating func takeSum(_ json: JSON) {
        func number(_ value: JSON?) -> Int {
            value?.integerValue.flatMap { Int(exactly: $0) }.map { max(0, $0) } ?? 0
        }
        guard json["below"] != nil else { return }
        progress.below = max(progress.below, number(json["below"]))
        progress.also.formUnion((json["also"]?.elements ?? []).map { number($0) })
        progress.figures.cases &+= number(json["cases"])
        for member in json["reached"]?.members ?? [] {
            guard let word = Sometimes(rawValue: member.name) else { continue }
            progress.figures.reached[word, default: 0] &+= number(member.value)
        }
        for member in json["rows"]?.members ?? [] {
            progress.figures.mutations[member.name, default: 0] &+= number(member.value)
        }
        progress.shapes.formUnion(Self.shapes(json))
    }

    private static func shapes(_ json: JSON) -> [UInt64] {
        (json["new"]?.elements ?? []).compactMap(\.stringValue)
            .compactMap { UInt64($0, radix: 36) }
    }

    private static func record(_ json: JSON) -> CaseRecord? {
        guard let index = json["case"]?.integerValue.flatMap({ Int(exactly: $0) }), index >= 0
        else { return nil }
        return CaseRecord(
            index: index,
            mutations: (json["rows"]?.stringValue ?? "").split(separator: " ").map(String.init),
            reached: Set(
                (json["reached"]?.elements ?? []).compactMap(\.stringValue)
                    .compactMap { Sometimes(rawValue: $0) }),
            newShapes: shapes(json))
    }

    private static func encoded(_ members: [JSON.Member]) -> Bytes {
        var bytes: Bytes = []
        JSON.object(members).encode(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

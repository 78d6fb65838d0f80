import PhoneBridge
package import Wire

/// What a campaign says as NDJSON (`--json`).
package enum CampaignLines {
    /// A finding, as soon as it is known.
    package static func line(_ finding: FuzzFinding, excuse: String?, in folder: String) -> Bytes {
        var members = about(finding.observation, finding.name)
        members += [
            .init("verdict", .string(finding.verdict.word)),
            .init("k", .integer(finding.rate.hits)), .init("n", .integer(finding.rate.runs)),
            .init("steps", .integer(finding.script.steps.count)),
            .init("folder", .string("\(folder)/\(finding.name)")),
        ]
        if let index = finding.firstCase { members.append(.init("case", .integer(index))) }
        return encoded("finding", members, excuse)
    }

    /// What became of a finding of an earlier campaign.
    package static func line(
        _ name: String, _ fate: KnownFinding.Fate, excuse: String?
    ) -> Bytes {
        var members: [JSON.Member] = [.init("bucket", .string(name))]
        switch fate {
        case .stillThere(let rate):
            members.append(.init("fate", "still-there"))
            members.append(.init("k", .integer(rate.hits)))
            members.append(.init("n", .integer(rate.runs)))
        case .fixed: members.append(.init("fate", "fixed"))
        case .changed(let observation):
            members.append(.init("fate", "changed"))
            members.append(.init("check", .string(observation.check)))
            members.append(.init("seen", .string(observation.text)))
        case .undecided: members.append(.init("fate", "undecided"))
        }
        return encoded("known", members, excuse)
    }

    /// Something that is no finding.
    package static func line(_ signal: ApartSignal) -> Bytes {
        var members = about(signal.observation, nil)
        members += [
            .init("verdict", .string(signal.verdict.word)),
            .init("k", .integer(signal.rate.hits)), .init("n", .integer(signal.rate.runs)),
        ]
        if let index = signal.firstCase { members.append(.init("case", .integer(index))) }
        members.append(.init("script", .string(signal.script.description)))
        return encoded("apart", members, nil)
    }

    /// The figures.
    package static func line(_ status: CampaignStatus, isLast: Bool) -> Bytes {
        status.json(isLast ? "end" : "status").encoded + [UInt8(ascii: "\n")]
    }

    private static func about(_ observation: Observation, _ name: String?) -> [JSON.Member] {
        var members: [JSON.Member] = []
        if let name { members.append(.init("bucket", .string(name))) }
        return members + [
            .init("check", .string(observation.check)),
            .init("rating", .string(observation.rating.rawValue)),
            .init("section", .string(observation.section)),
            .init("seen", .string(observation.text)),
        ]
    }

    private static func encoded(
        _ kind: String, _ members: [JSON.Member], _ excuse: String?
    ) -> Bytes {
        var all = [JSON.Member("kind", .string(kind))] + members
        if let excuse { all.append(.init("excuse", .string(excuse))) }
        return JSON.object(all).encoded + [UInt8(ascii: "\n")]
    }
}

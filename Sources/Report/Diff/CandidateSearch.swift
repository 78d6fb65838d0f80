import Capture
import PhoneBridge
import Wire

/// Bounds the search for what comes closest to a command without a partner.
struct CandidateSearch {
    /// Commands of the other side that are looked at, those of the same type first.
    static let maximumCandidates = 32
    /// Fields in which one of another type may differ, its type included: more have nothing in
    /// common.
    static let maximumFields = 3
    /// Commands for which it is done.
    static let maximumSearches = 256

    var searches = 0
}

extension SessionDiff {
    /// The command of the other side that has no partner either and differs least from this one.
    mutating func candidate(
        for pair: CommandPair, among pairs: [(first: Int?, second: Int?)]
    ) throws(OutputError) -> Candidate? {
        guard searches.searches < CandidateSearch.maximumSearches,
            let command = pair.first ?? pair.second
        else { return nil }
        searches.searches += 1
        let isMissing = pair.first != nil
        let others = pairs.compactMap { other -> DiffSession.Command? in
            isMissing
                ? (other.first == nil ? other.second.map { second.commands[$0] } : nil)
                : (other.second == nil ? other.first.map { first.commands[$0] } : nil)
        }.filter { pairing?.skipped[$0.id] == nil || isMissing }
        let likely =
            others.filter { $0.type == command.type }
            + others.filter { $0.type != command.type }
        var best: (candidate: Candidate, count: Int)?
        for other in likely.prefix(CandidateSearch.maximumCandidates) {
            // Another type is taken where there is none of the same.
            if other.type != command.type, best?.candidate.command.type == command.type { break }
            var fields = FieldComparison()
            // What it finds on its way is no finding.
            let kept = ledger
            ledger.begin(command.type)
            ledger.isTrial = true
            try compare(
                (isMissing ? command : other).content, (isMissing ? other : command).content,
                "command", self.command(contract.command(named: command.type)), into: &fields)
            ledger = kept
            if other.type != command.type, fields.counted > CandidateSearch.maximumFields {
                continue
            }
            if fields.counted < best?.count ?? .max {
                best = (
                    Candidate(
                        command: other, differences: fields.differences, left: fields.left),
                    fields.counted
                )
            }
        }
        return best?.candidate
    }
}

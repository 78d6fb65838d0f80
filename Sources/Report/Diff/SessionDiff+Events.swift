import Capture
import PhoneBridge
import Wire

extension SessionDiff {
    /// Whether both sessions are of one platform, as far as that is known.
    var isOnePlatform: Bool {
        guard let left = first.platform, let right = second.platform else { return true }
        return left.lowercased() == right.lowercased()
    }

    mutating func compare(
        _ left: DiffSession.AppEvent?, _ right: DiffSession.AppEvent?
    ) throws(OutputError) -> EventPair {
        var pair = EventPair(
            first: left, second: right,
            outcome: left == nil ? .extra : right == nil ? .missing : .same)
        if let left, let why = pairing?.unexercised[left.seq] {
            pair.outcome = .skipped
            pair.remarks = [why]
            return pair
        }
        guard left != nil, right != nil else {
            if !isOnePlatform {
                pair.outcome = .skipped
                pair.remarks = ["the platforms pass through states of their own"]
            }
            return pair
        }
        ledger.begin(pair.name)
        var fields = FieldComparison()
        try compare(
            left?.content, right?.content, "event", event(contract.event(named: pair.name)),
            into: &fields)
        pair.differences = fields.differences
        pair.left = fields.left
        if fields.counted > 0 { pair.outcome = .changed }
        return pair
    }

    /// A difference of two events: what is the phone's own, or its platform's, does not count.
    func settled(
        event difference: FieldDifference, _ one: JSON?, _ other: JSON?
    ) -> FieldDifference {
        var difference = difference
        guard difference.counts, let steps = difference.place?.steps, steps.count > 2,
            steps[1] == .member("data"), case .member(let field) = steps[2]
        else { return difference }
        if ledger.isAbout(Self.environment) {
            if isPhonesOwn(difference, field, one, other) { difference.kind = .phone }
        } else if !isOnePlatform,
            isOfOneKind(difference) || difference.first == nil
                || difference.second == nil
        {
            difference.kind = .method
        }
        return difference
    }

    /// The event that says what the phone is (contract, "AppEvent").
    private static let environment = "phone_environment"

    private func isOfOneKind(_ difference: FieldDifference) -> Bool {
        difference.first?.kind == difference.second?.kind
    }

    /// Whether a difference of two environments is one of two phones, or of one phone at two
    /// times, and none of the app.
    private func isPhonesOwn(
        _ difference: FieldDifference, _ field: String, _ one: JSON?, _ other: JSON?
    ) -> Bool {
        guard !difference.isRequired else { return false }
        switch difference.kind {
        case .changed: return isOfOneKind(difference)
        case .added: return true
        case .removed:
            // A list may be shorter; the field itself stays, but for another platform.
            let isInList =
                difference.place?.steps.count ?? 0 > 3 && one?["data"]?[field]?.elements != nil
            return !isOnePlatform || isInList && other?["data"]?[field] != nil
        default: return false
        }
    }
}

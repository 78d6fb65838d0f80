/// How often each rule was put to the test.
///
/// A message puts a dozen rules to the test, so a rule's place is found by the number that it
/// carries, not by its id. `byID` has the counts by name.
struct RuleCounts: Sendable {
    private struct Slot: Sendable {
        var rule: Rule
        var count: Int
    }

    /// Open addressing, a power of two; at most half of the slots are taken.
    private var slots = [Slot?](repeating: nil, count: 256)
    private var taken = 0

    /// Counts a rule.
    mutating func add(_ rule: Rule, times: Int) {
        let index = place(of: rule)
        if slots[index] == nil {
            slots[index] = Slot(rule: rule, count: 0)
            taken += 1
        }
        slots[index]?.count += times
        if taken * 2 > slots.count { grow() }
    }

    /// The counts by the ids of the rules; rules without one are not in it.
    var byID: [String: Int] {
        var counts: [String: Int] = [:]
        for case let slot? in slots { counts[slot.rule.id] = slot.count }
        return counts
    }

    /// The slot of the rule, or the free one where it belongs.
    private func place(of rule: Rule) -> Int {
        var index = rule.number & (slots.count - 1)
        while let slot = slots[index],
            slot.rule.number != rule.number || slot.rule.id != rule.id
        {
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot?](repeating: nil, count: old.count * 2)
        for case let slot? in old { slots[place(of: slot.rule)] = slot }
    }
}

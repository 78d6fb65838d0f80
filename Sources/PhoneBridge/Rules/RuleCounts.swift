/// How often each rule was put to the test.
///
/// A message puts a dozen rules to the test, so a rule's place is found by the number that it
/// carries, not by its id. `byID` has the counts by name.
struct RuleCounts: Sendable {
    private struct Entry: Sendable {
        var rule: Rule
        var count: Int
    }

    private var entries: [Entry] = []
    /// Open addressing, a power of two, at most half of it taken: places in `entries`, from 1.
    private var slots = [UInt16](repeating: 0, count: 256)

    /// Rules beyond this number are not counted.
    private static let maximum = 1 << 14

    /// Counts a rule.
    mutating func add(_ rule: Rule, times: Int) {
        let slot = slot(of: rule)
        if slots[slot] == 0 {
            guard entries.count < Self.maximum else { return }
            entries.append(Entry(rule: rule, count: times))
            slots[slot] = UInt16(entries.count)
            if entries.count * 2 > slots.count { grow() }
        } else {
            entries[Int(slots[slot]) - 1].count += times
        }
    }

    /// The counts by the ids of the rules; rules without one are not in it.
    var byID: [String: Int] {
        var counts: [String: Int] = [:]
        for entry in entries { counts[entry.rule.id] = entry.count }
        return counts
    }

    /// The slot of the rule, or the free one where it belongs.
    private func slot(of rule: Rule) -> Int {
        var slot = rule.number & (slots.count - 1)
        while slots[slot] != 0, !isRule(rule, at: Int(slots[slot]) - 1) {
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private func isRule(_ rule: Rule, at place: Int) -> Bool {
        entries[place].rule.number == rule.number && entries[place].rule.id == rule.id
    }

    private mutating func grow() {
        slots = [UInt16](repeating: 0, count: slots.count * 2)
        for place in entries.indices {
            slots[slot(of: entries[place].rule)] = UInt16(place + 1)
        }
    }
}

/// Which value of the first session has become which one of the second, one to one.
///
/// Values are kept by a name, such as `event_id`: an event and a contact may have equal ids. What
/// is given at the start has no name, and stands where a name knows nothing.
package struct ValueTable: Sendable {
    private struct Side: Sendable {
        var forward: [String: String] = [:]
        var backward: [String: String] = [:]
    }

    private var given = Side()
    private var named: [String: Side] = [:]

    /// Values that are known already; of those that have become one, none is taken.
    package init(_ values: [String: String] = [:]) {
        var sources: [String: [String]] = [:]
        for (first, second) in values { sources[second, default: []].append(first) }
        for (second, firsts) in sources where firsts.count == 1 {
            given.forward[firsts[0]] = second
            given.backward[second] = firsts[0]
        }
    }

    package var isEmpty: Bool { given.forward.isEmpty && named.isEmpty }

    /// What a value of the first session has become; nil where that is not known.
    package func second(for first: String, name: String) -> String? {
        named[name]?.forward[first] ?? given.forward[first]
    }

    /// What a value of the second session was in the first; nil where that is not known.
    package func first(for second: String, name: String) -> String? {
        named[name]?.backward[second] ?? given.backward[second]
    }

    /// Whether one value is what another has become, whatever its name.
    package func ties(_ first: String, to second: String) -> Bool {
        given.forward[first] == second
            || named.values.contains { $0.forward[first] == second }
    }

    /// Whether two values can be tied together one to one with what is known already.
    package func canBind(_ first: String, _ second: String, name: String) -> Bool {
        if let known = self.second(for: first, name: name), known != second { return false }
        if let known = self.first(for: second, name: name), known != first { return false }
        return true
    }

    /// Ties two values together; whether that is one to one with what is known already.
    package mutating func bind(_ first: String, _ second: String, name: String) -> Bool {
        guard canBind(first, second, name: name) else { return false }
        named[name, default: Side()].forward[first] = second
        named[name, default: Side()].backward[second] = first
        return true
    }
}

/// The inputs of one command line, sorted into sessions.
///
/// Rotated parts with the same id are one session; everything else is one by itself.
package enum SessionGroups {
    /// The sessions in the order in which their first inputs were given.
    ///
    /// Where there is more than one input, each that can be read twice is opened for its first
    /// line. What cannot be read is a session by itself, so that its reader says why.
    package static func group(_ inputs: [any SessionInput]) -> [[any SessionInput]] {
        guard inputs.count > 1 else { return inputs.isEmpty ? [] : [inputs] }
        var groups: [[any SessionInput]] = []
        var indexes: [String: Int] = [:]
        for input in inputs {
            guard let id = rotatedSession(of: input) else {
                groups.append([input])
                continue
            }
            if let index = indexes[id] {
                groups[index].append(input)
            } else {
                indexes[id] = groups.count
                groups.append([input])
            }
        }
        return groups
    }

    /// The id of the session of which the input is a part; nil for a whole one and for others.
    private static func rotatedSession(of input: any SessionInput) -> String? {
        guard !input.isStream else { return nil }
        // A file that cannot be read fails again, and in words, when it is its turn.
        guard let info = try? SessionReader.firstLine(of: input), info.part != nil else {
            return nil
        }
        return info.id
    }

    /// What a session is called: its file, or what the names of its parts have in common, such
    /// as `lab-*.ndjson`.
    package static func name(of group: [any SessionInput]) -> String {
        guard let first = group.first?.name, group.count > 1 else {
            return group.first?.name ?? ""
        }
        var prefix = Array(first)
        var suffix = Array(first)
        for name in group.dropFirst().map({ Array($0.name) }) {
            prefix = zip(prefix, name).prefix { $0 == $1 }.map(\.0)
            suffix = zip(suffix.reversed(), name.reversed()).prefix { $0 == $1 }.map(\.0)
                .reversed()
        }
        let shortest = group.map(\.name.count).min() ?? 0
        guard !prefix.isEmpty, prefix.count + suffix.count <= shortest else { return first }
        // Numbers have zeros in front, which are no part of the session's name.
        while prefix.last?.isNumber == true { prefix.removeLast() }
        return String(prefix) + "*" + String(suffix.drop { $0.isNumber })
    }
}

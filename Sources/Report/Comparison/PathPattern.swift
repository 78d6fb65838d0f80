/// Which values a rule is about: a path such as `result.data.events[*].event_id`, in which `*`
/// stands for one member or index and `**` for any number of them.
struct PathPattern: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        case member(String)
        case index(Int)
        /// `[*]`
        case anyIndex
        /// `*`
        case any
        /// `**`
        case anyDepth
    }

    /// Where values of two sessions are compared.
    static let roots = ["command", "poll", "result", "outcome", "event", "status", "body"]
    /// Steps that a pattern may have: more than any message is deep.
    static let maximumSteps = 64

    let steps: [Step]
    let text: String

    /// Why a text is no pattern.
    struct Fault: Error, Equatable {
        var why: String
    }

    /// Reads a pattern; names with other characters than a path has stand as `["a.b"]`.
    init(_ text: String) throws(Fault) {
        self.text = text
        var steps: [Step] = []
        var rest = text[...]
        while !rest.isEmpty {
            if rest.first == "[" {
                steps.append(try Self.bracket(&rest))
            } else {
                if !steps.isEmpty {
                    guard rest.first == "." else {
                        throw Fault(why: "a point or a bracket is missing before \"\(rest)\"")
                    }
                    rest.removeFirst()
                }
                steps.append(try Self.name(&rest))
            }
            guard steps.count <= Self.maximumSteps else { throw Fault(why: "it is too long") }
        }
        guard let first = steps.first else { throw Fault(why: "it is empty") }
        switch first {
        case .any, .anyDepth: break
        case .member(let name) where Self.roots.contains(name): break
        default: throw Fault(why: "it begins with \(Self.roots.joined(separator: ", ")) or *")
        }
        self.steps = steps
    }

    private static func name(_ rest: inout Substring) throws(Fault) -> Step {
        let word = rest.prefix { $0 != "." && $0 != "[" }
        rest = rest[word.endIndex...]
        switch word {
        case "": throw Fault(why: "a name is missing")
        case "*": return .any
        case "**": return .anyDepth
        default:
            guard !word.contains("*"), !word.contains("]") else {
                throw Fault(why: "\"\(word)\" is no name; * stands alone")
            }
            return .member(String(word))
        }
    }

    private static func bracket(_ rest: inout Substring) throws(Fault) -> Step {
        rest.removeFirst()
        if rest.first == "\"" || rest.first == "'" {
            let quote = rest.removeFirst()
            guard let end = rest.firstIndex(of: quote), rest[rest.index(after: end)...].first == "]"
            else { throw Fault(why: "the end of a name in brackets is missing") }
            let name = String(rest[..<end])
            rest = rest[end...].dropFirst(2)
            return .member(name)
        }
        guard let end = rest.firstIndex(of: "]") else {
            throw Fault(why: "the end of a bracket is missing")
        }
        let word = rest[..<end]
        rest = rest[rest.index(after: end)...]
        if word == "*" { return .anyIndex }
        guard let index = Int(word), index >= 0 else {
            throw Fault(why: "\"\(word)\" is no index; write [0], [*] or a name in quotes")
        }
        return .index(index)
    }

    /// Whether it leaves open which member is meant.
    var isWide: Bool { steps.contains { $0 == .any || $0 == .anyDepth } }

    /// Whether a value at this path is meant; the work is the product of both lengths at most.
    func matches(_ path: FieldPath) -> Bool {
        let path = path.steps
        var step = 0
        var place = 0
        // Where the last `**` stands, and how much it takes.
        var wide: (step: Int, place: Int)?
        while place < path.count {
            if step < steps.count, steps[step] == .anyDepth {
                wide = (step, place)
                step += 1
            } else if step < steps.count, Self.matches(steps[step], path[place]) {
                step += 1
                place += 1
            } else if let last = wide {
                wide = (last.step, last.place + 1)
                step = last.step + 1
                place = last.place + 1
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .anyDepth }
    }

    private static func matches(_ step: Step, _ found: FieldPath.Step) -> Bool {
        switch (step, found) {
        case (.member(let name), .member(let other)): name == other
        case (.index(let index), .index(let other)): index == other
        case (.anyIndex, .index), (.any, _): true
        case (.member, _), (.index, _), (.anyIndex, _), (.anyDepth, _): false
        }
    }
}

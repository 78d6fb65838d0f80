/// Where a value stands, such as `result.data.events[2].title`.
struct FieldPath: Equatable {
    enum Step: Equatable {
        case member(String)
        case index(Int)
    }

    var steps: [Step] = []

    /// Of a value that stands in no other.
    init(_ root: String? = nil) {
        if let root { steps.append(.member(root)) }
    }

    /// The member that it is in, or that it is.
    var name: String {
        for case .member(let name) in steps.reversed() { return name }
        return ""
    }

    var text: String {
        var text = ""
        for step in steps {
            switch step {
            case .member(let name): text += text.isEmpty ? name : ".\(name)"
            case .index(let index): text += "[\(index)]"
            }
        }
        return text
    }
}

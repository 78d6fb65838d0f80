/// What matters of the methods of requests that wait for their responses, in order.
struct HTTPExpectedMethods: Sendable {
    /// What a method changes in the framing of its response (RFC 9112 §6.3).
    enum Kind: Sendable {
        case ordinary
        case head
        case connect

        init(_ method: String) {
            self = method == "HEAD" ? .head : method == "CONNECT" ? .connect : .ordinary
        }
    }

    /// Equal ones stand together, so that a thousand pipelined requests take one entry.
    private var runs: [(kind: Kind, count: Int)] = []
    private var first = 0
    private let maximumRuns: Int

    init(maximumRuns: Int) {
        self.maximumRuns = maximumRuns
    }

    mutating func append(_ kind: Kind) {
        if let last = runs.last, first < runs.count,
            last.kind == kind || runs.count - first >= maximumRuns
        {
            runs[runs.count - 1].count += 1
        } else {
            runs.append((kind, 1))
        }
    }

    /// The kind that the next response answers; ordinary where none is known.
    var next: Kind { first < runs.count ? runs[first].kind : .ordinary }

    mutating func removeFirst() {
        guard first < runs.count else { return }
        runs[first].count -= 1
        guard runs[first].count == 0 else { return }
        first += 1
        if first * 2 >= runs.count {
            runs.removeFirst(first)
            first = 0
        }
    }
}

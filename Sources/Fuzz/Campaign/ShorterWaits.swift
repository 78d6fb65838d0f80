import Network
import Wire

/// Shorter waits that mean something: the limits of the contract and of the commands in a script,
/// with a second above them.
struct ShorterWaits {
    /// In ascending order.
    private let times: [Int64]

    /// Seconds at which something ends by the contract or by what boards are known for.
    private static let limits: [Int64] = [1, 5, 10, 15, 30, 60, 75, 90, 120, 300]

    init(in script: FuzzScript) {
        var times = Set(Self.limits.flatMap { [$0, $0 + 1] })
        for step in script.steps {
            for milliseconds in Self.timeouts(in: step.action) {
                times.insert(milliseconds / 1000)
                times.insert(milliseconds / 1000 + 1)
            }
        }
        self.times = times.filter { $0 > 0 }.sorted().map { $0 * nanosecondsPerSecond }
    }

    /// The `timeout_ms` of a command, up to an hour.
    private static func timeouts(in action: FuzzAction) -> [Int64] {
        switch action {
        case .stimulate(_, let json), .command(_, let json), .enqueue(_, let json):
            guard json.count < 65_536, let document = try? JSONDocument(json),
                let time = document.root["timeout_ms"]?.integer, (1...3_600_000).contains(time)
            else { return [] }
            return [time]
        default: return []
        }
    }

    func variants(of action: FuzzAction) -> [FuzzAction] {
        func shorter(than time: Int64) -> [Int64] { times.filter { $0 < time } }
        switch action {
        case .wait(let time): return shorter(than: time).map { .wait($0) }
        case .await(let name, let time): return shorter(than: time).map { .await(name, $0) }
        case .accept(let name, let time): return shorter(than: time).map { .accept(name, $0) }
        case .serve(let service, .delay(let time)):
            return shorter(than: time).map { .serve(service, .delay($0)) }
        case .raw(let parts):
            var variants: [FuzzAction] = []
            for (index, part) in parts.enumerated() {
                guard case .pause(let time) = part else { continue }
                for time in shorter(than: time) {
                    var parts = parts
                    parts[index] = .pause(time)
                    variants.append(.raw(parts))
                }
            }
            return variants
        default: return []
        }
    }
}

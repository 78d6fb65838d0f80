import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Simulator
import Wire

/// `make fuzz-score`: which of the planted defects a campaign finds, in how many cases and seconds,
/// how short it makes their scripts, and what it finds in the peers without a defect.
///
///     bridgetap-bench SCRIPTS score [SEEDS] [SECONDS] [DEFECT...]
///
/// `SCRIPTS` is the folder of the hand-written scripts (`Tests/FuzzTests/Defects`), the shortest that
/// are known. Each campaign runs in virtual time on one core until the defect is found, or its time
/// is over; the peers without a defect get as many cases as the longest campaign had.
struct FuzzScore {
    let scripts: String
    let seeds: Int
    /// Of each campaign, at most.
    let seconds: Double
    let defects: [Defect]

    /// How cases are made.
    private enum Method: String, CaseIterable {
        case plan
        /// Bytes of recorded messages, changed by chance.
        case bytes
        /// JSON made by chance, without a model.
        case json
    }

    private struct Run {
        var cases: Int
        var seconds: Double
        var length: Int
        var checks: Set<String>
        var buckets: Int
    }

    func run() throws {
        print(
            "| defect | shortest known | found | cases | seconds | steps | buckets | checks | bytes | json |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|---|--:|--:|")
        var found = 0
        for defect in defects {
            let runs = (1...max(1, seeds)).compactMap { campaign(defect, .plan, UInt64($0)) }
            if !runs.isEmpty { found += 1 }
            let baselines = [Method.bytes, .json].map { method in
                (1...max(1, min(seeds, 3))).count { campaign(defect, method, UInt64($0)) != nil }
            }
            let checks = runs.reduce(into: Set<String>()) { $0.formUnion($1.checks) }
            print(
                "| \(defect.rawValue) | \(shortest(defect).map(String.init) ?? "–") "
                    + "| \(runs.count)/\(seeds) | \(median(runs.map { Double($0.cases) }, 0)) "
                    + "| \(median(runs.map(\.seconds), 1)) "
                    + "| \(median(runs.map { Double($0.length) }, 0)) "
                    + "| \(runs.map(\.buckets).max() ?? 0) | \(checks.sorted().joined(separator: " ")) "
                    + "| \(baselines[0]) | \(baselines[1]) |")
            fflush(nil)
        }
        var alarms = 0
        for side in Side.allCases {
            for seed in 1...max(1, seeds) {
                alarms += alarmsOfCleanPeer(as: side, UInt64(seed))
            }
        }
        print("\nfound: \(found) of \(defects.count); findings on the clean peers: \(alarms)")
    }

    // MARK: A campaign

    private func makePlan(
        _ side: Side, _ method: Method, _ seed: UInt64
    ) -> @Sendable (Int) -> FuzzScript {
        switch method {
        case .plan:
            let plan = CasePlan(as: side, seed: seed, profile: .reference)
            return { plan.script($0) }
        case .bytes: return { FuzzBaselines.bytes(as: side, seed: seed, $0) }
        case .json: return { FuzzBaselines.json(as: side, seed: seed, $0) }
        }
    }

    private func makeCampaign(
        _ side: Side, _ method: Method, _ seed: UInt64
    ) -> Campaign {
        var options = CampaignOptions(judge: Judge(profile: .reference, today: nil))
        options.seed = seed
        options.time = Int64(seconds * 1e9)
        return Campaign(options, plan: makePlan(side, method, seed))
    }

    /// Runs until something is found; nil where nothing was.
    private func campaign(_ defect: Defect, _ method: Method, _ seed: UInt64) -> Run? {
        let side: Side = defect.side == .board ? .app : .board
        var target = SimulatedTarget()
        target.defects = [defect]
        var campaign = makeCampaign(side, method, seed)
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            let elapsed = (start.duration(to: clock.now)).nanoseconds
            switch campaign.next(elapsed: elapsed) {
            case .run(let job):
                let outcome = target.outcome(of: job.script, keepsSession: false)
                campaign.receive(
                    job, outcome, elapsed: start.duration(to: clock.now).nanoseconds)
            case .wait, .over: return nil
            }
            if let first = campaign.findings.first {
                return Run(
                    cases: campaign.figures.cases,
                    seconds: Double(start.duration(to: clock.now).nanoseconds) / 1e9,
                    length: first.script.steps.count,
                    checks: Set(campaign.findings.map(\.observation.check)),
                    buckets: campaign.findings.count)
            }
        }
    }

    private func alarmsOfCleanPeer(as side: Side, _ seed: UInt64) -> Int {
        let target = SimulatedTarget()
        var campaign = makeCampaign(side, .plan, seed)
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            switch campaign.next(elapsed: start.duration(to: clock.now).nanoseconds) {
            case .run(let job):
                campaign.receive(
                    job, target.outcome(of: job.script),
                    elapsed: start.duration(to: clock.now).nanoseconds)
            case .wait, .over:
                for finding in campaign.findings {
                    print(
                        "\nfalse alarm, \(finding.observation.check): \(finding.observation.text)")
                    print(finding.script)
                }
                print(
                    "clean \(side == .app ? "board" : "app"), seed \(seed): "
                        + "\(campaign.figures.cases) cases, \(campaign.findings.count) findings, "
                        + "\(campaign.apart.count) apart")
                return campaign.findings.count
            }
        }
    }

    // MARK: Figures

    private func shortest(_ defect: Defect) -> Int? {
        var bytes = Bytes()
        do {
            let source = try SessionFileSource(path: "\(scripts)/\(defect.rawValue).fuzz")
            try source.read(into: &bytes, maximum: 1 << 20)
        } catch {
            return nil
        }
        guard let script = try? FuzzScript(parsing: String(decoding: bytes, as: UTF8.self)) else {
            return nil
        }
        return script.steps.count
    }

    private func median(_ values: [Double], _ digits: Int) -> String {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return "–" }
        let value = sorted[sorted.count / 2]
        return digits == 0 ? "\(Int(value))" : "\((value * 10).rounded() / 10)"
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * nanosecondsPerSecond + components.attoseconds / 1_000_000_000
    }
}

/// Cases made without the plan, to see what the plan is worth.
enum FuzzBaselines {
    private static let messages = [
        #"{"id":"phone_environment","method":"phone_environment","data":{"platform":"ios"}}"#,
        #"{"id":"heartbeat"}"#, #"{"id":"c1","data":{"text":"x"}}"#,
        #"{"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}"#,
        #"{"id":"c1","type":"clipboard_read"}"#,
        #"{"id":"c2","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}"#,
        #"{"id":"c3","type":"contacts_query","payload":{"query":"a","limit":2}}"#,
    ]

    /// Recorded messages with bytes flipped, doubled, cut and swapped.
    static func bytes(as side: Side, seed: UInt64, _ index: Int) -> FuzzScript {
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(index))
        return script(as: side, &random) { random in
            var bytes = Bytes(messages[random.below(messages.count)].utf8)
            for _ in 0...random.below(4) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] ^= 1 << UInt8(random.below(8))
                case 1: bytes.insert(contentsOf: bytes[place...], at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(8)))
                default: bytes.swapAt(place, random.below(bytes.count))
                }
            }
            return Bytes(bytes.prefix(4096))
        }
    }

    /// JSON of any shape.
    static func json(as side: Side, seed: UInt64, _ index: Int) -> FuzzScript {
        var random = SeededGenerator(seed: seed &* 1_000_033 &+ UInt64(index))
        return script(as: side, &random) { value(&$0, depth: 0).encoded }
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> JSON {
        switch random.below(depth > 2 ? 4 : 6) {
        case 0: return .null
        case 1: return .bool(random.oneIn(2))
        case 2: return .integer(random.below(1000) - 500)
        case 3: return .string(["a", "id", "c1", "", "heartbeat"][random.below(5)])
        case 4: return .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
        default:
            let names = ["id", "type", "data", "payload", "error", "method", "x"]
            return .object(
                (0..<random.below(5)).map { _ in
                    JSON.Member(
                        names[random.below(names.count)], value(&random, depth: depth + 1))
                })
        }
    }

    private static func script(
        as side: Side, _ random: inout SeededGenerator,
        _ message: (inout SeededGenerator) -> Bytes
    ) -> FuzzScript {
        let mark = FuzzStep.Mark(Mutation("J1", .sure))
        var steps: [FuzzStep] = []
        switch side {
        case .app:
            steps.append(FuzzStep(.connect("a", FuzzDial(query: "platform=ios"))))
            for _ in 0...random.below(5) {
                let content = message(&random)
                switch random.below(3) {
                case 0: steps.append(FuzzStep(.text("a", content), mark: mark))
                case 1: steps.append(FuzzStep(.enqueue("q", content), mark: mark))
                default:
                    steps.append(
                        FuzzStep(.request(FuzzRequest("POST", "results", content)), mark: mark))
                }
            }
            steps.append(
                FuzzStep(.request(FuzzRequest("GET", "commands?platform=ios&app_state=active"))))
        case .board:
            steps.append(FuzzStep(.accept("a", 10 * nanosecondsPerSecond)))
            for _ in 0...random.below(5) {
                steps.append(FuzzStep(.text("a", message(&random)), mark: mark))
            }
            steps.append(FuzzStep(.wait(6 * nanosecondsPerSecond)))
        }
        return FuzzScript(as: side, steps + [FuzzStep(.alive)])
    }
}

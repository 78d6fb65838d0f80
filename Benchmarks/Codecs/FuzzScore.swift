import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Simulator
import Wire

/// One campaign of `make fuzz-score`, which prints a line of JSON: whether a planted defect is found,
/// in how many cases and seconds, how short its script becomes and in how many buckets it ends.
///
///     bridgetap-bench SCRIPTS score DEFECT|board|app METHOD SEED SECONDS
///
/// Two defects at once, such as `B1+B16`, should end in two buckets.
///
/// `SCRIPTS` is the folder of the hand-written scripts (`Tests/FuzzTests/Defects`), the shortest that
/// are known. `board` and `app` are the peers without a defect, which are given all of the time. The
/// campaign runs in virtual time on one core. Once the defect is found it goes on for as many cases
/// again, to see whether the one defect makes more than one bucket.
struct FuzzScore {
    /// How cases are made: by the plan, by changing bytes of recorded messages, or as JSON without
    /// a model.
    enum Method: String {
        case plan, bytes, json
    }

    private static let repeats = 10
    private static let minimumMore = 200

    let scripts: String
    let side: Side
    let defects: [Defect]
    let method: Method
    let seed: UInt64
    /// Of a processor for the campaign, at most.
    let seconds: Double

    /// Nil for words that say nothing.
    init?(scripts: String, _ words: [String]) {
        guard words.count == 4, let method = Method(rawValue: words[1]),
            let seed = UInt64(words[2]), let seconds = Double(words[3])
        else { return nil }
        switch words[0] {
        case "board": (side, defects) = (.app, [])
        case "app": (side, defects) = (.board, [])
        default:
            let ids = words[0].split(separator: "+").map(String.init)
            let defects = ids.compactMap { Defect(id: $0) }
            guard defects.count == ids.count, let first = defects.first,
                defects.allSatisfy({ $0.side == first.side })
            else { return nil }
            (side, self.defects) = (first.side == .board ? .app : .board, defects)
        }
        self.scripts = scripts
        self.method = method
        self.seed = seed
        self.seconds = seconds
    }

    private struct First {
        var cases: Int
        var seconds: Double
        var finding: FuzzFinding
    }

    func run() {
        var target = SimulatedTarget()
        target.defects = Set(defects)
        var options = CampaignOptions(judge: Judge(profile: .reference, today: nil))
        options.seed = seed
        options.time = Int64(seconds * 1e9)
        options.investigation.finalRepeats = Self.repeats
        var campaign = Campaign(options, plan: plan)
        // A busy machine changes nothing.
        let start = HourReplay.processorTime
        func elapsed() -> Int64 { Int64((HourReplay.processorTime - start) * 1e9) }
        var first: First?
        var looked = 0
        // The second of two is as far away as the first was.
        let more = Self.minimumMore * (defects.count > 1 ? 4 : 1)
        search: while true {
            switch campaign.next(elapsed: elapsed()) {
            case .run(let job):
                let outcome = target.outcome(
                    of: job.script, run: job.id, keepsSession: job.keepsSession)
                campaign.receive(job, outcome, elapsed: elapsed())
            case .wait, .over: break search
            }
            for finding in campaign.findings.dropFirst(looked) where first == nil {
                guard isOfDefect(finding, options.judge) else { continue }
                first = First(
                    cases: campaign.figures.cases, seconds: Double(elapsed()) / 1e9,
                    finding: finding)
            }
            looked = campaign.findings.count
            if let first, !defects.isEmpty,
                campaign.figures.cases
                    >= first.cases + max(first.cases, more)
            {
                break
            }
        }
        let findings = campaign.findings.filter { isOfDefect($0, options.judge) }
        var members: [JSON.Member] = [
            .init(
                "target",
                .string(
                    defects.isEmpty
                        ? (side == .app ? "board" : "app")
                        : defects.map(\.rawValue).joined(separator: "+"))),
            .init("method", .string(method.rawValue)), .init("seed", .integer(Int(seed))),
            .init("shortest", shortest.map { .integer($0) } ?? .null),
            .init("cases", .integer(first?.cases ?? campaign.figures.cases)),
            .init("milliseconds", .integer(Int((first?.seconds ?? seconds) * 1000))),
            .init("apart", .integer(campaign.apart.count)),
            .init(
                "unreached",
                .array(campaign.figures.unreached(judging: side.peer).map { .string($0.rawValue) })),
        ]
        // What was found first may have become shorter since.
        if let first,
            let last = findings.first(where: { $0.name == first.finding.name }) ?? findings.first
        {
            members += [
                .init("steps", .integer(last.script.steps.count)),
                .init("repeated", .integer(repeated(last, target, options.judge))),
            ]
        }
        members.append(
            .init(
                "findings",
                .array(
                    findings.map {
                        .object([
                            .init("bucket", .string($0.name)),
                            .init("check", .string($0.observation.check)),
                            .init("rating", .string($0.observation.rating.rawValue)),
                            .init("text", .string($0.observation.text)),
                            .init("script", .string($0.script.description)),
                            .init("of", .array(causes(of: $0, options.judge))),
                        ])
                    })))
        print(String(decoding: JSON.object(members).encoded, as: UTF8.self))
        fflush(nil)
    }

    private var plan: @Sendable (Int) -> FuzzScript {
        let (side, seed) = (side, seed)
        switch method {
        case .plan:
            let plan = CasePlan(as: side, seed: seed, profile: .reference)
            return { plan.script($0) }
        case .bytes: return { FuzzBaselines.bytes(as: side, seed: seed, $0) }
        case .json: return { FuzzBaselines.json(as: side, seed: seed, $0) }
        }
    }

    private func shows(
        _ finding: FuzzFinding, _ target: SimulatedTarget, run: Int = 0, _ judge: Judge
    ) -> Bool {
        target.outcome(of: finding.script, run: run).observations.contains {
            $0.check == finding.observation.check && judge.counts($0, in: finding.script)
        }
    }

    /// Whether a finding is of the planted defect, and not of the peer or of the script.
    ///
    /// Without the defect it does not come. On a peer without a defect each finding counts.
    private func isOfDefect(_ finding: FuzzFinding, _ judge: Judge) -> Bool {
        defects.isEmpty || !shows(finding, SimulatedTarget(), judge)
    }

    /// The defects that show a finding without the others.
    private func causes(of finding: FuzzFinding, _ judge: Judge) -> [JSON] {
        defects.compactMap { defect in
            var target = SimulatedTarget()
            target.defects = [defect]
            return shows(finding, target, judge) ? .string(defect.rawValue) : nil
        }
    }

    /// In how many of ten runs the finding comes again.
    private func repeated(_ finding: FuzzFinding, _ target: SimulatedTarget, _ judge: Judge) -> Int
    {
        (1...Self.repeats).count { shows(finding, target, run: $0, judge) }
    }

    /// Steps of the hand-written script.
    private var shortest: Int? {
        guard defects.count == 1, let defect = defects.first else { return nil }
        var bytes = Bytes()
        do {
            let source = try SessionFileSource(path: "\(scripts)/\(defect.rawValue).fuzz")
            try source.read(into: &bytes, maximum: 1 << 20)
            return try FuzzScript(parsing: String(decoding: bytes, as: UTF8.self)).steps.count
        } catch {
            print("bridgetap-bench: \(defect.rawValue).fuzz: \(error)")
            exit(1)
        }
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

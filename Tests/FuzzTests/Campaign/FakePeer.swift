import Capture
import Fuzz
import Network
import PhoneBridge
import Wire

/// A peer that is a pure function of the script: bugs show themselves where their steps are.
struct FakePeer: Sendable {
    enum Bug: Sendable {
        /// A ping is echoed as a heartbeat.
        case ping
        /// An id that is enqueued again behind half a minute is accepted.
        case reuse
        /// As `ping`, but seen in one run of so many.
        case rarely(Int)
        /// Nothing is needed for it.
        case always
        /// A message that is no JSON ends the reading; two checks notice.
        case deaf
        /// A report without an answer, rated likely.
        case likely
        /// A close that is told in other words where something is queued.
        case worded
        /// One bad effect that a transcript proves, seen in the first run only.
        case once
    }

    var bugs: [Bug] = [.ping]

    /// The outcome of the `run`th run.
    func outcome(of script: FuzzScript, run: Int = 0) -> CaseOutcome {
        var outcome = CaseOutcome()
        outcome.duration = nanosecondsPerSecond
        outcome.session = Bytes("{\"kind\":\"session\"}\n".utf8)
        for bug in bugs { outcome.observations += observations(of: bug, script, run) }
        outcome.shapes = Set(script.steps.map { UInt64($0.action.description.utf8.count) })
        if script.steps.contains(where: { if case .wait = $0.action { true } else { false } }) {
            outcome.reached.insert(.expiry)
        }
        return outcome
    }

    private func observations(of bug: Bug, _ script: FuzzScript, _ run: Int) -> [Observation] {
        switch bug {
        case .ping: return ping(script)
        case .rarely(let runs):
            return run % runs == 0 && !ping(script).isEmpty
                ? [seen("heartbeat-echoed", "the heartbeat got no echo")] : []
        case .reuse: return reuse(script)
        case .always: return [seen("status-document", "the status is no JSON object")]
        case .deaf:
            guard let place = place(in: script, { $0 == .text("a", Bytes("no".utf8)) }),
                connect(in: script).map({ $0 < place }) ?? false
            else { return [] }
            var observations: [Observation] = []
            if script.steps.contains(where: { $0.action.description.hasPrefix("beats") }) {
                observations.append(
                    seen("heartbeat-echoed", "the heartbeat got no echo within 15000 ms"))
            }
            if script.steps.last?.action == .alive {
                observations.append(
                    seen("alive", "a new connection was not served", isUniversal: true))
            }
            return observations
        case .likely:
            return script.steps.contains { $0.action.description.hasPrefix("get status") }
                ? [seen("status-connected", "the status does not say connected", .likely)] : []
        case .worded:
            guard place(in: script, { $0 == .close("a", code: nil, reason: []) }) != nil else {
                return []
            }
            let isQueued = script.steps.contains { $0.action.description.hasPrefix("enqueue") }
            return [seen("queue-limit", isQueued ? "too many came" : "none came")]
        case .once:
            return run == 0
                && place(in: script, { $0 == .close("a", code: nil, reason: []) }) != nil
                ? [seen("one-effect", "\"c1\" made 2 events")] : []
        }
    }

    private func ping(_ script: FuzzScript) -> [Observation] {
        guard let connect = connect(in: script),
            let ping = script.steps.lastIndex(where: {
                if case .frame("a", let frame) = $0.action { frame.opcode == .ping } else { false }
            }), connect < ping
        else { return [] }
        return [seen("heartbeat-echo-id", "the echo \"x\(ping)\" is of no heartbeat")]
    }

    private func reuse(_ script: FuzzScript) -> [Observation] {
        var waited: Int64 = 0
        var isQueued = false
        for step in script.steps {
            if case .wait(let time) = step.action, isQueued { waited += time }
            guard case .enqueue("q1", let json) = step.action,
                let command = try? JSON(parsing: json), command["id"] == "q1",
                let type = command["type"]?.stringValue
            else { continue }
            if isQueued, waited > 30 * nanosecondsPerSecond {
                return [
                    seen("queue-distinct-ids", "\(type) \"q1\" was taken again after \(waited) ns")
                ]
            }
            isQueued = true
        }
        return []
    }

    private func place(in script: FuzzScript, _ fits: (FuzzAction) -> Bool) -> Int? {
        script.steps.firstIndex { fits($0.action) }
    }

    private func connect(in script: FuzzScript) -> Int? {
        place(in: script) { if case .connect("a", _) = $0 { true } else { false } }
    }

    private func seen(
        _ check: String, _ text: String, _ rating: Rule.Rating = .sure, isUniversal: Bool = false
    ) -> Observation {
        Observation(
            check: check, rating: rating, section: "contract, \"X\"", demand: "It is so",
            text: text, isUniversal: isUniversal)
    }
}

/// Cases of one conversation with a mutation or two in them.
enum FakePlan {
    static let opening = """
        bridgetap-fuzz 1 as app
        connect a platform=ios&phone_id=p1 <Origin: http://x>
        text a {"id":"phone_environment","data":{"platform":"ios"}}
        beats a 5s

        """
    static let middle: [[String]] = [
        ["!F3 frame a ping \"abcdef\"", "get status"],
        [
            "enqueue q1 {\"id\":\"q1\",\"type\":\"contacts_query\",\"payload\":{\"limit\":5}}",
            "get commands?platform=ios&limit=10", "!C1 wait 95s", "- wait 1s",
            "!C1 enqueue q1 {\"id\":\"q1\",\"type\":\"contacts_query\",\"payload\":{\"limit\":5}}",
        ],
        ["!J1 text a \"no\"", "wait 7s"],
        ["!C4 close a", "get status"],
        ["!T7:W raw \"abc\" 5s fin", "get status"],
        ["get commands?platform=ios", "post results {\"id\":\"q9\"}"],
    ]
    static let aftermath = ["heal", "wait 20s", "get status", "alive"]

    /// The script of a case: two pieces out of the list, in an order of their own.
    static func script(_ index: Int) -> FuzzScript {
        let first = index % middle.count
        let second = (index / middle.count) % middle.count
        let lines = middle[first] + (first == second ? [] : middle[second]) + aftermath
        let text = opening + lines.joined(separator: "\n") + "\n"
        return (try? FuzzScript(parsing: text)) ?? FuzzScript(as: .app)
    }
}

/// What holds a campaign and runs its scripts.
struct FakeRun {
    var campaign: Campaign
    var peer: FakePeer
    var events: [Campaign.Event] = []
    var end: CampaignEnd?
    private var runs: [FuzzScript: Int] = [:]

    static func options(cases: Int, profile: Profile = .contract) -> CampaignOptions {
        var options = CampaignOptions(judge: Judge(profile: profile, today: nil))
        options.cases = cases
        return options
    }

    init(_ peer: FakePeer, _ options: CampaignOptions) {
        self.peer = peer
        campaign = Campaign(options, plan: FakePlan.script)
    }

    /// Runs to the end, or until so many runs are over.
    mutating func go(
        maximumRuns: Int = .max, jobs: Int = 1,
        outcome: (FuzzScript, FakePeer, Int) -> CaseOutcome = { $1.outcome(of: $0, run: $2) }
    ) {
        var flying: [Campaign.Job] = []
        var count = 0
        while count < maximumRuns {
            let step = campaign.next(elapsed: Int64(count))
            switch step {
            case .run(let job) where flying.count < jobs: flying.append(job)
            case .run: break
            case .wait: break
            case .over(let end):
                self.end = end
                events += campaign.takeEvents()
                return
            }
            if case .run = step, flying.count < jobs { continue }
            guard !flying.isEmpty else { return }
            // The latest is through first: nothing is in order.
            let job = flying.removeLast()
            let run = runs[job.script, default: 0]
            runs[job.script] = run + 1
            count += 1
            campaign.receive(job, outcome(job.script, peer, run), elapsed: Int64(count))
            events += campaign.takeEvents()
        }
    }

    var names: [String] { campaign.findings.map(\.name).sorted() }
}

import Capture
import Network
import PhoneBridge
import Simulator
import Wire

/// A script while it is made: what is added is marked with the mutation that is under way.
///
/// A step that a mutation has made is not changed by another one: it would no longer be known what
/// the control does in its place.
struct ScriptEditor: Sendable {
    let contract: Contract
    let profile: Profile
    /// The phone that is played, or played against.
    var phone: PlayedPhone
    /// What marks the steps that are made; nil while the conversation itself is made.
    var mutation: Mutation?
    private(set) var script: FuzzScript
    /// Stands at the end of each id, so that a target that is kept sees none twice.
    private let tag: String
    /// Numbers of names and texts that are taken.
    private var counter = 0

    var steps: [FuzzStep] { script.steps }
    var played: Side { script.played }
    var values: ContractValues { ContractValues(contract: contract) }

    init(
        as played: Side, to platform: Platform = .ios, tag: String, contract: Contract,
        profile: Profile
    ) {
        self.contract = contract
        self.profile = profile
        self.tag = tag
        phone = PlayedPhone(platform: platform, id: "p1", contract.poll)
        script = FuzzScript(as: played, to: platform)
    }

    /// Goes on with a script that is there; its commands get ids of this case.
    init(_ script: FuzzScript, tag: String, contract: Contract, profile: Profile) {
        self.contract = contract
        self.profile = profile
        self.tag = tag
        self.script = script
        for (index, step) in script.steps.enumerated() {
            switch step.action {
            case .stimulate(_, let json), .command(_, let json), .enqueue(_, let json):
                guard let id = JSONEdit.view(json, ["id"])?.string,
                    let other = JSONEdit.replacing(
                        json, ["id"], by: JSONEdit.quoted("\(id)-\(tag)"))
                else { continue }
                self.script.steps[index].action = step.action.with(content: other)
            default: break
            }
        }
        phone = PlayedPhone(script, contract.poll)
        // Behind all numbers that names may have.
        counter = script.steps.count
    }

    /// Goes on with a script that is there, whose ids stay as they are.
    init(keeping script: FuzzScript, contract: Contract, profile: Profile) {
        self.contract = contract
        self.profile = profile
        tag = "k"
        self.script = script
        phone = PlayedPhone(script, contract.poll)
        counter = script.steps.count
    }

    // MARK: Names

    /// A number that no other has.
    mutating func number() -> Int {
        counter += 1
        return counter
    }

    /// A name for a command or link that nothing has yet, fit for a command's id.
    mutating func name(_ letter: String) -> String {
        "\(letter)\(number())-\(tag)"
    }

    // MARK: Steps

    mutating func add(_ action: FuzzAction, isConcurrent: Bool = false) {
        insert([action], at: steps.count, isConcurrent: isConcurrent)
    }

    /// Puts steps before the one at `index`; gives the index behind them.
    @discardableResult
    mutating func insert(
        _ actions: [FuzzAction], at index: Int, isConcurrent: Bool = false
    ) -> Int {
        let place = max(0, min(index, steps.count))
        let mark = mutation.map { FuzzStep.Mark($0) }
        script.steps.insert(
            contentsOf: actions.map { FuzzStep($0, isConcurrent: isConcurrent, mark: mark) },
            at: place)
        return place + actions.count
    }

    /// Does something else in the place of a step; false where a mutation has made that one.
    @discardableResult
    mutating func replace(_ index: Int, by action: FuzzAction) -> Bool {
        guard steps.indices.contains(index), steps[index].mark == nil else { return false }
        if let mutation {
            script.steps[index].mark = .init(mutation, insteadOf: steps[index].action)
        }
        script.steps[index].action = action
        return true
    }

    /// Leaves a step out: a moment passes in its place.
    @discardableResult
    mutating func drop(_ index: Int) -> Bool {
        replace(index, by: .wait(nanosecondsPerMillisecond))
    }

    /// Changes the text of a step, be it a message, a command or the content of a request.
    @discardableResult
    mutating func edit(_ index: Int, _ change: (Bytes) -> Bytes?) -> Bool {
        guard steps.indices.contains(index),
            let text = steps[index].action.content, let changed = change(text),
            changed != text
        else { return false }
        return replace(index, by: steps[index].action.with(content: changed))
    }

    // MARK: Places

    var commands: ScriptCommands { ScriptCommands(steps) }

    var roles: [StepRole] {
        let commands = commands
        return steps.map { StepRole(of: $0.action, commands, contract) }
    }

    /// The steps that no mutation has made and whose role is one of those.
    func places(_ isWanted: (StepRole) -> Bool) -> [Int] {
        let roles = roles
        return steps.indices.filter { steps[$0].mark == nil && isWanted(roles[$0]) }
    }

    /// The first link; `a` where there is none.
    var link: String {
        for step in steps {
            switch step.action {
            case .connect(let name, _), .accept(let name, _): return name
            default: break
            }
        }
        return "a"
    }

    /// Whether a link is opened at all.
    var hasLink: Bool {
        steps.contains { step in
            switch step.action {
            case .connect, .accept: true
            default: false
            }
        }
    }

    /// Behind the opening of the first link and what belongs to it.
    var opened: Int {
        let roles = roles
        guard
            let opening = roles.firstIndex(where: {
                if case .opening = $0 { true } else { false }
            })
        else { return 0 }
        var place = opening + 1
        while place < roles.count {
            switch roles[place] {
            case .event, .beats, .heartbeat: place += 1
            default: return place
            }
        }
        return place
    }

    /// A place behind the opening at which no command of the WebSocket waits and the first link is
    /// open: in front of a step that begins something.
    func quietPlace(_ choices: inout Choices) -> Int {
        let roles = roles
        var open: Set<String> = []
        var places: [Int] = []
        let start = opened
        for (index, role) in roles.enumerated() {
            switch role {
            case .ending: return choices.pick(places) ?? index
            case .command(let name) where played == .app:
                if open.isEmpty, index >= start { places.append(index) }
                open.insert(name)
            case .answer(let name, _): open.remove(name)
            case .enqueue, .poll, .status, .command:
                if open.isEmpty, index >= start { places.append(index) }
            default: break
            }
        }
        places.append(steps.count)
        return choices.pick(places) ?? steps.count
    }
}

extension FuzzScript {
    /// Its steps for one of several rounds: each has ids of its own.
    func round(_ number: Int, contract: Contract, profile: Profile) -> FuzzScript {
        ScriptEditor(self, tag: "r\(number)", contract: contract, profile: profile).script
    }
}

extension FuzzAction {
    /// The text of a message, of a command, or of a request; nil for what has none.
    var content: Bytes? {
        switch self {
        case .text(_, let bytes), .binary(_, let bytes), .stimulate(_, let bytes),
            .command(_, let bytes), .enqueue(_, let bytes):
            bytes
        case .request(let request): request.body.isEmpty ? nil : request.body
        default: nil
        }
    }

    /// The same with another text.
    func with(content: Bytes) -> FuzzAction {
        switch self {
        case .text(let link, _): return .text(link, content)
        case .binary(let link, _): return .binary(link, content)
        case .stimulate(let name, _): return .stimulate(name, content)
        case .command(let name, _): return .command(name, content)
        case .enqueue(let name, _): return .enqueue(name, content)
        case .request(var request):
            request.body = content
            return .request(request)
        default: return self
        }
    }

    static func text(_ link: String, _ json: JSON) -> FuzzAction { .text(link, json.encoded) }

    static func text(_ link: String, _ text: String) -> FuzzAction {
        .text(link, Bytes(text.utf8))
    }

    static func get(_ target: String) -> FuzzAction { .request(FuzzRequest("GET", target)) }

    static func post(_ target: String, _ body: Bytes) -> FuzzAction {
        .request(FuzzRequest("POST", target, body))
    }

    static func seconds(_ seconds: Int) -> FuzzAction {
        .wait(Int64(seconds) * nanosecondsPerSecond)
    }

    /// A service that is bad for so many seconds, and good again.
    static func outage(
        of service: FuzzService, _ serving: FuzzServing, seconds: Int
    ) -> [FuzzAction] {
        [.serve(service, serving), .seconds(seconds), .heal]
    }

    static func milliseconds(_ milliseconds: Int) -> FuzzAction {
        .wait(Int64(milliseconds) * nanosecondsPerMillisecond)
    }
}

/// The phone of a script, as its handshake and its polls name it.
struct PlayedPhone: Sendable {
    var platform: Platform
    /// Empty for none.
    var id: String
    private let names: Contract.PollParameters

    init(platform: Platform, id: String, _ names: Contract.PollParameters) {
        self.platform = platform
        self.id = id
        self.names = names
    }

    /// The phone of the first handshake or poll.
    init(_ script: FuzzScript, _ names: Contract.PollParameters) {
        self.init(platform: script.platform, id: "p1", names)
        for step in script.steps {
            let query: Substring
            switch step.action {
            case .connect(_, let dial): query = dial.query[...]
            case .request(let request) where request.target.hasPrefix("commands?"):
                query = request.target.dropFirst("commands?".count)
            default: continue
            }
            var found: [Substring: Substring] = [:]
            for item in query.split(separator: "&") {
                let parts = item.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { found[parts[0]] = parts[1] }
            }
            id = found[names.phoneID[...]].map(String.init) ?? ""
            platform =
                found[names.platform[...]].flatMap { Platform(rawValue: String($0)) } ?? platform
            return
        }
    }

    private var identity: String {
        "\(names.platform)=\(platform.rawValue)" + (id.isEmpty ? "" : "&\(names.phoneID)=\(id)")
    }

    /// What it connects with.
    var dial: FuzzDial { FuzzDial(query: identity) }

    /// A poll in that state; what is nil is left out.
    func poll(
        _ state: String? = "active", pip: Bool? = nil, fgs: Bool? = nil, limit: String? = "10"
    ) -> String {
        var query = identity
        if let state { query += "&\(names.appState)=\(state)" }
        if let pip { query += "&\(names.pipEnabled)=\(pip)" }
        if let fgs { query += "&\(names.fgsEnabled)=\(fgs)" }
        if let limit { query += "&\(names.limit)=\(limit)" }
        return "commands?" + query
    }

    /// A poll from the background by the bridge that its system has.
    var backgroundPoll: String {
        platform == .ios ? poll("background", pip: true) : poll("background", fgs: true)
    }
}

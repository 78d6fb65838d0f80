import Capture
import PhoneBridge
import Wire

/// What a step is for in a conversation, read from the step itself: so that mutations find their
/// places in scripts that somebody recorded or wrote, too.
enum StepRole: Equatable, Sendable {
    /// A connection begins: by `connect`, or by `accept`.
    case opening(String)
    case beats(String)
    case heartbeat(String)
    /// An event by its name.
    case event(String, link: String)
    /// A command over the WebSocket: a stimulus, or one that the played board sends.
    case command(String)
    case enqueue(String)
    case arrival(String)
    /// The played app's answer over the WebSocket.
    case answer(String, link: String)
    /// The played app's result by HTTP.
    case result(String)
    case poll
    case query(String)
    case status
    /// The connection ends by our doing.
    case ending(String)
    case state
    case other
}

/// The commands of a script by their names.
struct ScriptCommands: Sendable {
    struct Command: Sendable {
        var name: String
        var id: String
        var type: String
        /// As it is sent or put into the queue.
        var json: Bytes
        /// Whether it goes by the queue.
        var isQueued: Bool
        /// The step that sends it first.
        var step: Int
        /// Milliseconds; nil where it is absent or no number.
        var timeout: Int64?
    }

    private(set) var all: [Command] = []
    private var names: [String: Int] = [:]
    private var ids: [String: Int] = [:]

    init(_ steps: [FuzzStep]) {
        for (index, step) in steps.enumerated() {
            switch step.action {
            case .stimulate(let name, let json), .command(let name, let json):
                add(name, json, isQueued: false, step: index)
            case .enqueue(let name, let json): add(name, json, isQueued: true, step: index)
            default: break
            }
        }
    }

    private mutating func add(_ name: String, _ json: Bytes, isQueued: Bool, step: Int) {
        guard names[name] == nil else { return }
        let view = JSONEdit.view(json, [])
        let id = view?["id"]?.string ?? name
        names[name] = all.count
        if ids[id] == nil { ids[id] = all.count }
        all.append(
            Command(
                name: name, id: id, type: view?["type"]?.string ?? "", json: json,
                isQueued: isQueued, step: step, timeout: view?["timeout_ms"]?.integer))
    }

    subscript(name: String) -> Command? { names[name].map { all[$0] } }

    /// The name of the command that an id stands for: `$(name)`, or the id itself.
    func name(of id: String) -> String? {
        if id.hasPrefix("$("), id.hasSuffix(")") {
            let name = String(id.dropFirst(2).dropLast())
            return names[name] == nil ? nil : name
        }
        return ids[id].map { all[$0].name }
    }
}

extension StepRole {
    init(of action: FuzzAction, _ commands: ScriptCommands, _ contract: Contract) {
        switch action {
        case .connect(let link, _), .accept(let link, _): self = .opening(link)
        case .beats(let link, _): self = .beats(link)
        case .stimulate(let name, _), .command(let name, _): self = .command(name)
        case .enqueue(let name, _): self = .enqueue(name)
        case .await(let name, _): self = .arrival(name)
        case .close(let link, _, _), .reset(let link), .fin(let link): self = .ending(link)
        case .state: self = .state
        case .text(let link, let content): self = Self.text(content, link, commands, contract)
        case .request(let request): self = Self.request(request, commands)
        default: self = .other
        }
    }

    private static func text(
        _ content: Bytes, _ link: String, _ commands: ScriptCommands, _ contract: Contract
    ) -> StepRole {
        guard let id = JSONEdit.view(content, ["id"])?.string else { return .other }
        if contract.isHeartbeat(id) { return .heartbeat(link) }
        if contract.event(named: id) != nil { return .event(id, link: link) }
        return commands.name(of: id).map { .answer($0, link: link) } ?? .other
    }

    private static func request(_ request: FuzzRequest, _ commands: ScriptCommands) -> StepRole {
        let path = request.target.prefix { $0 != "?" }
        switch (request.method, path) {
        case ("GET", "status"): return .status
        case ("GET", "commands"): return .poll
        case ("POST", "results"):
            guard let id = JSONEdit.view(request.body, ["id"])?.string,
                let name = commands.name(of: id)
            else { return .other }
            return .result(name)
        case ("GET", _) where path.hasPrefix("results/"):
            return commands.name(of: String(path.dropFirst("results/".count)))
                .map { .query($0) } ?? .other
        default: return .other
        }
    }
}

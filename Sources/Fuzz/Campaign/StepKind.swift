import Capture
import PhoneBridge
import Wire

/// The kinds of messages in a script: what is done, whatever the ids, times, texts and types of
/// commands, and in whichever way a connection ends: one bug shows itself by many of them.
///
///     command
///     end
///     get results
///     text phone_environment
package enum StepKind {
    /// The kinds in a script, each once, in the order of their names.
    ///
    /// To an app, a second command under an id of its own is a kind too: what it takes two commands
    /// for is another bug than what one is enough for.
    package static func kinds(of script: FuzzScript) -> [String] {
        var kinds = Set(script.steps.compactMap { kind(of: $0.action) })
        if script.played == .board, commandIDs(in: script).count > 1 { kinds.insert("command 2") }
        return kinds.sorted()
    }

    /// Questions that change nothing.
    private static let looks: Set<String> = ["get results", "get status"]

    /// What a bug takes of the kinds in its script: not the questions by which it was seen, unless
    /// there is nothing else.
    package static func needed(of kinds: some Sequence<String>) -> Set<String> {
        let all = Set(kinds)
        let needed = all.subtracting(looks)
        return needed.isEmpty ? all : needed
    }

    /// The ids of the commands in a script.
    private static func commandIDs(in script: FuzzScript) -> Set<String> {
        Set(
            script.steps.compactMap { step -> String? in
                switch step.action {
                case .command(_, let content), .enqueue(_, let content), .text(_, let content):
                    guard message(content) == "command" else { return nil }
                    return (try? JSONDocument(content))?.root["id"]?.string
                default: return nil
                }
            })
    }

    /// The kind of an action; nil for one that merely waits or looks.
    package static func kind(of action: FuzzAction) -> String? {
        switch action {
        case .wait, .await, .accept, .heal, .alive, .bystander, .resume, .again: nil
        case .beats: "text heartbeat"
        case .text(_, let content): text(message(content))
        case .binary(_, let content): "binary " + message(content)
        case .close, .reset, .fin, .serve(.connections, _): "end"
        case .frame(_, let frame) where frame.opcode == .close: "end"
        case .frame(_, let frame):
            "frame " + (opcodes[frame.opcode.rawValue] ?? "op\(frame.opcode.rawValue)")
        case .enqueue(_, let json): sent("enqueue", json)
        case .stimulate(_, let json): sent("stimulate", json)
        case .command(_, let json): sent("command", json)
        case .request(let request): request.method.lowercased() + " " + route(request.target)
        case .serve: action.description.split(separator: " ").prefix(3).joined(separator: " ")
        case .state(let words): "state \(state(words))"
        default: action.description.split(separator: " ").first.map(String.init)
        }
    }

    private static let opcodes: [UInt8: String] = [
        0: "continuation", 1: "text", 2: "binary", 9: "ping", 10: "pong",
    ]

    /// A text that is sent: a command is one whether the script waits for its answer or not.
    private static func text(_ message: String) -> String {
        switch message {
        case "command": "command"
        case "unknown": "command unknown"
        default: "text " + message
        }
    }

    /// A command that is sent; what is not like one of the contract's is named.
    private static func sent(_ way: String, _ content: Bytes) -> String {
        let message = message(content)
        return message == "command" ? way : "\(way) \(message)"
    }

    /// A phone's state, whatever the permission: `=pending` for `calendar=pending`.
    private static func state(_ words: String) -> String {
        words.firstIndex(of: "=").map { String(words[$0...]) } ?? words
    }

    /// The first part of a path: `results` for `results/q1?x=y`.
    private static func route(_ target: String) -> String {
        let path = target.prefix { $0 != "?" }
        return path.split(separator: "/").first.map(String.init) ?? ""
    }

    /// What a message is, as far as it can be told: an event's name, `command`, `answer`, which an
    /// object is that is nothing else, or `other`; `unknown` for a command of no version.
    private static func message(_ content: Bytes) -> String {
        guard content.count <= 65_536, let document = try? JSONDocument(content) else {
            return "other"
        }
        let root = document.root
        let contract = Contract.current
        if let type = root["type"]?.string {
            return contract.command(named: type) == nil ? "unknown" : "command"
        }
        guard let id = root["id"]?.string else { return root.kind == .object ? "answer" : "other" }
        if contract.isHeartbeat(id) { return "heartbeat" }
        if let event = contract.event(named: id) { return event.name }
        if let method = root["method"]?.string, let event = contract.event(named: method) {
            return event.name
        }
        return "answer"
    }
}

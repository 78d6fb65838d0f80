import Capture
import PhoneBridge
import Wire

/// The kinds of messages in a script: what is done, whatever the ids, times and texts.
///
///     command calendar_create
///     get results
///     text phone_environment
package enum StepKind {
    /// The kinds in a script, each once, in the order of their names.
    package static func kinds(of script: FuzzScript) -> [String] {
        Set(script.steps.compactMap { kind(of: $0.action) }).sorted()
    }

    /// The kind of an action; nil for one that merely waits or looks.
    package static func kind(of action: FuzzAction) -> String? {
        switch action {
        case .wait, .await, .heal, .alive, .bystander, .resume: nil
        case .text(_, let content): "text " + message(content)
        case .binary(_, let content): "binary " + message(content)
        case .frame(_, let frame):
            "frame " + (opcodes[frame.opcode.rawValue] ?? "op\(frame.opcode.rawValue)")
        case .bytes: "bytes"
        case .close: "close"
        case .reset: "reset"
        case .fin: "fin"
        case .stall: "stall"
        case .enqueue(_, let json): "enqueue " + message(json)
        case .connect: "connect"
        case .beats: "beats"
        case .stimulate(_, let json): "stimulate " + message(json)
        case .request(let request): request.method.lowercased() + " " + route(request.target)
        case .raw: "raw"
        case .accept: "accept"
        case .command(_, let json): "command " + message(json)
        case .serve(let service, let serving): "serve \(service.rawValue) \(word(serving))"
        case .state(let words): "state \(words)"
        }
    }

    private static let opcodes: [UInt8: String] = [
        0: "continuation", 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong",
    ]

    /// The first part of a path: `results` for `results/q1?x=y`.
    private static func route(_ target: String) -> String {
        let path = target.prefix { $0 != "?" }
        return path.split(separator: "/").first.map(String.init) ?? ""
    }

    private static func word(_ serving: FuzzServing) -> String {
        switch serving {
        case .well: "well"
        case .hang: "hang"
        case .reset: "reset"
        case .fin: "fin"
        case .status: "status"
        case .redirect: "redirect"
        case .delay: "delay"
        case .body: "body"
        case .cut: "cut"
        case .otherID: "other-id"
        }
    }

    /// What a message is, as far as it can be told: an event's or a command's name, `answer`, or
    /// `other`.
    private static func message(_ content: Bytes) -> String {
        guard content.count <= 65_536, let document = try? JSONDocument(content) else {
            return "other"
        }
        let root = document.root
        let contract = Contract.current
        if let type = root["type"]?.string {
            return contract.command(named: type)?.name ?? "unknown"
        }
        guard let id = root["id"]?.string else { return "other" }
        if contract.isHeartbeat(id) { return "heartbeat" }
        if let event = contract.event(named: id) { return event.name }
        if let method = root["method"]?.string, let event = contract.event(named: method) {
            return event.name
        }
        return "answer"
    }
}

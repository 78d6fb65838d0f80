import PhoneBridge
import Wire

/// Simpler messages of the same kind: the contract's examples in place of a command, members left
/// out, values made short.
enum SimplerFields {
    /// Content over this is not looked into.
    private static let maximumSize = 65_536
    /// So many variants of one message are tried at most.
    private static let maximumVariants = 48

    static func variants(of action: FuzzAction) -> [FuzzAction] {
        switch action {
        case .text(let link, let content):
            return (heartbeat(for: content) + messages(content)).map { .text(link, $0) }
        case .binary(let link, let content): return messages(content).map { .binary(link, $0) }
        case .enqueue(let name, let json): return messages(json).map { .enqueue(name, $0) }
        case .stimulate(let name, let json): return messages(json).map { .stimulate(name, $0) }
        case .command(let name, let json): return messages(json).map { .command(name, $0) }
        case .connect(let link, let dial):
            return dials(dial).map { .connect(link, $0) }
        case .request(let request): return requests(request).map { .request($0) }
        case .frame(let link, let frame):
            return frames(frame).map { .frame(link, $0) }
        case .close(let link, let code, let reason) where !reason.isEmpty:
            return [.close(link, code: code, reason: [])]
        case .raw(let parts) where parts.count > 1:
            return parts.indices.reversed().map { index in
                var parts = parts
                parts.remove(at: index)
                return .raw(parts)
            }
        case .serve(let service, .body(let body)):
            return messages(body).map { .serve(service, .body($0)) }
        default: return []
        }
    }

    // MARK: Around messages

    private static func dials(_ dial: FuzzDial) -> [FuzzDial] {
        var variants: [FuzzDial] = []
        for query in queries(dial.query) {
            var dial = dial
            dial.query = query
            variants.append(dial)
        }
        for index in dial.fieldLines.indices.reversed() {
            var dial = dial
            dial.fieldLines.remove(at: index)
            variants.append(dial)
        }
        if dial.offersDeflate {
            var dial = dial
            dial.offersDeflate = false
            variants.append(dial)
        }
        return variants
    }

    private static func requests(_ request: FuzzRequest) -> [FuzzRequest] {
        var variants: [FuzzRequest] = []
        if let mark = request.target.firstIndex(of: "?") {
            let path = String(request.target[..<mark])
            for query in queries(String(request.target[mark...].dropFirst())) {
                var request = request
                request.target = query.isEmpty ? path : "\(path)?\(query)"
                variants.append(request)
            }
        }
        for index in request.fieldLines.indices.reversed() {
            var request = request
            request.fieldLines.remove(at: index)
            variants.append(request)
        }
        for body in messages(request.body) {
            var request = request
            request.body = body
            variants.append(request)
        }
        return variants
    }

    /// A query without one of its parameters.
    private static func queries(_ query: String) -> [String] {
        let parts = query.split(separator: "&", omittingEmptySubsequences: false)
        guard !query.isEmpty else { return [] }
        return parts.indices.reversed().map { index in
            var parts = parts
            parts.remove(at: index)
            return parts.joined(separator: "&")
        }
    }

    private static func frames(_ frame: FuzzFrame) -> [FuzzFrame] {
        var variants: [FuzzFrame] = []
        func add(_ change: (inout FuzzFrame) -> Void) {
            var simple = frame
            change(&simple)
            if simple != frame { variants.append(simple) }
        }
        add { $0.fin = true }
        add { $0.rsv = 0 }
        add { $0.isMasked = nil }
        add { $0.announced = nil }
        add { $0.lengthForm = nil }
        for payload in messages(frame.payload) { add { $0.payload = payload } }
        return variants
    }

    // MARK: Messages

    /// The simplest message that there is; none in place of a command, or of itself.
    private static func heartbeat(for content: Bytes) -> [Bytes] {
        guard let id = Contract.current.heartbeatIDs.first else { return [] }
        let heartbeat = JSON.object([.init("id", .string(id))]).encoded
        guard content != heartbeat, content.count <= maximumSize,
            (try? JSONDocument(content))?.root["type"] == nil
        else { return [] }
        return [heartbeat]
    }

    private static func messages(_ content: Bytes) -> [Bytes] {
        guard content.first == UInt8(ascii: "{"), content.count <= maximumSize,
            let json = try? JSON(parsing: content)
        else { return [] }
        var variants = ExampleCommand.simpler(than: json).map(\.encoded)
        for simple in simpler(json, depth: 0) {
            guard variants.count < maximumVariants else { break }
            variants.append(simple.encoded)
        }
        return variants.filter { $0 != content }
    }

    /// Members that say what a message is.
    private static let names: Set<String> = ["id", "type", "method"]

    /// The value with one thing less in it, the largest first.
    private static func simpler(_ value: JSON, depth: Int) -> [JSON] {
        guard depth < 4 else { return [] }
        switch value {
        case .object(let members):
            let isCommand = value["id"] != nil && value["type"] != nil
            // What is left of a command stays one, and a message keeps its id.
            let kept = isCommand ? names : depth == 0 ? ["id"] : []
            var variants: [JSON] = members.indices.reversed().compactMap { index in
                if kept.contains(members[index].name) { return nil }
                var members = members
                members.remove(at: index)
                return .object(members)
            }
            for (index, member) in members.enumerated()
            where depth > 0 || !names.contains(member.name) {
                for simple in simpler(member.value, depth: depth + 1) {
                    var members = members
                    members[index].value = simple
                    variants.append(.object(members))
                }
            }
            return variants
        case .array(let elements):
            var variants: [JSON] = []
            if elements.count > 1 {
                variants.append(.array(Array(elements.prefix(elements.count / 2))))
                variants.append(.array(Array(elements.dropFirst(elements.count / 2))))
            } else if let element = elements.first {
                variants.append(.array([]))
                variants += simpler(element, depth: depth + 1).map { .array([$0]) }
            }
            return variants
        case .string(let text): return text.utf8.count > 1 && !text.contains("$(") ? ["x"] : []
        case .number(let text): return ["0", "1", "5000"].contains(text) ? [] : [.number("1")]
        case .bool, .null: return []
        }
    }
}

/// The contract's examples of commands, the simplest first.
enum ExampleCommand {
    private static let examples: [(type: String, payload: JSON?)] = [
        ("clipboard_read", nil),
        ("clipboard_write", ["text": "x"]),
        (
            "calendar_create",
            [
                "title": "x", "start_at": "2026-06-10T09:00:00Z",
                "end_at": "2026-06-10T10:00:00Z",
            ]
        ),
    ]

    /// Commands with the same id that are simpler than this one; none where it is no command.
    static func simpler(than command: JSON) -> [JSON] {
        guard let type = command["type"]?.stringValue, let members = command.members,
            Contract.current.command(named: type) != nil
        else { return [] }
        let place = examples.firstIndex { $0.type == type } ?? examples.count
        return examples.prefix(place).map { example in
            var simple = members.filter { $0.name != "payload" && $0.name != "type" }
            simple.removeAll { $0.name == "app" || $0.name == "url" }
            simple.append(.init("type", .string(example.type)))
            if let payload = example.payload { simple.append(.init("payload", payload)) }
            return .object(simple)
        }
    }
}

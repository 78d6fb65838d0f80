import Wire

/// What becomes of the values in each field of a message: the contract's tables, made ready.
///
/// All messages and documents of the link are read by one tree: no two of them use one name for
/// two things at the same place, but for `data`, which an event's id tells apart.
struct RedactionFields: Sendable {
    /// What becomes of a text.
    enum Treatment: Sendable, Equatable {
        /// Every word goes; the kind is for the manifest.
        case text(Contract.Personal)
        /// A sentence of a program.
        case sentence
        /// The name of something that is no person, such as an app.
        case name
        /// A word of the protocol: a type, a code.
        case word
        /// What links things.
        case id
        /// The id of a phone, which is its owner's.
        case phoneID
        case url
        case instant
        /// A region or a time zone: stays where it has that form.
        case region
        /// A field that the contract does not know.
        case unknown
        /// It stays whatever it is: a policy says so.
        case kept
    }

    /// A place in a message.
    struct Node: Sendable {
        var treatment: Treatment
        /// How the manifest calls it, such as `data.contacts.name`.
        var path: String
        /// Members of an object, by their names in lower case.
        var members: [Bytes: Int] = [:]
    }

    private(set) var nodes: [Node] = []
    /// Where a message begins, and the `data` of an event.
    let root = 0
    private(set) var eventData = 0
    /// What is unknown, with whatever is in it.
    private(set) var unknown = 0
    let eventNames: Set<Bytes>
    /// Words that stay in fields that nobody knows.
    let words: Set<Bytes>

    init(_ contract: Contract) {
        eventNames = Set(contract.events.map { Bytes($0.name.utf8) })
        var words = contract.commands.map(\.name) + contract.events.map(\.name)
        words += contract.errors.flatMap { [$0.name] + $0.codes }
        words += contract.commands.flatMap(\.methods) + contract.reservedIDs
        words += contract.poll.platforms + contract.poll.appStates
        words += ["queued", "in_flight", "completed", "expired", "acknowledged"]
        words += ProtocolWords.switches
        self.words = Set(words.map { Bytes($0.utf8) })
        nodes = [Node(treatment: .unknown, path: "")]
        unknown = add(Node(treatment: .unknown, path: "*"))
        eventData = add(Node(treatment: .unknown, path: "data"))
        let data = child("data", of: root, .unknown)
        let payload = child("payload", of: root, .unknown)
        envelope(root)
        for type in contract.commands {
            add(type.fields, to: root)
            add(type.payload, to: payload)
            add(type.data, to: data)
        }
        for event in contract.events { add(event.data, to: eventData) }
        documents(contract, data: data, payload: payload)
    }

    private mutating func envelope(_ node: Int) {
        for name in ["id", "command_id"] { child(name, of: node, .id) }
        for name in ["type", "method", "status"] { child(name, of: node, .word) }
        child("phone_id", of: node, .phoneID)
        let error = child("error", of: node, .sentence)
        for name in ["category", "code"] { child(name, of: error, .word) }
        child("message", of: error, .sentence)
        let details = child("details", of: error, .unknown)
        for name in ["native_code", "command_type", "transport"] {
            child(name, of: details, .word)
        }
        child("command_id", of: details, .id)
    }

    /// What stands around commands and results in the queue's documents.
    private mutating func documents(_ contract: Contract, data: Int, payload: Int) {
        child("server_time", of: root, .instant)
        add(contract.bodies.enqueue + contract.bodies.query + contract.bodies.status, to: root)
        if let error = nodes[root].members[Bytes("error".utf8)] {
            nodes[root].members[Bytes("tool_error".utf8)] = error
        }
        for name in ["command", "commands"] {
            nodes[root].members[Bytes(name.utf8)] = root
        }
        let result = child("result", of: root, .unknown)
        envelope(result)
        nodes[result].members[Bytes("data".utf8)] = data
        nodes[result].members[Bytes("payload".utf8)] = payload
    }

    @discardableResult
    private mutating func child(_ name: String, of node: Int, _ treatment: Treatment) -> Int {
        let key = Bytes(name.utf8)
        let path = nodes[node].path.isEmpty ? name : "\(nodes[node].path).\(name)"
        if let known = nodes[node].members[key] {
            // What is personal anywhere is so everywhere.
            if case .text = nodes[known].treatment { return known }
            nodes[known].treatment = treatment
            return known
        }
        let index = add(Node(treatment: treatment, path: path))
        nodes[node].members[key] = index
        return index
    }

    private mutating func add(_ node: Node) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func add(_ fields: [Contract.Field], to node: Int) {
        for field in fields {
            let index = child(field.name, of: node, Self.treatment(of: field))
            add(field.type.redactionMembers, to: index)
        }
    }

    private static func treatment(of field: Contract.Field) -> Treatment {
        switch (field.name, field.personal) {
        case ("command_id", _),
            (_, .id) where field.name != "phone_id":
            .id
        case ("phone_id", _): .phoneID
        case ("region", _), ("time_zone", _): .region
        case ("ios_url", _): .url
        case (_, .none): field.name == "status" ? .word : .name
        case (_, .device): .name
        case (_, .url): .url
        case (_, .instant): .instant
        case (_, let kind): .text(kind)
        }
    }

    /// Where a member leads; `unknown` for one that nobody knows.
    func member(_ name: Bytes, of node: Int) -> Int {
        let members = nodes[node].members
        if let known = members[name] { return known }
        guard !members.isEmpty, name.contains(where: { $0 &- 0x41 < 26 }) else { return unknown }
        return members[TextRedactor.lowercased(name)] ?? unknown
    }
}

extension RedactionFields {
    /// What the name of a member says that the contract does not know.
    struct UnknownName: Sendable {
        var treatment: Treatment
        /// Whether a number there tells a place, or is a phone's.
        var isPersonalNumber: Bool

        init(_ name: Bytes) {
            let lower = TextRedactor.lowercased(name)
            treatment = Self.treatment(name, lower)
            let text = String(decoding: lower, as: UTF8.self)
            isPersonalNumber =
                ["phone", "mobile", "tel", "longitude", "latitude"].contains { text.contains($0) }
                || ["lat", "lng", "lon"].contains(text)
        }

        private static func treatment(_ name: Bytes, _ lower: Bytes) -> Treatment {
            if lower == Bytes("id".utf8) || lower.suffix(3) == Bytes("_id".utf8) { return .id }
            if name.suffix(2) == Bytes("Id".utf8) || name.suffix(2) == Bytes("ID".utf8) {
                return .id
            }
            for ending in ["_at", "time", "timestamp", "date"]
            where lower.suffix(ending.utf8.count).elementsEqual(ending.utf8) {
                return .instant
            }
            return .unknown
        }
    }
}

extension Contract.FieldType {
    /// Fields of the objects in it.
    fileprivate var redactionMembers: [Contract.Field] {
        switch self {
        case .object(let fields): fields
        case .array(let element): element.redactionMembers
        default: []
        }
    }
}

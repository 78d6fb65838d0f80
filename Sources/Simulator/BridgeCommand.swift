package import Wire

/// A command as the board sends it (contract, "BridgeCommand"; board-http-facts, "JSON").
package struct BridgeCommand: Sendable, Equatable {
    package var id: CommandID
    package var type: String
    /// The phone that the command is for; any phone without one.
    package var phoneID: CommandID?
    package var app: String?
    package var name: String?
    package var url: String?
    /// Milliseconds; the contract's 5000 without one.
    package var timeoutMilliseconds: Int?
    /// Kept as it came, `null` included.
    package var payload: JSON?

    package init(
        id: String, type: String, app: String? = nil, url: String? = nil,
        timeoutMilliseconds: Int? = nil, payload: JSON? = nil
    ) {
        self.id = CommandID(id)
        self.type = type
        self.app = app
        self.url = url
        self.timeoutMilliseconds = timeoutMilliseconds
        self.payload = payload
    }

    /// Reads a command's object; an absent id or type is empty.
    package init(
        _ value: JSON, path: String = "", ignoresCase: Bool
    ) throws(FieldError) {
        let fields = try JSONFields(value, path: path, ignoresCase: ignoresCase)
        id = CommandID(try fields.string("id") ?? "")
        type = try fields.string("type") ?? ""
        phoneID = try fields.string("phone_id").map { CommandID($0) }
        app = try fields.string("app")
        name = try fields.string("name")
        url = try fields.string("url")
        timeoutMilliseconds = try fields.integer("timeout_ms")
        payload = fields.raw("payload")
    }

    /// The command as JSON, in the board's order and without what is empty.
    package var json: JSON {
        var members = [JSON.Member("id", .string(id.text))]
        func add(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            members.append(JSON.Member(name, .string(text)))
        }
        add("type", type)
        add("phone_id", phoneID?.text)
        add("app", app)
        add("name", name)
        add("url", url)
        if let timeoutMilliseconds, timeoutMilliseconds != 0 {
            members.append(JSON.Member("timeout_ms", .number(String(timeoutMilliseconds))))
        }
        if let payload { members.append(JSON.Member("payload", payload)) }
        return .object(members)
    }
}

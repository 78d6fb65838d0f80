package import Wire

/// What the app says about a command, and the outer form of its events
/// (contract, "BridgeCommandResponse").
package struct CommandResponse: Sendable, Equatable {
    package var id: CommandID
    package var method: String?
    /// The error's object as it came; success without one.
    package var error: JSON?
    package var data: JSON?

    package init(id: CommandID, method: String? = nil, error: JSON? = nil, data: JSON? = nil) {
        self.id = id
        self.method = method
        self.error = error
        self.data = data
    }

    /// Makes the answer for a failure.
    package init(id: CommandID, failure: Failure) {
        self.init(id: id, error: failure.json)
    }

    /// Reads a response's object; an absent id is empty.
    ///
    /// An `error` that is there but is no object, `null` included, is a wrong type: the contract
    /// knows an absent one only, and taking `null` for success would be a guess.
    package init(_ value: JSON, ignoresCase: Bool) throws(FieldError) {
        let fields = try JSONFields(value, ignoresCase: ignoresCase)
        id = CommandID(try fields.string("id") ?? "")
        method = try fields.string("method")
        if let error = fields.raw("error") {
            let parts = try JSONFields(error, path: "error", ignoresCase: ignoresCase)
            _ = try parts.string("category")
            _ = try parts.string("code")
            _ = try parts.string("message")
            _ = try parts.object("details")
            self.error = error
        }
        data = fields.value("data")
    }

    /// The response as JSON, in the board's order and without what is empty.
    package var json: JSON {
        var members = [JSON.Member("id", .string(id.text))]
        if let method, !method.isEmpty { members.append(JSON.Member("method", .string(method))) }
        if let error { members.append(JSON.Member("error", error)) }
        if let data { members.append(JSON.Member("data", data)) }
        return .object(members)
    }

    /// A structured error (contract, "Error Handling"; board-http-facts, "Commands over WebSocket").
    package struct Failure: Error, Sendable, Equatable {
        package var category: String
        package var code: String
        package var message: String
        package var details: [JSON.Member]

        package init(
            _ category: String, _ code: String, _ message: String, details: [JSON.Member] = []
        ) {
            self.category = category
            self.code = code
            self.message = message
            self.details = details
        }

        /// The error's object.
        package var json: JSON {
            var members = [
                JSON.Member("category", .string(category)), JSON.Member("code", .string(code)),
                JSON.Member("message", .string(message)),
            ]
            if !details.isEmpty { members.append(JSON.Member("details", .object(details))) }
            return .object(members)
        }
    }
}

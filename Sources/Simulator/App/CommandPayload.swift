import Wire

/// The payload of a command: its fields by name, each failure an `invalid_arguments`.
struct CommandPayload {
    private let fields: JSONFields

    /// Takes the payload apart; one that is absent or no object is a failure.
    init(_ payload: JSON?) throws(CommandResponse.Failure) {
        guard let payload else { throw .invalidArguments("payload is missing") }
        do {
            fields = try JSONFields(payload, path: "payload", ignoresCase: false)
        } catch {
            throw .invalidArguments(error.message)
        }
    }

    func text(_ name: String) throws(CommandResponse.Failure) -> String? {
        try read { () throws(FieldError) in try fields.string(name) }
    }

    func texts(_ name: String) throws(CommandResponse.Failure) -> [String]? {
        try read { () throws(FieldError) in try fields.strings(name) }
    }

    func flag(_ name: String) throws(CommandResponse.Failure) -> Bool? {
        try read { () throws(FieldError) in try fields.bool(name) }
    }

    func integer(_ name: String) throws(CommandResponse.Failure) -> Int? {
        try read { () throws(FieldError) in try fields.integer(name) }
    }

    /// A text that must be there and must not be empty.
    func requiredText(_ name: String) throws(CommandResponse.Failure) -> String {
        guard let text = try text(name) else { throw .invalidArguments("\(name) is missing") }
        guard !text.isEmpty else { throw .invalidArguments("\(name) must not be empty") }
        return text
    }

    /// An RFC 3339 time with its offset, as text and as an instant (contract, "Time Format").
    func time(
        _ name: String
    ) throws(CommandResponse.Failure) -> (text: String, instant: Timestamp)? {
        guard let text = try text(name) else { return nil }
        guard let instant = Timestamp(text) else {
            throw .invalidArguments("\(name) is not an RFC 3339 time with an offset")
        }
        return (text, instant)
    }

    func requiredTime(
        _ name: String
    ) throws(CommandResponse.Failure) -> (text: String, instant: Timestamp) {
        guard let time = try time(name) else { throw .invalidArguments("\(name) is missing") }
        return time
    }

    private func read<Value>(
        _ body: () throws(FieldError) -> Value
    ) throws(CommandResponse.Failure) -> Value {
        do {
            return try body()
        } catch {
            throw .invalidArguments(error.message)
        }
    }
}

extension CommandResponse.Failure {
    /// A command that cannot be understood (contract, "Error Handling").
    static func invalidArguments(_ message: String) -> Self {
        Self("invalid_input", "invalid_arguments", message)
    }

    /// An id that the phone does not know (contract, "calendar_delete" and "contacts_update").
    static func notFound(_ what: String, nativeCode: String) -> Self {
        Self(
            "invalid_input", "invalid_arguments", "\(what) not found",
            details: [JSON.Member("native_code", .string(nativeCode))])
    }
}

import Wire

/// A command as the board sends it, the queue holds it, or a tool enqueues it (contract,
/// "BridgeCommand"): where its fields stand on the tape of its message.
struct SentCommand {
    /// A string that is not empty.
    var id: Int
    /// A string.
    var type: Int
    /// A number, where there is one.
    var timeout: Int?

    /// Reads the object at `index`; nil unless it has an `id` that is not empty and a `type`.
    ///
    /// - Parameter folding: whether names match without regard to case, as the board reads them.
    init?(_ tape: JSONTape, at index: Int, in text: Span<UInt8>, folding: Bool = false) {
        let (id, type, timeout) = tape.members(
            "id", "type", "timeout_ms", of: index, in: text, folding: folding)
        guard let id, let type, tape.kind(type) == .string, tape.isFullText(id) else { return nil }
        self.id = id
        self.type = type
        if let timeout, tape.kind(timeout) == .number { self.timeout = timeout }
    }

    /// The time allowed; nil where the command names none that is positive.
    func timeoutMilliseconds(_ tape: JSONTape, in text: Span<UInt8>) -> Int64? {
        guard let timeout else { return nil }
        // A fraction, or a number that no integer holds, has to be looked at as text.
        guard let value = tape.integer(timeout, in: text) else {
            return Self.milliseconds(tape.string(timeout, in: text))
        }
        return value > 0 ? value : nil
    }

    /// The milliseconds that the text of a number says, rounded up; nil where that is not
    /// positive.
    static func milliseconds(_ text: String) -> Int64? {
        if let value = JSON.number(text).integerValue { return value > 0 ? value : nil }
        // A fraction, or a number that no integer holds.
        guard let value = Double(text), value > 0 else { return nil }
        return value < 9e15 ? Int64(value.rounded(.up)) : .max
    }
}

/// An answer or event as the app sends it (contract, "BridgeCommandResponse"): where its fields
/// stand on the tape of its message.
struct Answer {
    /// A string that is not empty.
    var id: Int
    /// A string, where there is one.
    var method: Int?
    /// Whether there is no `error` (contract: success is represented by an absent error field).
    var isSuccess: Bool
    /// The error's code, where it is text.
    var code: Int?

    /// Reads the outermost object, names without regard to case; nil without an `id` that is
    /// not empty.
    init?(_ tape: JSONTape, in text: Span<UInt8>) {
        let (id, method, error) = tape.members(
            "id", "method", "error", of: 0, in: text, folding: true)
        self.init(tape, id: id, method: method, error: error, in: text)
    }

    /// The same where its members have been found.
    init?(_ tape: JSONTape, id: Int?, method: Int?, error: Int?, in text: Span<UInt8>) {
        guard let id, tape.isFullText(id) else { return nil }
        self.id = id
        self.method = method.flatMap { tape.kind($0) == .string ? $0 : nil }
        isSuccess = error == nil
        if let error, let code = tape.member(folding: "code", of: error, in: text),
            tape.kind(code) == .string
        {
            self.code = code
        }
    }
}

extension JSONTape {
    /// Whether the value is a string that is not empty.
    fileprivate func isFullText(_ index: Int) -> Bool {
        kind(index) == .string && !contentRange(index).isEmpty
    }

    /// The text of an object's last member with this name; nil where it is not a string.
    func text(
        _ name: StaticString, of index: Int, in text: Span<UInt8>, folding: Bool = false
    ) -> String? {
        let found =
            folding
            ? member(folding: name, of: index, in: text) : member(name, of: index, in: text)
        guard let found, kind(found) == .string else { return nil }
        return string(found, in: text)
    }

    /// Whether the text has the shape of the board's answer to a poll.
    func looksLikePoll(in text: Span<UInt8>) -> Bool {
        guard let commands = member("commands", of: 0, in: text),
            member("server_time", of: 0, in: text) != nil
        else { return false }
        return kind(commands) == .array || kind(commands) == .null
    }
}

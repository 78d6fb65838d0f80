import Wire

/// A command as the board sends it, the queue holds it, or a tool enqueues it (contract,
/// "BridgeCommand").
struct SentCommand {
    var id: String
    var type: String
    /// Read of commands that are enqueued only.
    var phoneID: String?
    /// The text of `timeout_ms`, where it is a number.
    var timeoutText: String?

    /// Reads the object at `index`; nil unless it has an `id` that is not empty and a `type`.
    ///
    /// - Parameters:
    ///   - types: the types that the contract knows: their text is shared, not copied.
    ///   - folding: whether names match without regard to case, as the board reads them.
    init?(
        _ tape: JSONTape, at index: Int, in text: Span<UInt8>, types: [String],
        folding: Bool = false
    ) {
        let typeIndex =
            folding
            ? tape.member(folding: "type", of: index, in: text)
            : tape.member("type", of: index, in: text)
        guard let typeIndex, tape.kind(typeIndex) == .string,
            let id = tape.text("id", of: index, in: text, folding: folding), !id.isEmpty
        else { return nil }
        self.id = id
        type =
            tape.position(of: typeIndex, among: types, in: text).map { types[$0] }
            ?? tape.string(typeIndex, in: text)
        if folding { phoneID = tape.text("phone_id", of: index, in: text, folding: true) }
        let timeout =
            folding
            ? tape.member(folding: "timeout_ms", of: index, in: text)
            : tape.member("timeout_ms", of: index, in: text)
        if let timeout, tape.kind(timeout) == .number {
            timeoutText = tape.string(timeout, in: text)
        }
    }

    /// The time allowed; nil where the command names none that is positive.
    var timeoutMilliseconds: Int64? { timeoutText.flatMap(Self.milliseconds) }

    /// The milliseconds that the text of a number says, rounded up; nil where that is not
    /// positive.
    static func milliseconds(_ text: String) -> Int64? {
        if let value = JSON.number(text).integerValue { return value > 0 ? value : nil }
        // A fraction, or a number that no integer holds.
        guard let value = Double(text), value > 0 else { return nil }
        return value < 9e15 ? Int64(value.rounded(.up)) : .max
    }
}

/// An answer or event as the app sends it (contract, "BridgeCommandResponse").
struct Answer {
    var id: String
    var method: String?
    /// Whether there is no `error` (contract: success is represented by an absent error field).
    var isSuccess: Bool
    /// The error's code, where it is text.
    var code: String?

    /// Reads the outermost object, names without regard to case; nil without an `id` that is
    /// not empty.
    init?(_ tape: JSONTape, in text: Span<UInt8>) {
        guard let id = tape.text("id", of: 0, in: text, folding: true), !id.isEmpty else {
            return nil
        }
        self.id = id
        method = tape.text("method", of: 0, in: text, folding: true)
        let error = tape.member(folding: "error", of: 0, in: text)
        isSuccess = error == nil
        code = error.flatMap { tape.text("code", of: $0, in: text, folding: true) }
    }
}

extension JSONTape {
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

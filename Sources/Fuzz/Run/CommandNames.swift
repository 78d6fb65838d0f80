import PhoneBridge
import Wire

/// The commands of a script by their names: their live ids, and what came of them.
struct CommandNames {
    private struct Command {
        /// The id that the script gave it.
        var id: String
        var type: String
        /// The id under which it goes; another one where a board has its own ways.
        var liveID: String
        /// Whether it has come, or its answer.
        var hasCome = false
        /// The data of its first answer.
        var data: JSON?
    }

    private var commands: [String: Command] = [:]
    private var names: [String: String] = [:]
    /// Names of commands whose live id is not known yet, in the order of their steps.
    private var unbound: [String] = []

    /// A command is about to be sent, or to be made to be sent.
    mutating func add(_ name: String, _ json: JSON?, id: String? = nil) {
        let id = id ?? json?["id"]?.stringValue ?? name
        // The same command once more keeps what is known of it, but has to come anew.
        commands[name] = Command(
            id: id, type: json?["type"]?.stringValue ?? "", liveID: id,
            data: commands[name]?.data)
        names[id] = name
        unbound.removeAll { $0 == name }
        unbound.append(name)
    }

    /// A command has come from a board.
    mutating func came(id: String, type: String) {
        guard let name = names[id] ?? adopt(id, type) else { return }
        unbound.removeAll { $0 == name }
        commands[name]?.hasCome = true
    }

    /// A board that gives ids of its own sends what was asked for first.
    private mutating func adopt(_ id: String, _ type: String) -> String? {
        guard let name = unbound.first(where: { commands[$0]?.type == type }) else { return nil }
        commands[name]?.liveID = id
        names[id] = name
        return name
    }

    /// An answer has come from an app.
    mutating func answered(id: String, data: JSON?) {
        guard let name = names[id] else { return }
        commands[name]?.hasCome = true
        if commands[name]?.data == nil { commands[name]?.data = data }
    }

    /// Whether what is waited for is there.
    func hasCome(_ name: String) -> Bool { commands[name]?.hasCome == true }

    /// The id under which a command goes; its name where it is not known.
    func liveID(of name: String) -> String { commands[name]?.liveID ?? name }

    /// Where a text stands that is filled in.
    enum Form {
        case json
        /// A part of a URL's path.
        case url
    }

    /// A text with its places filled in; a name that is not known stands for itself.
    func fill(_ text: Bytes, as form: Form = .json) -> Bytes {
        guard var place = Self.opening(in: text, from: 0) else { return text }
        var filled = Bytes()
        var start = 0
        while let end = text[place...].firstIndex(of: UInt8(ascii: ")")) {
            filled += text[start..<place]
            let words = String(decoding: text[(place + 2)..<end], as: UTF8.self)
            filled += value(words, as: form)
            start = end + 1
            guard let next = Self.opening(in: text, from: start) else { break }
            place = next
        }
        return filled + text[start...]
    }

    private static func opening(in text: Bytes, from start: Int) -> Int? {
        var place = start
        while let dollar = text[place...].firstIndex(of: UInt8(ascii: "$")) {
            if dollar + 1 < text.count, text[dollar + 1] == UInt8(ascii: "(") { return dollar }
            place = dollar + 1
        }
        return nil
    }

    /// What stands for a place: the inside of a JSON string, or percent-encoded.
    private func value(_ words: String, as form: Form) -> Bytes {
        let parts = words.split(separator: ".", maxSplits: 1)
        guard let name = parts.first.map(String.init), let command = commands[name] else {
            return Bytes(words.utf8)
        }
        var text = command.liveID
        if parts.count == 2 {
            text = command.data?[String(parts[1])]?.stringValue ?? words
        }
        if form == .url { return Bytes(PercentText.encode(text).utf8) }
        var quoted = Bytes()
        appendJSONString(text, to: &quoted)
        return Bytes(quoted.dropFirst().dropLast())
    }
}

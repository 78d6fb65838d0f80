package import Wire

/// Members that tell most about an event of the contract, in the order in which they are shown.
///
/// Others follow as they came; what no list knows is shown all the same.
private let leadingMembers = [
    "app_state", "platform", "system_version", "model", "title", "name", "query", "app", "url",
    "event_id", "contact_id", "text",
]

/// An object as `name=value` pairs, any other value as its JSON text; fit for a terminal.
package func fieldText(_ value: JSON, maximumColumns: Int = 160) -> String {
    guard let members = value.members else { return cut(plain(value), toColumns: maximumColumns) }
    var result = ""
    for member in leading(members) {
        // Wider than what is shown by what the cut needs; the rest is not even written.
        guard result.utf8.count <= maximumColumns * 4 else { break }
        result += (result.isEmpty ? "" : " ") + word(member.name) + "=" + plain(member.value)
    }
    return cut(result, toColumns: maximumColumns)
}

private func leading(_ members: [JSON.Member]) -> [JSON.Member] {
    let first = leadingMembers.flatMap { name in members.filter { $0.name == name } }
    guard !first.isEmpty else { return members }
    return first + members.filter { !leadingMembers.contains($0.name) }
}

private func plain(_ value: JSON) -> String {
    if case .string(let text) = value { return word(text) }
    return visible(value.description, escapingBackslash: false)
}

/// The text bare where it reads as one word, and in JSON's quotes where it does not.
func word(_ text: String) -> String {
    let isWord =
        !text.isEmpty && !["true", "false", "null"].contains(text)
        && text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", ":", "+", "/", "@", "#", "%", "&",
                "~":
                true
            default:
                !scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            }
        } && text.utf8.first.map { $0 < 0x30 || $0 > 0x39 || text.contains(":") } ?? false
    return isWord ? visible(text) : visible(JSON.string(text).description, escapingBackslash: false)
}

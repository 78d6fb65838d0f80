import Wire

/// Small changes to messages that leave every other byte as it was recorded.
enum MessageEdit {
    /// `content` with another `id`; as it is where it has none at its top.
    static func replacingID(in content: Bytes, with id: String) -> Bytes {
        replacing("id", in: content, with: id)
    }

    /// `content` with another text in a member of its top; as it is where it has no such text.
    static func replacing(_ name: StaticString, in content: Bytes, with text: String) -> Bytes {
        guard let document = try? JSONDocument(content), let value = document.root[folding: name],
            value.kind == .string, value.string != text
        else { return content }
        return splice(content, value.range, text)
    }

    /// `content` with another text in a member of its `payload`.
    static func replacingPayload(
        _ name: String, in content: Bytes, with translate: (String) -> String?
    ) -> Bytes {
        guard let document = try? JSONDocument(content), let payload = document.root["payload"],
            let value = payload.members.last(where: { $0.name.string == name })?.value,
            let text = value.string, let other = translate(text), other != text
        else { return content }
        return splice(content, value.range, other)
    }

    /// `content`, a request to enqueue, with another id of its command.
    static func replacingCommandID(in content: Bytes, with id: String) -> Bytes {
        guard let document = try? JSONDocument(content),
            let value = document.root["command"]?[folding: "id"], value.kind == .string
        else { return content }
        return splice(content, value.range, id)
    }

    /// `content` without a member of its top.
    static func removing(_ name: String, from content: Bytes) -> Bytes {
        guard case .object(let members)? = try? JSON(parsing: content),
            members.contains(where: { $0.name == name })
        else { return content }
        return JSON.object(members.filter { $0.name != name }).encoded
    }

    private static func splice(_ content: Bytes, _ range: Range<Int>, _ text: String) -> Bytes {
        Bytes(content[..<range.lowerBound]) + JSON.string(text).encoded
            + Bytes(content[range.upperBound...])
    }
}

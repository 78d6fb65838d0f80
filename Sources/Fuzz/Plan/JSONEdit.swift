import Wire

/// Changes in the text of a JSON value that keep every byte of the rest.
///
/// A place is a path of names; each gives nil where the text is no JSON or has no such place.
enum JSONEdit {
    /// The value at a place, whole text included for an empty path.
    static func view(_ text: Bytes, _ path: [String]) -> JSONView? {
        guard let document = try? JSONDocument(text) else { return nil }
        var view = document.root
        for name in path {
            guard let next = view.members.last(where: { $0.name.string == name })?.value else {
                return nil
            }
            view = next
        }
        return view
    }

    /// Puts other bytes in the place of a value.
    static func replacing(_ text: Bytes, _ path: [String], by value: Bytes) -> Bytes? {
        guard let range = view(text, path)?.range else { return nil }
        return Bytes(text[..<range.lowerBound]) + value + Bytes(text[range.upperBound...])
    }

    static func replacing(_ text: Bytes, _ path: [String], by value: String) -> Bytes? {
        replacing(text, path, by: Bytes(value.utf8))
    }

    /// Sets a member: in the place of the one of that name, or behind the last one.
    static func setting(_ text: Bytes, _ path: [String], to value: String) -> Bytes? {
        if view(text, path) != nil { return replacing(text, path, by: value) }
        guard let name = path.last else { return nil }
        var quoted = Bytes()
        appendJSONString(name, to: &quoted)
        return adding(
            text, path.dropLast(), quoted + Bytes(":".utf8) + Bytes(value.utf8), atFront: false)
    }

    /// Puts a member, as `"name":value`, into the object at a place.
    static func adding(
        _ text: Bytes, _ path: [String], _ member: Bytes, atFront: Bool
    ) -> Bytes? {
        guard let object = view(text, path), object.kind == .object else { return nil }
        let isEmpty = object.members.isEmpty
        let comma = Bytes(isEmpty ? "".utf8 : ",".utf8)
        let place = atFront ? object.range.lowerBound + 1 : object.range.upperBound - 1
        return Bytes(text[..<place]) + (atFront ? member + comma : comma + member)
            + Bytes(text[place...])
    }

    static func adding(
        _ text: Bytes, _ path: [String], _ member: String, atFront: Bool = false
    ) -> Bytes? {
        adding(text, path, Bytes(member.utf8), atFront: atFront)
    }

    /// Takes a member out, with one of the commas beside it.
    static func removing(_ text: Bytes, _ path: [String]) -> Bytes? {
        guard let name = path.last, let object = view(text, path.dropLast()) else { return nil }
        let members = object.members
        guard let index = members.lastIndex(where: { $0.name.string == name }) else { return nil }
        var range =
            members[index].name.range.lowerBound..<members[index].value.range.upperBound
        if index + 1 < members.count {
            range = range.lowerBound..<members[index + 1].name.range.lowerBound
        } else if index > 0 {
            range = members[index - 1].value.range.upperBound..<range.upperBound
        }
        return Bytes(text[..<range.lowerBound]) + Bytes(text[range.upperBound...])
    }

    /// Writes the name of a member in another way, as it is given: with its quotes.
    static func renaming(_ text: Bytes, _ path: [String], to quoted: String) -> Bytes? {
        guard let name = path.last, let object = view(text, path.dropLast()),
            let member = object.members.last(where: { $0.name.string == name })
        else { return nil }
        let range = member.name.range
        return Bytes(text[..<range.lowerBound]) + Bytes(quoted.utf8)
            + Bytes(text[range.upperBound...])
    }

    /// The names of the members of the object at a place.
    static func names(_ text: Bytes, _ path: [String]) -> [String] {
        view(text, path)?.members.compactMap(\.name.string) ?? []
    }

    /// A text as JSON with its quotes.
    static func quoted(_ text: String) -> String {
        var bytes = Bytes()
        appendJSONString(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A letter many times over, as JSON with its quotes.
    ///
    /// Megabytes of it: a string that is repeated would be put together letter by letter.
    static func quoted(_ letter: Unicode.Scalar, times count: Int) -> String {
        let quote = [UInt8(ascii: "\"")]
        let letters = Bytes(
            repeating: UInt8(truncatingIfNeeded: letter.value), count: max(0, count))
        return String(decoding: quote + letters + quote, as: UTF8.self)
    }

    /// A text as JSON in which every character is an escape.
    static func escaped(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            result += "\\u"
            for shift in [12, 8, 4, 0] {
                let digit = UInt8(truncatingIfNeeded: unit >> UInt16(shift)) & 15
                result.unicodeScalars.append(UnicodeScalar(hexDigit(digit)))
            }
        }
        return result + "\""
    }
}

import Capture
import Wire

/// Any bytes are JSON, or the first wrong byte is told; JSON keeps its source, every value has
/// its place in it, and what is written of it reads the same in every style.
func checkJSON(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let depth = [512, 8][Int(choices.byte() & 1)]
    let bytes = Bytes(choices.rest)

    let document: JSONDocument
    do throws(JSONError) {
        document = try JSONDocument(bytes, limits: JSONLimits(maximumDepth: depth))
    } catch {
        _ = error.description
        try expect(error.position <= bytes.count, "the wrong byte is behind the end")
        return
    }
    try expectEqual(document.source, bytes, "the source")
    var isExact = true
    try walk(document, &isExact)

    guard let value = document.root.value else {
        throw BrokenInvariant("a value within the limit of depth is not to be had")
    }
    try expect(try parse(document.root.rawBytes) == value, "the value's own bytes differ")
    for style in [JSON.Style.compact, .markupSafe, .indented] {
        var encoded = Bytes()
        value.encode(into: &encoded, style: style)
        let again = try parse(encoded)
        try expect(again == value, "written \(style) it reads otherwise")
        try expect(value.isEquivalent(to: again), "written \(style) it is not equivalent")
    }
    try checkAsField(bytes, isExact: isExact)
}

private func parse(_ bytes: Bytes) throws(BrokenInvariant) -> JSON {
    do throws(JSONError) {
        return try JSON(parsing: bytes)
    } catch {
        throw BrokenInvariant("what was written is not JSON: \(error)")
    }
}

/// Looks at every value: each stands within the one around it, behind the one before it.
private func walk(_ document: JSONDocument, _ isExact: inout Bool) throws(BrokenInvariant) {
    var waiting = [document.root]
    while let view = waiting.popLast() {
        let range = view.range
        try expect(range.upperBound <= document.source.count, "a value is behind the end")
        isExact = isExact && view.isExact
        _ = (view.string, view.numberText, view.integer, view.bool)
        _ = (view["type"]?.kind, view[folding: "type"]?.kind)
        var children = view.elements
        for member in view.members {
            try expect(member.name.kind == .string, "a member's name is no string")
            children += [member.name, member.value]
        }
        var end = range.lowerBound
        for child in children {
            try expect(child.range.lowerBound > end, "a value overlaps the one before it")
            end = child.range.upperBound
        }
        try expect(children.isEmpty || end < range.upperBound, "a value is not in its container")
        let count = document.tape.childCount(view.index)
        try expect(count == view.elements.count + view.members.count, "children are miscounted")
        waiting += children
    }
}

/// JSON is also stepped over as a field of a line that a later version wrote, unless it is too
/// deep or has a string that is no text.
private func checkAsField(_ json: Bytes, isExact: Bool) throws(BrokenInvariant) {
    guard isExact else { return }
    let line = Bytes("{\"event\":\"later\",\"seq\":7,\"new\":".utf8) + json + Bytes("}".utf8)
    let read: EventDecoder.Line
    do throws(LineFault) {
        read = try EventDecoder().decode(line.span)
    } catch {
        if case .tooDeep = error.reason { return }
        throw BrokenInvariant("the same JSON in a line is refused: \(error.text)")
    }
    try expect(read == .unknown(kind: "later", seq: 7), "the line is read as \(read)")
}

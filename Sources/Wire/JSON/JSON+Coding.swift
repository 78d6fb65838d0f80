extension JSON {
    /// Parses a JSON text; throws at the first byte that is not JSON.
    ///
    /// `limits.maximumDepth` is held to `JSON.maximumDepth`.
    package init(
        parsing bytes: Span<UInt8>, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) {
        var limits = limits
        limits.maximumDepth = min(limits.maximumDepth, Self.maximumDepth)
        var scanner = JSONScanner(limits: limits)
        try scanner.scan(bytes)
        // The scanner held the depth to the limit, so there is a value.
        self = JSON(scanner.tape, at: 0, in: bytes) ?? .null
    }

    /// Parses a JSON text; throws at the first byte that is not JSON.
    package init(parsing bytes: Bytes, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        try self.init(parsing: bytes.span, limits: limits)
    }

    /// Parses a JSON text; throws at the first byte that is not JSON.
    package init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        try self.init(parsing: Bytes(text.utf8), limits: limits)
    }

    /// The value at `index` of a tape, with the text that was scanned; nil where it is nested
    /// deeper than `maximumDepth`.
    package init?(_ tape: JSONTape, at index: Int, in bytes: Span<UInt8>) {
        guard let value = Self.value(tape, at: index, in: bytes, depth: 0) else { return nil }
        self = value
    }

    /// The value at an index, within so many containers.
    private static func value(
        _ tape: JSONTape, at index: Int, in bytes: Span<UInt8>, depth: Int
    ) -> JSON? {
        switch tape.kind(index) {
        case .null: return .null
        case .bool: return .bool(tape.bool(index, in: bytes) ?? false)
        case .number: return .number(tape.string(index, in: bytes))
        case .string: return .string(tape.string(index, in: bytes))
        case .array:
            guard var child = tape.first(in: index) else { return .array([]) }
            guard depth < maximumDepth else { return nil }
            var elements: [JSON] = []
            let end = tape.next(index)
            while child < end {
                guard let value = value(tape, at: child, in: bytes, depth: depth + 1) else {
                    return nil
                }
                elements.append(value)
                child = tape.next(child)
            }
            return .array(elements)
        case .object:
            guard var name = tape.first(in: index) else { return .object([]) }
            guard depth < maximumDepth else { return nil }
            var members: [Member] = []
            let end = tape.next(index)
            members.reserveCapacity(min(tape.childCount(index), 64))
            while name < end {
                guard let value = value(tape, at: name + 1, in: bytes, depth: depth + 1) else {
                    return nil
                }
                members.append(Member(tape.string(name, in: bytes), value))
                name = tape.next(name + 1)
            }
            return .object(members)
        }
    }
}

// MARK: - Encoding

extension JSON {
    /// How a value is written.
    package enum Style: Sendable {
        /// No white space; only what must be escaped is.
        case compact
        /// No white space; escaped as Go's encoder does (board facts, "HTTP basics").
        case markupSafe
        /// A line a value, two spaces a level.
        case indented
    }

    /// Appends the value's text; needs no stack, however deep the value is nested.
    package func encode(into output: inout Bytes, style: Style = .compact) {
        guard style != .indented, case .object(let members) = self else {
            return encodeAny(into: &output, style: style)
        }
        // The usual object is flat: it is written without a list of what is open.
        output.append(UInt8(ascii: "{"))
        for index in members.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Self.encode(members[index].name, into: &output, style: style)
            output.append(UInt8(ascii: ":"))
            switch members[index].value {
            case .string(let text): Self.encode(text, into: &output, style: style)
            case let value: value.encodeAny(into: &output, style: style)
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    private func encodeAny(into output: inout Bytes, style: Style) {
        switch self {
        case .null: return output.append("null")
        case .bool(let flag): return output.append(flag ? "true" : "false")
        case .number(let text): return output.append(text: text)
        case .string, .array, .object: break
        }
        var open: [Cursor] = []
        var value = self
        while true {
            switch value {
            case .null: output.append("null")
            case .bool(let flag): output.append(flag ? "true" : "false")
            case .number(let text): output.append(text: text)
            case .string(let text): Self.encode(text, into: &output, style: style)
            case .array(let elements):
                output.append(UInt8(ascii: "["))
                open.append(Cursor(elements: elements, members: nil))
            case .object(let members):
                output.append(UInt8(ascii: "{"))
                open.append(Cursor(elements: [], members: members))
            }
            // Step to the next value, closing what has no more.
            while true {
                guard let top = open.indices.last else { return }
                if open[top].next < open[top].count {
                    let index = open[top].next
                    open[top].next += 1
                    if index > 0 { output.append(UInt8(ascii: ",")) }
                    if style == .indented { Self.newLine(open.count, into: &output) }
                    if let members = open[top].members {
                        Self.encode(members[index].name, into: &output, style: style)
                        output.append(UInt8(ascii: ":"))
                        if style == .indented { output.append(UInt8(ascii: " ")) }
                        value = members[index].value
                    } else {
                        value = open[top].elements[index]
                    }
                    break
                }
                let closed = open.removeLast()
                if style == .indented, closed.count > 0 { Self.newLine(open.count, into: &output) }
                output.append(closed.members == nil ? UInt8(ascii: "]") : UInt8(ascii: "}"))
            }
        }
    }

    /// The value's text in bytes, without white space.
    package var encoded: Bytes {
        var output = Bytes()
        encode(into: &output)
        return output
    }

    /// The value's text, a line a value.
    package var prettyPrinted: String {
        var output = Bytes()
        encode(into: &output, style: .indented)
        return String(decoding: output, as: UTF8.self)
    }

    /// A container that is being written.
    private struct Cursor {
        var elements: [JSON]
        /// nil for an array.
        var members: [Member]?
        var next = 0
        var count: Int { members?.count ?? elements.count }
    }

    private static func encode(_ text: String, into output: inout Bytes, style: Style) {
        switch style {
        case .compact, .indented: appendJSONString(text, to: &output)
        case .markupSafe: appendMarkupSafeJSONString(text, to: &output)
        }
    }

    private static func newLine(_ depth: Int, into output: inout Bytes) {
        output.append(UInt8(ascii: "\n"))
        output += repeatElement(UInt8(ascii: " "), count: depth * 2)
    }
}

extension Bytes {
    /// Appends text; no copy of it is made on the way.
    fileprivate mutating func append(text: String) {
        let isWritten: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
            unsafe append(contentsOf: utf8)
        }
        if isWritten == nil { append(contentsOf: text.utf8) }
    }
}

extension JSON: CustomStringConvertible {
    /// The value's text without white space.
    package var description: String { String(decoding: encoded, as: UTF8.self) }
}

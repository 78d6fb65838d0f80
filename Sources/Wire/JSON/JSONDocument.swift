/// A JSON text with the places of its values: every byte of the source is kept.
///
/// Costs the source and sixteen bytes a value; nothing is decoded until it is asked for.
package struct JSONDocument: Sendable {
    /// The text as it was, white space included.
    package let source: Bytes
    /// Where its values stand.
    package let tape: JSONTape

    /// Scans `source`; throws at the first byte that is not JSON.
    package init(_ source: Bytes, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var scanner = JSONScanner(limits: limits)
        try scanner.scan(source.span)
        self.source = source
        var tape = scanner.tape
        tape.trim()
        self.tape = tape
    }

    /// Scans `source` with a scanner that others use too; throws at the first byte that is not
    /// JSON.
    ///
    /// The scanner uses its memory again once the document is gone.
    package init(_ source: Bytes, scanner: inout JSONScanner) throws(JSONError) {
        try scanner.scan(source.span)
        self.source = source
        tape = scanner.tape
    }

    /// The outermost value.
    package var root: JSONView { JSONView(document: self, index: 0) }

    /// The value at a place on the tape.
    ///
    /// - Precondition: `index` is that of a value or of a member's name.
    package func view(at index: Int) -> JSONView { JSONView(document: self, index: index) }
}

/// One value of a document.
package struct JSONView: Sendable {
    /// The document that the value stands in.
    package let document: JSONDocument
    /// The value's place on the document's tape.
    package let index: Int

    /// The value's kind.
    package var kind: JSONKind { document.tape.kind(index) }

    /// The value's bytes in the source, its quotes or brackets included.
    package var range: Range<Int> { document.tape.range(index) }

    /// A copy of the value's bytes as they stand in the source.
    package var rawBytes: Bytes { Bytes(document.source[range]) }

    /// The decoded text of a string; nil for other values.
    ///
    /// A lone surrogate shows U+FFFD: see `isExact`.
    package var string: String? {
        kind == .string ? document.tape.string(index, in: document.source.span) : nil
    }

    /// Whether `string` is all that the source says: no surrogate in it is alone.
    package var isExact: Bool { document.tape.isExact(index) }

    /// The text of a number as it stands in the source; nil for other values.
    package var numberText: String? {
        kind == .number ? document.tape.string(index, in: document.source.span) : nil
    }

    /// The value of a number that is an integer of 64 bits, however it is spelt.
    package var integer: Int64? { document.tape.integer(index, in: document.source.span) }

    /// The value of a boolean; nil for other values.
    package var bool: Bool? { document.tape.bool(index, in: document.source.span) }

    /// The elements of an array, in order; empty for other values.
    package var elements: [JSONView] {
        guard kind == .array, var child = document.tape.first(in: index) else { return [] }
        let end = document.tape.next(index)
        var result: [JSONView] = []
        while child < end {
            result.append(JSONView(document: document, index: child))
            child = document.tape.next(child)
        }
        return result
    }

    /// The members of an object, in order, duplicates included; empty for other values.
    package var members: [(name: JSONView, value: JSONView)] {
        guard kind == .object, var child = document.tape.first(in: index) else { return [] }
        let end = document.tape.next(index)
        var result: [(name: JSONView, value: JSONView)] = []
        while child < end {
            result.append(
                (
                    JSONView(document: document, index: child),
                    JSONView(document: document, index: child + 1)
                ))
            child = document.tape.next(child + 1)
        }
        return result
    }

    /// The value of the last member with exactly this name.
    package subscript(name: StaticString) -> JSONView? {
        document.tape.member(name, of: index, in: document.source.span).map {
            JSONView(document: document, index: $0)
        }
    }

    /// The value of the last member with this name, which is in lower-case ASCII, without
    /// regard to case.
    package subscript(folding name: StaticString) -> JSONView? {
        document.tape.member(folding: name, of: index, in: document.source.span).map {
            JSONView(document: document, index: $0)
        }
    }

    /// The value, decoded; nil where it is nested deeper than `JSON.maximumDepth`.
    package var value: JSON? {
        JSON(document.tape, at: index, in: document.source.span)
    }
}

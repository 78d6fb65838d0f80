package import Wire

/// What an event means in the contract: objects, derivable from the rest of the session (capture
/// format, "The protocol's own meaning").
///
/// They are held as values, or as the text that stands in a line of a session file: most of them
/// pass from a file, or from who reads the traffic, to a file, and are never looked at.
package struct Meanings: Sendable {
    private enum Form {
        case values([JSON])
        /// The array as `EventEncoder` writes it, without white space; empty for nothing.
        case text(Bytes)
    }

    private let form: Form

    /// Holds values.
    package init(_ values: [JSON]) {
        form = .values(values)
    }

    /// Holds the text of an array, which is JSON as an encoder writes it; empty for nothing.
    init(text: Bytes) {
        form = .text(text)
    }

    /// Whether it means nothing.
    package var isEmpty: Bool {
        switch form {
        case .values(let values): values.isEmpty
        case .text(let text): text.isEmpty
        }
    }

    /// The objects, read from their text where there is only that.
    package var values: [JSON] {
        switch form {
        case .values(let values): return values
        case .text(let text):
            guard !text.isEmpty else { return [] }
            do {
                return try JSON(parsing: text).elements ?? []
            } catch {
                // What is held as text was JSON when it was taken.
                return []
            }
        }
    }

    /// The first object; nil where it means nothing.
    package var first: JSON? { values.first }

    /// How many objects there are.
    package var count: Int { values.count }

    /// Appends the text of the array; nothing where it means nothing.
    func appendText(to output: inout Bytes) {
        switch form {
        case .text(let text): output.append(copying: text.span)
        case .values(let values):
            guard !values.isEmpty else { return }
            output.append(UInt8(ascii: "["))
            for index in values.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                values[index].encode(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        }
    }
}

extension Meanings: Equatable {
    /// Whether both mean the same, however they are held.
    package static func == (left: Meanings, right: Meanings) -> Bool {
        switch (left.form, right.form) {
        case (.values(let left), .values(let right)): return left == right
        case (.text(let left), .text(let right)): return left == right
        case (.values, .text), (.text, .values):
            var texts = (Bytes(), Bytes())
            left.appendText(to: &texts.0)
            right.appendText(to: &texts.1)
            return texts.0 == texts.1
        }
    }
}

extension Meanings: Sequence {
    package func makeIterator() -> IndexingIterator<[JSON]> { values.makeIterator() }
}

extension Meanings: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSON...) { self.init(elements) }
}

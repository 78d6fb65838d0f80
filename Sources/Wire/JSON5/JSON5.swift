/// A value of JSON5 (json5.org, version 1.0.0) with its place in the text: how people write
/// profiles, policies and rules.
///
/// Comments, trailing commas, names without quotes and all spellings of strings and numbers are
/// read. `Infinity` and `NaN` are refused: nothing here is measured in them, and JSON has no word
/// for them. Names may come twice; whoever reads the value judges that.
package struct JSON5: Sendable, Equatable {
    package var content: Content
    /// Where it begins.
    package var place: Place

    package init(_ content: Content, at place: Place) {
        self.content = content
        self.place = place
    }

    /// What kind of value it is, with what is in it.
    package enum Content: Sendable, Equatable {
        case null
        case bool(Bool)
        /// The number as JSON writes it: `0x10` is `16`, `+.5` is `0.5`, `5.` is `5`.
        case number(String)
        case string(String)
        case array([JSON5])
        case object([Member])
    }

    /// A member of an object.
    package struct Member: Sendable, Equatable {
        package var name: String
        /// Where its name stands.
        package var place: Place
        package var value: JSON5

        package init(_ name: String, at place: Place, _ value: JSON5) {
            self.name = name
            self.place = place
            self.value = value
        }
    }

    /// A place in a text, as editors count it.
    package struct Place: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// Counted from 1.
        package var line: Int
        /// Counted from 1, in Unicode scalars.
        package var column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }

        package static func < (left: Place, right: Place) -> Bool {
            (left.line, left.column) < (right.line, right.column)
        }

        /// `line 3, column 5`.
        package var description: String { "line \(line), column \(column)" }
    }

    /// How deep a value may be nested: nothing that people write by hand is deeper.
    package static let maximumDepth = 100

    /// How many bytes a text may have: it is read whole.
    package static let maximumSize = 1 << 20

    /// Parses a text, UTF-8 with or without a byte order mark; throws at the first thing that is
    /// not JSON5.
    package init(
        parsing bytes: Bytes, maximumDepth: Int = maximumDepth, maximumSize: Int = maximumSize
    ) throws(JSON5Error) {
        guard bytes.count <= maximumSize else {
            throw JSON5Error(
                .tooLarge(limit: maximumSize, count: bytes.count), at: Place(line: 1, column: 1))
        }
        if let offset = offsetOfInvalidUTF8(bytes.span) {
            let start = String(decoding: bytes[..<offset], as: UTF8.self)
            var reader = JSON5Reader(Array(start.unicodeScalars), maximumDepth: 0)
            reader.skip(start.unicodeScalars.count)
            throw JSON5Error(.invalidUTF8, at: reader.place)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        var reader = JSON5Reader(Array(text.unicodeScalars), maximumDepth: maximumDepth)
        self = try reader.readText()
    }

    /// The value without its places.
    package var json: JSON {
        switch content {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let text): .number(text)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.json))
        case .object(let members): .object(members.map { JSON.Member($0.name, $0.value.json) })
        }
    }
}

extension JSON {
    /// Parses a text of JSON5; throws at the first thing that is not JSON5.
    package init(parsingJSON5 bytes: Bytes) throws(JSON5Error) {
        self = try JSON5(parsing: bytes).json
    }
}

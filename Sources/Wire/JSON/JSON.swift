/// A JSON value: order, duplicate members and the text of numbers are kept (RFC 8259).
///
/// White space and the spelling of strings are not; `JSONDocument` keeps those too.
package indirect enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number's text as in the source, such as `1e400` or `5000.0`.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    /// A member of an object.
    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }
}

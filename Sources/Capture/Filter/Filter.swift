/// A choice of events, in the language that `show`, `stats`, `check`, `--fault` and the page
/// share (`Filter.help`).
///
/// Terms look at the event's fields, as a session file has them, and at those of its `bridge`
/// objects. Where an event has several of these, the terms that are joined by `and` must hold
/// of one and the same; `not` says that what follows holds of none.
package struct Filter {
    /// What was parsed.
    package let source: String
    private let expression: FilterExpression

    /// Parses a filter; throws at the first character that is wrong.
    package init(parsing source: String) throws(FilterError) {
        var parser = FilterParser(source)
        expression = try parser.parse()
        self.source = source
    }

    /// Whether the event is one of those that are asked for.
    package func matches(_ event: Event) -> Bool {
        expression.matches(event)
    }
}

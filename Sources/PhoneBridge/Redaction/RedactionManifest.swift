package import Wire

/// What redaction touched: kinds and fields with counts, and never a value.
package struct RedactionManifest: Sendable, Equatable {
    /// Values that were replaced, by the kind of what they told.
    package internal(set) var kinds: [String: Int] = [:]
    /// The same by field, such as `data.contacts.name` or `header User-Agent`.
    package internal(set) var fields: [String: Int] = [:]
    /// What was found within texts, by kind.
    package internal(set) var found: [String: Int] = [:]
    /// Events that were seen, and those of them that were changed.
    package internal(set) var events = 0
    package internal(set) var changedEvents = 0
    /// Compressed messages that were compressed again.
    package internal(set) var recompressed = 0
    /// Bytes that were not understood and became filler.
    package internal(set) var filler: UInt64 = 0
    /// Messages that were given up, since they are compressed and too large.
    package internal(set) var givenUp = 0
    /// Heads whose exact bytes were made anew.
    package internal(set) var rebuiltHeads = 0

    /// Fields that are told apart; names that somebody made up may be many.
    static let maximumFields = 1000

    mutating func count(_ kind: Contract.Personal, _ field: String) {
        count(kind: kind == .none ? "text" : kind.rawValue, field)
    }

    mutating func count(kind: String, _ field: String) {
        kinds[kind, default: 0] += 1
        if fields[field] != nil || fields.count < Self.maximumFields {
            fields[field, default: 0] += 1
        } else {
            fields["…", default: 0] += 1
        }
    }

    /// The manifest as JSON, sorted by name.
    package var json: JSON {
        func object(_ counts: [String: Int]) -> JSON {
            .object(
                counts.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .integer($0.value)) })
        }
        return .object([
            .init("events", .integer(events)), .init("changed_events", .integer(changedEvents)),
            .init("kinds", object(kinds)), .init("found_in_texts", object(found)),
            .init("fields", object(fields)),
            .init("recompressed_messages", .integer(recompressed)),
            .init("filler_bytes", .integer(filler)),
            .init("given_up_messages", .integer(givenUp)),
            .init("rebuilt_heads", .integer(rebuiltHeads)),
        ])
    }
}

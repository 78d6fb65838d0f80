package import Capture
import Wire

/// Looks for what still tells of people in a session (docs/redaction.md).
///
/// Of a session that was not redacted it tells what redaction would replace. In a redacted one
/// stand-ins look like what they stand for; there it finds addresses at hosts that are not
/// reserved, and numbers of phones in what redaction keeps.
package final class RedactionScan {
    /// Something in a redacted session that is no stand-in.
    package struct Remain: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case email
            case host
            case phone
        }

        /// The number of the event.
        package var seq: Int
        package var kind: Kind
    }

    private let redactor: Redactor
    private var events: [Event] = []
    /// Whether the session says that it was redacted, by texts and with a key.
    package private(set) var isRedacted = false

    /// Makes a scan of one session; nil where libcrypto refuses.
    package init?(contract: Contract = .current) {
        // Nothing that comes of it is kept.
        guard let key = RedactionKey(Bytes(repeating: 0, count: RedactionKey.size)) else {
            return nil
        }
        redactor = Redactor(key: key, contract: contract)
        redactor.text.looksForRemains = true
    }

    /// Takes the next event of the session.
    package func receive(_ event: Event) {
        var event = event
        if case .session(var session) = event.kind {
            isRedacted = session.redacted?["key"]?.stringValue != nil
            session.redacted = nil
            event.kind = .session(session)
        }
        redactor.text.seq = event.seq
        redactor.receive(event, into: &events)
        events.removeAll(keepingCapacity: true)
    }

    /// What redaction would replace; of no use for a redacted session.
    package var manifest: RedactionManifest { redactor.manifest }

    /// What is no stand-in, the first thousand places of them.
    package var remains: [Remain] { redactor.text.remains }

    /// How many there are.
    package var remainCount: Int { redactor.text.remainCount }

    /// How many values tell of people, as far as can be told: times and words of programs do not
    /// count.
    package var count: Int {
        guard !isRedacted else { return remainCount }
        return manifest.kinds.filter { $0.key != "instant" && $0.key != "id" }
            .reduce(0) { $0 + $1.value }
    }
}

package import PhoneBridge
package import Wire

/// Values that an answer brings into being and that are used later: which live one stands for
/// which recorded one.
///
/// They are found where the contract says that an id is born or told (`event_id`, `contact_id`,
/// `notification_id`), never by what a text looks like.
package struct ValueBinding: Sendable, Equatable {
    /// Recorded to live.
    package private(set) var live: [String: String] = [:]

    package init() {}

    /// The live value for a recorded one; nil where none is known.
    package subscript(recorded: String) -> String? { live[recorded] }

    /// Learns from an answer, as it was recorded and as it came.
    package mutating func bind(
        _ recorded: JSON, _ live: JSON, type: Contract.CommandType?
    ) {
        guard let type, let recorded = recorded["data"], let live = live["data"] else { return }
        if let born = type.bornID { bind(recorded[born], live[born]) }
        for field in type.data {
            guard case .array(.object(let members)) = field.type,
                let ids = Optional(members.filter { $0.personal == .id }.map(\.name)), !ids.isEmpty
            else { continue }
            bind(
                recorded[field.name]?.elements ?? [], live[field.name]?.elements ?? [], ids: ids)
        }
    }

    private mutating func bind(_ recorded: JSON?, _ live: JSON?) {
        guard let old = recorded?.stringValue, let new = live?.stringValue, !new.isEmpty,
            self.live[old] == nil
        else { return }
        self.live[old] = new
    }

    /// Elements of two lists belong together when all but their ids is equal.
    private mutating func bind(_ recorded: [JSON], _ live: [JSON], ids: [String]) {
        func rest(_ element: JSON) -> JSON {
            .object((element.members ?? []).filter { !ids.contains($0.name) })
        }
        var free = live
        for element in recorded {
            let wanted = rest(element)
            guard let place = free.firstIndex(where: { rest($0).isEquivalent(to: wanted) }) else {
                continue
            }
            let match = free.remove(at: place)
            for id in ids { bind(element[id], match[id]) }
        }
    }
}

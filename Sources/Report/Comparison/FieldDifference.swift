package import PhoneBridge
package import Wire

/// One place where two JSON values differ.
package struct FieldDifference: Sendable, Equatable {
    /// In what they differ.
    package enum Kind: String, Sendable {
        case changed
        /// Only the second has it.
        case added
        /// Only the first has it.
        case removed
        /// Both say the same in another form: an instant with another offset, 5 and 5.0, a
        /// default that one of them spells out.
        case form
        /// Ways of doing the same on two platforms (contract, "1. open_app").
        case method
        /// The words of an error, whose category and code are the same.
        case wording
        /// When something was reported, which no two sessions share.
        case moment
        /// A field that the contract does not know was added, as it allows (contract, "Version
        /// Compatibility").
        case addition
        /// A value of the first session that has become this one in the second.
        case bound
        /// A rule of the rules file lets it differ so.
        case allowed
        /// A value that is the phone's own, such as its model or the level of its battery.
        case phone
    }

    /// Where it is, such as `result.data.events[2].title`.
    package var path: String
    package var kind: Kind
    package var first: JSON?
    package var second: JSON?
    /// What the values tell about a person; nil where the contract does not know the field.
    package var personal: Contract.Personal?
    /// Where it is, step by step, where a comparison found it.
    var place: FieldPath?
    /// Whether a rule of the rules file judged it: nothing else does then.
    var isByRule = false
    /// Whether the contract requires the field.
    var isRequired = false
    /// What else is to be said of it, without a full stop: what a rule asks for, say.
    package var why: String?

    package init(
        path: String, kind: Kind, first: JSON?, second: JSON?,
        personal: Contract.Personal? = nil, why: String? = nil
    ) {
        self.path = path
        self.kind = kind
        self.first = first
        self.second = second
        self.personal = personal
        self.why = why
    }

    /// Whether it makes the two different, or is only told.
    package var counts: Bool {
        switch kind {
        case .changed, .added, .removed: true
        case .form, .method, .wording, .moment, .addition, .bound, .allowed, .phone: false
        }
    }
}

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
    }

    /// Where it is, such as `result.data.events[2].title`.
    package var path: String
    package var kind: Kind
    package var first: JSON?
    package var second: JSON?
    /// What the values tell about a person; nil where the contract does not know the field.
    package var personal: Contract.Personal?

    package init(
        path: String, kind: Kind, first: JSON?, second: JSON?,
        personal: Contract.Personal? = nil
    ) {
        self.path = path
        self.kind = kind
        self.first = first
        self.second = second
        self.personal = personal
    }

    /// Whether it makes the two different, or is only told.
    package var counts: Bool {
        switch kind {
        case .changed, .added, .removed: true
        case .form, .method, .wording, .moment, .addition: false
        }
    }
}

/// Compares JSON values field by field, by what the contract says of each.
struct FieldComparison {
    /// Differences of a command that are kept; more are counted.
    static let maximumDifferences = 100

    /// What the contract knows of a value.
    struct Knowledge {
        var type: Contract.FieldType?
        /// Nil for a field that it does not know.
        var personal: Contract.Personal?
        var defaultValue: JSON?
        /// It tells when something was reported.
        var isMoment = false

        static let unknown = Knowledge(type: nil, personal: nil)

        init(type: Contract.FieldType?, personal: Contract.Personal?, isMoment: Bool = false) {
            self.type = type
            self.personal = personal
            self.isMoment = isMoment
        }

        init(_ field: Contract.Field) {
            type = field.type
            personal = field.personal
            defaultValue = field.defaultValue
        }

        /// Of an array's elements.
        var element: Knowledge {
            guard case .array(let type)? = type else { return .unknown }
            return Knowledge(type: type, personal: personal)
        }

        /// Of a member; nil for one that the contract does not know.
        func member(_ name: String) -> Knowledge? {
            guard case .object(let fields)? = type else { return nil }
            return fields.first { $0.name == name }.map { Knowledge($0) }
        }
    }

    private(set) var differences: [FieldDifference] = []
    /// How many there are that count, kept or not.
    private(set) var counted = 0
    /// Of those that are not kept.
    private(set) var left = 0

    mutating func add(_ difference: FieldDifference) {
        if difference.counts { counted += 1 }
        guard differences.count < Self.maximumDifferences else {
            left += 1
            return
        }
        differences.append(difference)
    }

    /// Counts differences that another comparison did not keep.
    mutating func addUnkept(_ left: Int, counted: Int) {
        self.left += left
        self.counted += counted
    }

    /// Compares two values; nil is one that is not there.
    ///
    /// Recursive: `JSON.maximumDepth` bounds it.
    mutating func compare(
        _ first: JSON?, _ second: JSON?, at path: String, _ known: Knowledge
    ) {
        switch (first, second) {
        case (nil, nil): return
        case (.object(let left)?, .object(let right)?):
            compare(left, right, at: path, known)
        // What only one of them has is shown field by field too: each knows what it tells about
        // a person.
        case (.object(let left)?, nil) where !left.isEmpty: compare(left, [], at: path, known)
        case (nil, .object(let right)?) where !right.isEmpty: compare([], right, at: path, known)
        case (.array(let left)?, .array(let right)?): compare(left, right, at: path, known)
        case (.array(let left)?, nil) where !left.isEmpty: compare(left, [], at: path, known)
        case (nil, .array(let right)?) where !right.isEmpty: compare([], right, at: path, known)
        default:
            guard first != second else { return }
            add(
                FieldDifference(
                    path: path, kind: kind(first, second, known), first: first, second: second,
                    personal: known.personal))
        }
    }

    private mutating func compare(
        _ first: [JSON], _ second: [JSON], at path: String, _ known: Knowledge
    ) {
        for index in 0..<max(first.count, second.count) {
            // A bare `nil` would be JSON's null.
            compare(
                first.indices.contains(index) ? first[index] : JSON?.none,
                second.indices.contains(index) ? second[index] : JSON?.none,
                at: "\(path)[\(index)]", known.element)
        }
    }

    private mutating func compare(
        _ first: [JSON.Member], _ second: [JSON.Member], at path: String, _ known: Knowledge
    ) {
        var seen: Set<String> = []
        for member in first + second where seen.insert(member.name).inserted {
            compare(
                JSON.object(first)[member.name], JSON.object(second)[member.name],
                at: path + "." + member.name, known.member(member.name) ?? .unknown)
        }
    }

    private func kind(_ first: JSON?, _ second: JSON?, _ known: Knowledge) -> FieldDifference.Kind {
        if known.isMoment { return .moment }
        guard let first, let second else {
            if let value = first ?? second, value == known.defaultValue { return .form }
            if first == nil { return known.personal == nil ? .addition : .added }
            return .removed
        }
        if case .instant? = known.type, let left = first.stringValue.flatMap({ Timestamp($0) }),
            let right = second.stringValue.flatMap({ Timestamp($0) }), left == right
        {
            return .form
        }
        if let left = first.numberText, let right = second.numberText,
            Self.isEqualNumber(left, right)
        {
            return .form
        }
        return .changed
    }

    /// Whether two spellings are one number; those that no 64 bits hold exactly differ.
    private static func isEqualNumber(_ first: String, _ second: String) -> Bool {
        if let left = JSON.number(first).integerValue, let right = JSON.number(second).integerValue
        {
            return left == right
        }
        guard let left = Double(first), let right = Double(second), left.magnitude < 1e15 else {
            return false
        }
        return left == right
    }
}

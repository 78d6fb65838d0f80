import PhoneBridge
import Wire

/// Compares JSON values field by field, by what the contract says of each, and by the rules of a
/// rules file where there is one.
struct FieldComparison {
    /// Differences of a command that are kept; more are counted.
    static let maximumDifferences = 100

    /// What the contract knows of a value.
    struct Knowledge {
        var type: Contract.FieldType?
        /// Nil for a field that it does not know.
        var personal: Contract.Personal?
        var defaultValue: JSON?
        var isRequired = false
        /// It tells when something took place.
        var isMoment = false

        static let unknown = Knowledge(type: nil, personal: nil)

        init(type: Contract.FieldType?, personal: Contract.Personal?) {
            self.type = type
            self.personal = personal
        }

        init(_ field: Contract.Field) {
            type = field.type
            personal = field.personal
            defaultValue = field.defaultValue
            isRequired = field.isRequired
            isMoment = field.isMoment
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

    /// Where an answer brings a value into being, such as `result.data.event_id`: whatever it is
    /// stands for the recorded one from there on.
    var birth: String?

    private(set) var differences: [FieldDifference] = []
    /// How many there are that count, kept or not.
    private(set) var counted = 0
    /// Of those that are not kept.
    private(set) var left = 0
    /// The first of them that is about a value which the contract requires.
    private(set) var firstRequired: FieldPath?
    /// Where the comparison is.
    var path: FieldPath

    init(at path: FieldPath = FieldPath()) {
        self.path = path
    }

    mutating func add(_ difference: FieldDifference) {
        if difference.counts { counted += 1 }
        guard differences.count < Self.maximumDifferences else {
            left += 1
            return
        }
        differences.append(difference)
    }

    /// Takes over what another comparison found, each difference as `settled` makes of it.
    mutating func add(
        _ other: FieldComparison, settled: (FieldDifference) -> FieldDifference = { $0 }
    ) {
        for difference in other.differences { add(settled(difference)) }
        left += other.left
        counted += other.counted - other.differences.count { $0.counts }
    }

    /// Compares two values, which stand at `root`; nil is one that is not there.
    mutating func compare(
        _ first: JSON?, _ second: JSON?, at root: String, _ known: Knowledge,
        _ ledger: inout ComparisonLedger
    ) {
        path = FieldPath(root)
        compare(first, second, known, &ledger)
    }

    /// Compares two values, which stand where the comparison is.
    ///
    /// Recursive: `JSON.maximumDepth` bounds it.
    mutating func compare(
        _ first: JSON?, _ second: JSON?, _ known: Knowledge, _ ledger: inout ComparisonLedger
    ) {
        if first == nil, second == nil { return }
        if let rule = ledger.rule(for: path) {
            return compare(first, second, known, by: rule, &ledger)
        }
        switch (first, second) {
        case (.object(let left)?, .object(let right)?): compare(left, right, known, &ledger)
        // What only one of them has is shown field by field too: each knows what it tells about
        // a person.
        case (.object(let left)?, nil) where !left.isEmpty: compare(left, [], known, &ledger)
        case (nil, .object(let right)?) where !right.isEmpty: compare([], right, known, &ledger)
        case (.array(let left)?, .array(let right)?): compare(left, right, known, &ledger)
        case (.array(let left)?, nil) where !left.isEmpty: compare(left, [], known, &ledger)
        case (nil, .array(let right)?) where !right.isEmpty: compare([], right, known, &ledger)
        default: compareLeaf(first, second, known, &ledger)
        }
    }

    private mutating func compare(
        _ first: [JSON], _ second: [JSON], _ known: Knowledge, _ ledger: inout ComparisonLedger
    ) {
        for index in 0..<max(first.count, second.count) {
            // A bare `nil` would be JSON's null.
            compare(
                first.indices.contains(index) ? first[index] : JSON?.none,
                second.indices.contains(index) ? second[index] : JSON?.none, at: index,
                known.element, &ledger)
        }
    }

    /// Compares two elements of lists.
    mutating func compare(
        _ first: JSON?, _ second: JSON?, at index: Int, _ known: Knowledge,
        _ ledger: inout ComparisonLedger
    ) {
        path.steps.append(.index(index))
        compare(first, second, known, &ledger)
        path.steps.removeLast()
    }

    private mutating func compare(
        _ first: [JSON.Member], _ second: [JSON.Member], _ known: Knowledge,
        _ ledger: inout ComparisonLedger
    ) {
        // By their bytes: composed and decomposed letters are two names. The last of equal names
        // holds, as JavaScript and Go take it.
        let values = (Self.byName(first), Self.byName(second))
        var seen: Set<Bytes> = []
        for member in first + second {
            let name = Bytes(member.name.utf8)
            guard seen.insert(name).inserted else { continue }
            path.steps.append(.member(member.name))
            compare(
                values.0[name], values.1[name], known.member(member.name) ?? .unknown, &ledger)
            path.steps.removeLast()
        }
    }

    private static func byName(_ members: [JSON.Member]) -> [Bytes: JSON] {
        Dictionary(
            members.map { (Bytes($0.name.utf8), $0.value) }, uniquingKeysWith: { $1 })
    }

    // MARK: Leaves

    private mutating func compareLeaf(
        _ first: JSON?, _ second: JSON?, _ known: Knowledge, _ ledger: inout ComparisonLedger
    ) {
        ledger.sawLeaf()
        if let left = first?.stringValue, let right = second?.stringValue,
            compareValue(left, right, known, &ledger)
        {
            return
        }
        guard first != second else { return }
        add(kind(first, second, known), first, second, known)
    }

    /// Adds a difference at the place where the comparison is.
    mutating func add(
        _ kind: FieldDifference.Kind, _ first: JSON?, _ second: JSON?, _ known: Knowledge,
        why: String? = nil, isByRule: Bool = false
    ) {
        if known.isRequired, firstRequired == nil { firstRequired = path }
        var difference = FieldDifference(
            path: path.text, kind: kind, first: first, second: second, personal: known.personal,
            why: why)
        difference.place = path
        difference.isByRule = isByRule
        difference.isRequired = known.isRequired
        add(difference)
    }

    /// Compares two texts by what the first one has become; whether that says all.
    private mutating func compareValue(
        _ first: String, _ second: String, _ known: Knowledge, _ ledger: inout ComparisonLedger
    ) -> Bool {
        guard ledger.mapsValues else { return false }
        if let birth, path.text == birth {
            guard !second.isEmpty else { return false }
            let isTied =
                ledger.isTrial
                ? ledger.values.canBind(first, second, name: path.name)
                : ledger.values.bind(first, second, name: path.name)
            if isTied {
                if first != second { add(.bound, .string(first), .string(second), known) }
            } else {
                add(
                    .changed, .string(first), .string(second), known,
                    why: "it stands for another one already")
            }
            return true
        }
        switch known.personal {
        case .id:
            let wanted = ledger.values.second(for: first, name: path.name)
            let former = ledger.values.first(for: second, name: path.name)
            if wanted == nil, former == nil { return false }
            if wanted == second {
                if first != second { add(.bound, .string(first), .string(second), known) }
            } else {
                add(
                    .changed, .string(first), .string(second), known,
                    why: wanted == nil
                        ? "it stands for another one" : "another one has taken its place")
            }
            return true
        case nil:
            // Fields that the contract does not know may hold anything, also such a value.
            guard first != second, ledger.values.ties(first, to: second) else { return false }
            add(.bound, .string(first), .string(second), known)
            return true
        default: return false
        }
    }

    private func kind(_ first: JSON?, _ second: JSON?, _ known: Knowledge) -> FieldDifference.Kind {
        guard let first, let second else {
            if let value = first ?? second, value == known.defaultValue { return .form }
            if first == nil { return known.personal == nil ? .addition : .added }
            return .removed
        }
        let left = first.stringValue.flatMap { Timestamp($0) }
        let right = second.stringValue.flatMap { Timestamp($0) }
        if known.isMoment, left != nil, right != nil { return .moment }
        if case .instant? = known.type, let left, left == right { return .form }
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

import PhoneBridge
import Wire

/// What the rules of a rules file do.
extension FieldComparison {
    /// Compares two values by a rule; nil is one that is not there.
    mutating func compare(
        _ first: JSON?, _ second: JSON?, _ known: Knowledge, by rule: Int,
        _ ledger: inout ComparisonLedger
    ) {
        let action = ledger.action(rule)
        if case .unordered(let key) = action, let left = first?.elements,
            let right = second?.elements
        {
            ledger.used(rule)
            return compareUnordered(left, right, by: key, known, &ledger)
        }
        ledger.used(rule, leaves: max(Self.leaves(first), Self.leaves(second)))
        switch action {
        case .ignore: ignore(first, second, known, rule, &ledger)
        case .unordered:
            // It is no list; then it stays what it is.
            judge(first == second, first, second, known, rule, &ledger)
        case .bind(let name):
            guard let left = first.flatMap(Self.text), let right = second.flatMap(Self.text),
                first?.kind == second?.kind, left.isEmpty == right.isEmpty
            else { return judge(first == second, first, second, known, rule, &ledger) }
            let isTied =
                ledger.isTrial
                ? ledger.values.canBind(left, right, name: name)
                : ledger.values.bind(left, right, name: name)
            judge(
                isTied, first, second, known, rule, &ledger,
                demand: "another one belongs to \(name)")
        case .type:
            learn(first, second, &ledger)
            judge(
                Self.isOfOneType(first, second), first, second, known, rule, &ledger,
                demand: "it is to stay of one type")
        case .pattern(let pattern):
            learn(first, second, &ledger)
            let text = second.flatMap(Self.text)
            judge(
                text.map { ledger.matches(rule, $0) } ?? (first == nil), first, second, known,
                rule, &ledger, demand: "it is to match \(pattern)")
        case .numberTolerance(let most):
            let numbers = [first, second].compactMap { $0?.numberText.flatMap(Double.init) }
            judge(
                numbers.count == 2 ? (numbers[1] - numbers[0]).magnitude <= most : first == second,
                first, second, known, rule, &ledger, demand: "it may differ by \(most)")
        case .timeTolerance(let most):
            let times = [first, second].compactMap { $0?.stringValue.flatMap { Timestamp($0) } }
            judge(
                times.count == 2 ? times[0].isWithin(most, of: times[1]) : first == second,
                first, second, known, rule, &ledger,
                demand: "it may differ by \(timeSpan(most))")
        }
    }

    /// Adds what a rule lets differ, or does not.
    private mutating func judge(
        _ isAllowed: Bool, _ first: JSON?, _ second: JSON?, _ known: Knowledge, _ rule: Int,
        _ ledger: inout ComparisonLedger, demand: String? = nil
    ) {
        guard first != second || !isAllowed else { return }
        let why = [isAllowed ? nil : demand, ledger.why(rule)].compactMap { $0 }
        let kind: FieldDifference.Kind =
            isAllowed
            ? .allowed : first == nil ? .added : second == nil ? .removed : .changed
        add(
            kind, first, second, known, why: why.isEmpty ? nil : why.joined(separator: ": "),
            isByRule: true)
    }

    private mutating func ignore(
        _ first: JSON?, _ second: JSON?, _ known: Knowledge, _ rule: Int,
        _ ledger: inout ComparisonLedger
    ) {
        guard first != second else { return }
        // Whether what it hides is required, a comparison without rules shows.
        var blind = ComparisonLedger()
        var comparison = FieldComparison(at: path)
        comparison.compare(first, second, known, &blind)
        if let hidden = comparison.firstRequired { ledger.hid(rule, hidden) }
        add(.allowed, first, second, known, why: ledger.why(rule), isByRule: true)
    }

    /// What an answer brings into being is known also where a rule says what it looks like.
    private func learn(_ first: JSON?, _ second: JSON?, _ ledger: inout ComparisonLedger) {
        guard ledger.mapsValues, !ledger.isTrial, let birth, birth == path.text,
            let first = first?.stringValue, let second = second?.stringValue
        else { return }
        _ = ledger.values.bind(first, second, name: path.name)
    }

    // MARK: Lists in any order

    /// Pairs of elements that are tried; what is left then is compared in order.
    private static let maximumTrials = 10_000

    private mutating func compareUnordered(
        _ left: [JSON], _ right: [JSON], by key: String?, _ known: Knowledge,
        _ ledger: inout ComparisonLedger
    ) {
        var partners = [Int?](repeating: nil, count: left.count)
        // What has the same key, or is the same to the letter, is found at once.
        var waiting: [Bytes: [Int]] = [:]
        for index in right.indices.reversed() {
            guard let value = key.map({ right[index][$0] }) ?? right[index] else { continue }
            waiting[value.encoded, default: []].append(index)
        }
        for index in left.indices {
            guard let value = key.map({ left[index][$0] }) ?? left[index] else { continue }
            let wanted = key.map { Self.become(value, name: $0, ledger) } ?? value
            partners[index] = waiting[wanted.encoded]?.popLast()
        }
        let taken = Set(partners.compactMap { $0 })
        var free = right.indices.filter { !taken.contains($0) }
        // What is the same but for what may differ is tried.
        var trials = 0
        for index in left.indices where partners[index] == nil && key == nil {
            path.steps.append(.index(index))
            let place = free.firstIndex { place in
                trials += 1
                guard trials <= Self.maximumTrials else { return false }
                var trial = FieldComparison(at: path)
                var tried = ledger
                tried.isTrial = true
                trial.compare(left[index], right[place], known.element, &tried)
                return trial.counted == 0
            }
            path.steps.removeLast()
            if let place { partners[index] = free.remove(at: place) }
        }
        for index in left.indices {
            let other = partners[index] ?? (key == nil && !free.isEmpty ? free.removeFirst() : nil)
            compare(left[index], other.map { right[$0] }, at: index, known.element, &ledger)
        }
        for index in free {
            compare(JSON?.none, right[index], at: index, known.element, &ledger)
        }
    }

    /// What a key of the first session is in the second, as far as that is known.
    private static func become(_ key: JSON, name: String, _ ledger: ComparisonLedger) -> JSON {
        guard ledger.mapsValues, let text = key.stringValue else { return key }
        return ledger.values.second(for: text, name: name).map { .string($0) } ?? key
    }

    // MARK: Values

    /// How many values without members there are in a value.
    private static func leaves(_ value: JSON?) -> Int {
        switch value {
        case .array(let elements): elements.reduce(0) { $0 + leaves($1) }
        case .object(let members): members.reduce(0) { $0 + leaves($1.value) }
        case nil: 0
        default: 1
        }
    }

    /// The text of a text, a number or a boolean.
    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// Whether both are there, of one kind, and alike in being empty and in being an instant.
    private static func isOfOneType(_ first: JSON?, _ second: JSON?) -> Bool {
        switch (first, second) {
        case (.string(let left)?, .string(let right)?):
            left.isEmpty == right.isEmpty
                && (Timestamp(left) == nil || Timestamp(right) != nil)
        case (.array(let left)?, .array(let right)?): left.isEmpty == right.isEmpty
        case (.object(let left)?, .object(let right)?): left.isEmpty == right.isEmpty
        case (let left?, let right?): left.kind == right.kind
        case (nil, nil): true
        case (nil, .some), (.some, nil): false
        }
    }
}

extension Timestamp {
    /// Whether another one is at most so many nanoseconds away.
    fileprivate func isWithin(_ most: Int64, of other: Timestamp) -> Bool {
        let (seconds, overflow) = seconds.subtractingReportingOverflow(other.seconds)
        guard !overflow else { return false }
        let (span, tooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !tooLarge else { return false }
        let (exact, over) = span.addingReportingOverflow(nanoseconds - other.nanoseconds)
        return !over && exact.magnitude <= most.magnitude
    }
}

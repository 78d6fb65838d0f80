/// What is kept for each connection, by its number.
///
/// Numbers come in order, and it is the latest that are asked for: none needs a hash, and what is
/// there is changed where it lies. A look-up costs a logarithm of the size at most; what is
/// removed leaves a hole, and the holes are closed once they are the greater half.
package struct ConnectionTable<Value: Sendable>: Sendable {
    /// In ascending order.
    private var numbers: [Int] = []
    /// What belongs to each number; nil for a hole.
    private var places: [Value?] = []
    /// How many connections there are.
    package private(set) var count = 0

    package init() {}

    /// The numbers, in ascending order.
    package var keys: [Int] { numbers.indices.compactMap { places[$0] == nil ? nil : numbers[$0] } }

    /// What is kept, in the order of the numbers.
    package var values: [Value] { places.compactMap { $0 } }

    /// What is kept for a connection; nil for nothing.
    package subscript(number: Int) -> Value? {
        _read {
            if let place = place(of: number) { yield places[place] } else { yield nil }
        }
        _modify {
            if let place = place(of: number) {
                let wasThere = places[place] != nil
                yield &places[place]
                settle(place, wasThere)
            } else {
                var value: Value?
                yield &value
                if let value { insert(value, number) }
            }
        }
    }

    /// What is kept for a connection, from the first access on the default.
    package subscript(
        number: Int, default value: @autoclosure () -> Value
    ) -> Value {
        get { self[number] ?? value() }
        _modify {
            var held: Value?
            let place = place(of: number)
            if let place { swap(&held, &places[place]) }
            let wasThere = held != nil
            var full = held.take() ?? value()
            yield &full
            if let place {
                places[place] = full
                if !wasThere { count += 1 }
            } else {
                insert(full, number)
            }
        }
    }

    /// Forgets a connection; gives what was kept for it.
    @discardableResult
    package mutating func removeValue(forKey number: Int) -> Value? {
        guard let place = place(of: number), let value = places[place].take() else { return nil }
        settle(place, true)
        return value
    }

    /// Where a number stands; nil where it does not.
    private func place(of number: Int) -> Int? {
        guard let last = numbers.last, number <= last else { return nil }
        if last == number { return numbers.count - 1 }
        let place = firstPlace(notBefore: number)
        return numbers[place] == number ? place : nil
    }

    /// The first place whose number is not less; behind the last one where there is none.
    private func firstPlace(notBefore number: Int) -> Int {
        var low = 0
        var high = numbers.count
        while low < high {
            let middle = low + (high - low) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func insert(_ value: Value, _ number: Int) {
        let place = firstPlace(notBefore: number)
        numbers.insert(number, at: place)
        places.insert(value, at: place)
        count += 1
    }

    /// Counts, and closes holes, behind a change of a place.
    private mutating func settle(_ place: Int, _ wasThere: Bool) {
        let isThere = places[place] != nil
        guard isThere != wasThere else { return }
        count += isThere ? 1 : -1
        guard !isThere else { return }
        while let last = places.last, last == nil {
            places.removeLast()
            numbers.removeLast()
        }
        guard count * 2 < places.count, places.count > 16 else { return }
        numbers = keys
        places.removeAll { $0 == nil }
    }
}

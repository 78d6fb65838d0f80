/// A number of bytes.
package struct ByteCount: Equatable, Sendable {
    package let bytes: Int64

    package init(bytes: Int64) {
        self.bytes = bytes
    }
}

private let sizeUnits: [(name: String, bytes: Int64)] = [
    ("B", 1), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
]

extension ArgumentValue where Value == ByteCount {
    /// A size with its unit: `4096B`, `64MiB`, `1.5GB`; up to 1,000 TiB.
    package static func size(_ placeholder: String = "SIZE") -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            try parseSize(text)
        }
    }
}

private func parseSize(_ text: String) throws(ValueError) -> ByteCount {
    let maximumTebibytes: Int64 = 1000
    guard let (number, unit) = splitUnit(text) else {
        throw ValueError("\(quoted(text)) is not a size; write one like 64MiB")
    }
    guard !unit.isEmpty else {
        throw ValueError("\(quoted(text)) has no unit; write \(text)MiB, \(text)KiB or \(text)B")
    }
    guard let scale = sizeUnits.first(where: { $0.name == unit })?.bytes else {
        let names = sizeUnits.map(\.name)
        let nearest = names.first { $0.lowercased() == unit.lowercased() }
        throw ValueError(
            "\(quoted(text)) has the unknown unit \(quoted(unit)); "
                + (nearest.map { "did you mean \"\($0)\"?" }
                    ?? "known are \(names.joined(separator: ", "))"))
    }
    guard let value = number.scaled(by: scale), value <= maximumTebibytes << 40 else {
        throw ValueError("\(quoted(text)) is too large; \(maximumTebibytes)TiB is the most")
    }
    return ByteCount(bytes: value)
}

/// The size of a file or the time that it spans, whichever a limit is given in.
package enum SizeOrTime: Equatable, Sendable {
    case size(ByteCount)
    case time(Duration)
}

extension ArgumentValue where Value == SizeOrTime {
    /// A size or a duration, told apart by the unit.
    package static func sizeOrTime(_ placeholder: String = "SIZE|TIME") -> ArgumentValue {
        ArgumentValue(placeholder) { (text) throws(ValueError) in
            guard let (_, unit) = splitUnit(text), !unit.isEmpty else {
                throw ValueError("\(quoted(text)) has no unit; write one like 64MiB or 10min")
            }
            // Each unit of size ends in B, and none of time does.
            return unit.hasSuffix("B") || unit.hasSuffix("b")
                ? .size(try ArgumentValue<ByteCount>.size().parse(text))
                : .time(try ArgumentValue<Duration>.duration().parse(text))
        }
    }
}

/// The field lines of a head or trailer section, read line by line (RFC 9112 §5).
///
/// Every line becomes a `FieldLine`: one without a colon is a name without a value, white
/// space before the colon stays in the name, a folded line is joined to the one before by a
/// space.
struct HTTPFieldSection: Sendable, HTTPSectionParser {
    private(set) var lines: [FieldLine] = []
    /// Whether the canonical encoding gives back the bytes so far.
    private(set) var isCanonical = true
    /// Bytes of the section before the current line, and before what has to be looked at.
    private var lineStart = 0
    private var scanned = 0

    /// A section that begins so many bytes into the whole.
    init(offset: Int = 0) {
        lineStart = offset
        scanned = offset
    }

    mutating func scan(_ bytes: Span<UInt8>, in range: Range<Int>) -> HTTPSectionScan {
        let base = range.lowerBound
        while let lineFeed = bytes.firstOffset(
            of: HTTPByte.lineFeed, in: (base + scanned)..<range.upperBound)
        {
            let start = base + lineStart
            lineStart = lineFeed + 1 - base
            scanned = lineStart
            let hasReturn = lineFeed > start && bytes[lineFeed - 1] == HTTPByte.carriageReturn
            let end = hasReturn ? lineFeed - 1 : lineFeed
            if !hasReturn { isCanonical = false }
            if start == end { return .complete(length: lineStart) }
            addLine(bytes, start..<end)
        }
        scanned = range.count
        return .more
    }

    mutating func take(_ bytes: Span<UInt8>, section: Range<Int>) -> HTTPTrailers {
        let result = HTTPTrailers(
            fieldLines: lines, raw: isCanonical ? nil : bytes.bytes(section))
        self = HTTPFieldSection()
        return result
    }

    private mutating func addLine(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        if HTTPByte.isWhiteSpace(bytes[line.lowerBound]), !lines.isEmpty {
            isCanonical = false
            let (more, _) = bytes.text(trimmed(bytes, line))
            if !more.isEmpty { lines[lines.count - 1].value += " " + more }
            return
        }
        if lines.isEmpty { lines.reserveCapacity(8) }
        guard let colon = bytes.firstOffset(of: HTTPByte.colon, in: line) else {
            isCanonical = false
            lines.append(FieldLine(bytes.text(line).text, ""))
            return
        }
        let valueRange = trimmed(bytes, (colon + 1)..<line.upperBound)
        let (name, nameIsExact) = bytes.text(line.lowerBound..<colon)
        let (value, valueIsExact) = bytes.text(valueRange)
        let hasOneSpace =
            valueRange.isEmpty
            ? line.upperBound == colon + 2 && bytes[colon + 1] == HTTPByte.space
            : valueRange == (colon + 2)..<line.upperBound && bytes[colon + 1] == HTTPByte.space
        if !(hasOneSpace && nameIsExact && valueIsExact) { isCanonical = false }
        lines.append(FieldLine(name, value))
    }

    private func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, HTTPByte.isWhiteSpace(bytes[start]) { start += 1 }
        while end > start, HTTPByte.isWhiteSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }
}

/// A trailer section as it crossed (RFC 9112 §7.1.2).
struct HTTPTrailers {
    var fieldLines: [FieldLine]
    /// The exact bytes where they are not canonical.
    var raw: Bytes?
}

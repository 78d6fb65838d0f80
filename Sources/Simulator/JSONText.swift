import Wire

/// JSON as the peers read and write it.
enum JSONText {
    /// Parses one whole JSON text, refusing half surrogate pairs.
    static func parse(_ bytes: Bytes) throws(FieldError) -> JSON {
        guard !hasLoneSurrogate(bytes) else { throw .loneSurrogate }
        do {
            return try JSON(parsing: bytes)
        } catch {
            throw .notJSON
        }
    }

    /// The text of a value, with `<`, `>` and `&` escaped (board-http-facts, "HTTP basics").
    static func encode(_ value: JSON) -> Bytes {
        var bytes = Bytes()
        value.encode(into: &bytes, style: .markupSafe)
        return bytes
    }

    /// Whether an escape stands for half of a surrogate pair.
    ///
    /// Right for valid JSON; on anything else the answer does not matter.
    private static func hasLoneSurrogate(_ bytes: Bytes) -> Bool {
        var position = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            guard let unit = escapedUnit(bytes, at: position) else {
                position += 2
                continue
            }
            position += 6
            switch unit {
            case 0xd800..<0xdc00:
                guard let low = escapedUnit(bytes, at: position), (0xdc00..<0xe000).contains(low)
                else { return true }
                position += 6
            case 0xdc00..<0xe000:
                return true
            default:
                break
            }
        }
        return false
    }

    /// The code unit of a `\uXXXX` at `position`.
    private static func escapedUnit(_ bytes: Bytes, at position: Int) -> UInt16? {
        guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[position + 2..<position + 6] {
            guard let digit = hexDigitValue(byte) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

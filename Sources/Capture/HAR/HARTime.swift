import Wire

/// The times of a HAR file: decimal seconds and milliseconds, and ISO 8601 (HAR 1.2).
///
/// All are exact to a nanosecond, which a binary fraction of today's seconds is not.
package enum HARTime {
    /// No time of a session is earlier than 1970 or later than this, 2116; sums do not overflow.
    static let latest: Int64 = 1 << 62
    /// The longest duration that is believed, a year.
    static let longest: Int64 = 366 * 86_400 * 1_000_000_000

    /// Nanoseconds since 1970 of a number of seconds; nil for what no session has.
    package static func instant(seconds text: String) -> Int64? {
        guard let value = scaled(text, decimals: 9), value > 0, value <= latest else { return nil }
        return value
    }

    /// Nanoseconds of a number of milliseconds; nil for -1, which stands for "not known".
    package static func duration(milliseconds text: String) -> Int64? {
        guard let value = scaled(text, decimals: 6), value >= 0 else { return nil }
        return min(value, longest)
    }

    /// Nanoseconds since 1970 of a date and time; one without an offset is taken as UTC.
    package static func instant(date text: String) -> Int64? {
        var bytes = Bytes(text.utf8)
        guard bytes.count >= 19, bytes.count <= 64 else { return nil }
        if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        let sign = bytes.count - 5
        let isSigned = [UInt8(ascii: "+"), UInt8(ascii: "-")]
        if isSigned.contains(bytes[sign]), sign >= 19 {
            // +0200, as some write it.
            bytes.insert(UInt8(ascii: ":"), at: sign + 3)
        } else if bytes[19...].allSatisfy({ $0 == UInt8(ascii: ".") || ($0 >= 0x30 && $0 <= 0x39) })
        {
            bytes.append(UInt8(ascii: "Z"))
        }
        guard let value = SessionTime.nanoseconds(parsing: String(decoding: bytes, as: UTF8.self)),
            value >= 0, value <= latest
        else { return nil }
        return value
    }

    /// Seconds since 1970 with nine decimals.
    package static func seconds(_ nanoseconds: Int64) -> String {
        decimal(nanoseconds, decimals: 9)
    }

    /// Milliseconds, with the decimals that they need.
    package static func milliseconds(_ nanoseconds: Int64) -> String {
        var text = decimal(nanoseconds, decimals: 6)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    private static func decimal(_ value: Int64, decimals: Int) -> String {
        let digits = String(value.magnitude)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (value < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }

    /// A JSON number times ten to the power of `decimals`; what is smaller is cut off.
    private static func scaled(_ text: String, decimals: Int) -> Int64? {
        if text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
            // Nobody writes times so, but it is a number.
            var value = Double(text) ?? .nan
            for _ in 0..<decimals { value *= 10 }
            return value.magnitude < 9e18 ? Int64(value) : nil
        }
        var value: Int64 = 0
        var left = decimals
        var isBehindPoint = false
        var isNegative = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isBehindPoint = true
            default:
                if isBehindPoint {
                    guard left > 0 else { continue }
                    left -= 1
                }
                let (tens, first) = value.multipliedReportingOverflow(by: 10)
                let (sum, second) = tens.addingReportingOverflow(Int64(byte & 0xf))
                guard !first, !second else { return nil }
                value = sum
            }
        }
        for _ in 0..<left {
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            value = tens
        }
        return isNegative ? -value : value
    }
}

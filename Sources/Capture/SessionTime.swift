/// Wall-clock times of a session's first line: RFC 3339 in UTC, with nanoseconds.
package enum SessionTime {
    /// Prints nanoseconds since 1970 as `2026-03-01T09:30:00.000000000Z`.
    ///
    /// Years beyond 9999 have no form; what is outside is moved to the nearest that has one.
    package static func text(nanoseconds: Int64) -> String {
        // Int64 ends in 2262, so only times before year 0 would be outside; it begins in 1677.
        let (seconds, fraction) = split(nanoseconds, by: 1_000_000_000)
        let (days, inDay) = split(seconds, by: 86_400)
        let date = civil(fromDays: days)
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
            + "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2))"
            + ".\(padded(fraction, 9))Z"
    }

    /// Parses RFC 3339 with any fraction and offset; nil for anything else, or outside of
    /// what 64 bits of nanoseconds hold.
    package static func nanoseconds(parsing text: String) -> Int64? {
        let bytes = [UInt8](text.utf8)
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] | 0x20 == UInt8(ascii: "t"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var position = 19
        var fraction: Int64 = 0
        if bytes[position] == UInt8(ascii: ".") {
            position += 1
            var scale: Int64 = 100_000_000
            let start = position
            while position < bytes.count, let digit = number(bytes[position..<position + 1]) {
                fraction += digit * scale
                scale /= 10
                position += 1
            }
            guard position > start else { return nil }
        }
        guard position < bytes.count, let offset = offset(bytes[position...]) else { return nil }
        let days = days(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        let (scaled, first) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, second2) = scaled.addingReportingOverflow(fraction)
        return first || second2 ? nil : sum
    }

    /// `Z` or `+hh:mm`, in seconds.
    private static func offset(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let start = bytes.startIndex
        if bytes.count == 1 { return bytes[start] | 0x20 == UInt8(ascii: "z") ? 0 : nil }
        guard bytes.count == 6, bytes[start + 3] == UInt8(ascii: ":"),
            let hours = number(bytes[start + 1..<start + 3]),
            let minutes = number(bytes[start + 4..<start + 6]), hours < 24, minutes < 60
        else { return nil }
        switch bytes[start] {
        case UInt8(ascii: "+"): return hours * 3600 + minutes * 60
        case UInt8(ascii: "-"): return -(hours * 3600 + minutes * 60)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func split(_ value: Int64, by unit: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: unit)
        return remainder < 0 ? (quotient - 1, remainder + unit) : (quotient, remainder)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // The Gregorian calendar in eras of 400 years that begin on the first of March, so that a
    // leap day is the last of its year.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = split(shifted, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = split(days + 719_468, by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * shifted + 2) / 5 + 1
        )
    }
}

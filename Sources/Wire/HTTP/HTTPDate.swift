/// The text of a time in the field Date (RFC 9110 §5.6.7, IMF-fixdate).
package enum HTTPDate {
    /// The text for a time in seconds since 1970, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Times outside the years 0 to 9999 give the first or last second that has a text.
    package static func format(secondsSince1970 seconds: Int64) -> String {
        let clamped = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let dayNumber = floorDivide(clamped, 86_400)
        let second = Int(clamped - dayNumber * 86_400)
        let (year, month, day) = civil(dayNumber)
        // 1970 began on a Thursday.
        let weekday = Int((dayNumber % 7 + 11) % 7)
        return "\(weekdays[weekday]), \(padded(day)) \(months[month - 1]) "
            + "\(padded(year / 100))\(padded(year % 100)) "
            + "\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60)) GMT"
    }

    /// The seconds since 1970 of such a text; nil for any other form, the obsolete ones included.
    ///
    /// Whether the day of the week is right is not looked at.
    package static func parse(_ text: String) -> Int64? {
        let parts = text.utf8.split(separator: HTTPByte.space, omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].count == 4, parts[0].last == HTTPByte.comma,
            parts[1].count == 2, parts[3].count == 4, parts[4].count == 8,
            parts[5].elementsEqual("GMT".utf8),
            let month = months.firstIndex(where: { $0.utf8.elementsEqual(parts[2]) })
        else { return nil }
        let day = Substring(parts[1])
        let time = Substring(parts[4])
        return Timestamp("\(Substring(parts[3]))-\(padded(month + 1))-\(day)T\(time)Z")?.seconds
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The date of a day counted from 1970.
    ///
    /// Years are counted from March, so that the leap day is their last one; 400 of them have
    /// 146,097 days.
    private static func civil(_ dayNumber: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = Int(shifted - era * 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

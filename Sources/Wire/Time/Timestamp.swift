/// An instant as RFC 3339 writes it, with nanoseconds (contract, "Time Format").
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64
    /// 0 to 999,999,999.
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The instant of a wall clock that counts nanoseconds since 1970.
    package init(wall: Int64) {
        seconds = wall / 1_000_000_000
        nanoseconds = wall % 1_000_000_000
        if nanoseconds < 0 {
            seconds -= 1
            nanoseconds += 1_000_000_000
        }
    }

    package static func < (a: Timestamp, b: Timestamp) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }

    /// Parses an RFC 3339 date-time; nil for anything else, a missing offset included.
    ///
    /// Lower case `t` and `z` are legal (RFC 3339 §5.6), and so is second 60, which is taken as
    /// the second after. Digits behind the ninth decimal are dropped.
    package init?(_ text: String) {
        var reader = Reader(bytes: Bytes(text.utf8))
        guard let year = reader.digits(4), reader.take("-"),
            let month = reader.digits(2), reader.take("-"),
            let day = reader.digits(2), reader.take("T") || reader.take("t"),
            let hour = reader.digits(2), reader.take(":"),
            let minute = reader.digits(2), reader.take(":"),
            let second = reader.digits(2), hour < 24, minute < 60, second <= 60,
            (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        var fraction: Int64 = 0
        if reader.take(".") {
            var unit: Int64 = 100_000_000
            guard let first = reader.digits(1) else { return nil }
            fraction = first * unit
            while let digit = reader.digits(1) {
                unit /= 10
                fraction += digit * unit
            }
        }
        var offset: Int64 = 0
        if !(reader.take("Z") || reader.take("z")) {
            let sign: Int64
            if reader.take("+") {
                sign = 1
            } else if reader.take("-") {
                sign = -1
            } else {
                return nil
            }
            guard let hours = reader.digits(2), reader.take(":"), let minutes = reader.digits(2),
                hours < 24, minutes < 60
            else { return nil }
            offset = sign * (hours * 3600 + minutes * 60)
        }
        guard reader.isAtEnd else { return nil }
        let dayNumber = Self.dayNumber(year: year, month: month, day: day)
        seconds = dayNumber * 86_400 + hour * 3600 + minute * 60 + second - offset
        nanoseconds = fraction
    }

    /// The text in UTC with whole seconds, such as `2026-06-10T03:20:05Z`.
    package var wholeSecondsText: String {
        let (year, month, day) = Self.date(dayNumber: seconds.floorDivided(by: 86_400))
        let rest = seconds - seconds.floorDivided(by: 86_400) * 86_400
        return "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))T"
            + "\((rest / 3600).padded(2)):\((rest / 60 % 60).padded(2)):\((rest % 60).padded(2))Z"
    }

    /// The text in UTC with nine decimals.
    package var nanosecondText: String {
        wholeSecondsText.dropLast() + "." + nanoseconds.padded(9) + "Z"
    }

    /// The text in UTC with as many decimals as the instant needs, up to nine.
    package var exactText: String {
        guard nanoseconds != 0 else { return wholeSecondsText }
        var digits = nanoseconds.padded(9)
        while digits.hasSuffix("0") { digits.removeLast() }
        return wholeSecondsText.dropLast() + "." + digits + "Z"
    }

    /// The date that is so many days after the one which a text begins with, such as
    /// `2026-06-10`; nil where none stands there, or the years 0000 to 9999 have no such day.
    package static func date(ofTextBeginning text: Bytes, movedBy days: Int64) -> Bytes? {
        var reader = Reader(bytes: text)
        guard let year = reader.digits(4), reader.take("-"),
            let month = reader.digits(2), reader.take("-"), let day = reader.digits(2),
            (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        let (moved, overflow) = dayNumber(year: year, month: month, day: day)
            .addingReportingOverflow(days)
        // The first and the last day of these years.
        guard !overflow, (-719_528...2_932_896).contains(moved) else { return nil }
        let date = date(dayNumber: moved)
        return Bytes(
            "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))".utf8)
    }

    /// Days from 1970-01-01 to a date of the Gregorian calendar.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        // Years begin in March here, so that the leap day is a year's last.
        let marchYear = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let leapDays =
            marchYear.floorDivided(by: 4) - marchYear.floorDivided(by: 100)
            + marchYear.floorDivided(by: 400)
        return marchYear * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
    }

    /// The date that is so many days after 1970-01-01.
    private static func date(dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Reads the fixed-width digits of a date.
private struct Reader {
    let bytes: Bytes
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else {
            return false
        }
        position += 1
        return true
    }

    /// The value of exactly `count` digits; consumes nothing when they are not there.
    mutating func digits(_ count: Int) -> Int64? {
        guard position + count <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + count] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        position += count
        return value
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor != 0 && (self < 0) != (divisor < 0) ? quotient - 1 : quotient
    }

    /// The number in decimal with zeros in front up to `width` digits.
    fileprivate func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

/// A whole number with commas between its thousands.
package func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var result = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
        result.append(digit)
    }
    return result
}

/// A count with its noun in the right number: `1 frame`, `2 frames`.
package func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil)
    -> String
{
    grouped(count) + " " + (count == 1 ? noun : plural ?? noun + "s")
}

/// A number of bytes, exact up to 10,000 and with three digits above.
package func byteCount(_ bytes: some BinaryInteger) -> String {
    guard bytes >= 10_000 else { return counted(bytes, "byte") }
    var value = Double(bytes)
    var unit = "B"
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        guard value >= 1000 else { break }
        value /= 1024
        unit = next
    }
    return decimal(value, decimals: value < 10 ? 2 : value < 100 ? 1 : 0) + " " + unit
}

/// A span of nanoseconds as people say it: `0.412 ms`, `222 ms`, `12.3 s`, `3 min 20 s`, `2 h 5 min`.
package func timeSpan(_ nanoseconds: Int64) -> String {
    let milliseconds = Double(nanoseconds) / 1e6
    switch milliseconds {
    case ..<10: return decimal(milliseconds, decimals: 3) + " ms"
    case ..<100: return decimal(milliseconds, decimals: 1) + " ms"
    case ..<1000: return decimal(milliseconds, decimals: 0) + " ms"
    case ..<10_000: return decimal(milliseconds / 1000, decimals: 2) + " s"
    case ..<120_000: return decimal(milliseconds / 1000, decimals: 1) + " s"
    default: break
    }
    let seconds = nanoseconds / 1_000_000_000
    return seconds < 7200
        ? "\(seconds / 60) min \(seconds % 60) s"
        : "\(grouped(seconds / 3600)) h \(seconds % 3600 / 60) min"
}

/// The nanoseconds between two times; the greatest or least number where they do not fit.
func span(from start: Int64, to end: Int64) -> Int64 {
    let (span, overflow) = end.subtractingReportingOverflow(start)
    return overflow ? (end < start ? .min : .max) : span
}

/// A time since the start of a session: `mm:ss.mmm`, with hours in front where there are any.
package func clockTime(_ nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds.magnitude / 1_000_000
    let seconds = milliseconds / 1000
    let minutes = seconds / 60
    let hours = minutes / 60
    let head = hours > 0 ? "\(hours):" : ""
    return (nanoseconds < 0 ? "-" : "") + head + padded(minutes % 60, 2) + ":"
        + padded(seconds % 60, 2) + "." + padded(milliseconds % 1000, 3)
}

/// A number with a fixed number of decimals, rounded to the nearest.
func decimal(_ value: Double, decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    // Beyond this a Double has no decimals left to show.
    guard scaled.isFinite, scaled < 9e15 else { return "\(value)" }
    let whole = UInt64(scaled)
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard decimals > 0 else { return sign + grouped(whole) }
    let unit = UInt64(scale)
    return sign + grouped(whole / unit) + "." + padded(whole % unit, decimals)
}

private func padded(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

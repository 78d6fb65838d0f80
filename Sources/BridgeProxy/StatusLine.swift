/// The line at the bottom of the recorder's terminal: how long, how much, what is wrong.
package struct StatusLine: Equatable, Sendable {
    /// Nanoseconds since the recording began.
    package var elapsed: Int64
    package var openConnections: Int
    /// Messages and requests in the last second.
    package var messagesPerSecond: Double
    /// Bytes in the last second, both directions.
    package var bytesPerSecond: Double
    /// Packets of an interface; nil where there are none to count.
    package var packets: UInt64?
    package var events: Int
    package var dropped: Int
    /// Why nothing is being written at the moment; nil when all is well.
    package var trouble: String?

    package init(
        elapsed: Int64, openConnections: Int, messagesPerSecond: Double, bytesPerSecond: Double,
        packets: UInt64? = nil, events: Int, dropped: Int, trouble: String?
    ) {
        self.elapsed = elapsed
        self.openConnections = openConnections
        self.messagesPerSecond = messagesPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.packets = packets
        self.events = events
        self.dropped = dropped
        self.trouble = trouble
    }

    /// The line, without an end; longer parts come last, so that a narrow terminal cuts those.
    package var text: String {
        var parts = [
            Self.clock(elapsed),
            "\(openConnections) connection\(openConnections == 1 ? "" : "s")",
            "\(Self.short(messagesPerSecond)) msg/s",
            "\(Self.bytesText(bytesPerSecond))/s",
        ]
        if let packets { parts.append("\(packets) packets") }
        parts.append("\(events) events")
        if dropped > 0 { parts.append("\(dropped) DROPPED") }
        if let trouble { parts.append("NOT RECORDING: \(trouble)") }
        return parts.joined(separator: "  ")
    }

    /// Hours, minutes and seconds, such as `0:03:07`.
    static func clock(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds) / 1_000_000_000
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    /// A rate with at most three digits before a unit letter, such as `12.4k`.
    static func short(_ number: Double) -> String {
        switch number {
        case ..<9.95: tenths(number)
        case ..<999.5: "\(Int(number.rounded()))"
        case ..<9_950: tenths(number / 1e3) + "k"
        case ..<999_500: "\(Int((number / 1e3).rounded()))k"
        default: tenths(number / 1e6) + "M"
        }
    }

    /// A number of bytes in units of 1,000, such as `4.2 kB`.
    package static func bytesText(_ number: Double) -> String {
        switch number {
        case ..<999.5: "\(Int(number.rounded())) B"
        case ..<999_500: tenths(number / 1e3) + " kB"
        case ..<999_500_000: tenths(number / 1e6) + " MB"
        default: tenths(number / 1e9) + " GB"
        }
    }

    private static func tenths(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

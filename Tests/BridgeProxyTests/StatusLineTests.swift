import BridgeProxy
import Testing

@Suite struct StatusLineTests {
    private func line(
        elapsed: Int64 = 0, open: Int = 0, messages: Double = 0, bytes: Double = 0,
        packets: UInt64? = nil, events: Int = 0, dropped: Int = 0, trouble: String? = nil
    ) -> String {
        StatusLine(
            elapsed: elapsed, openConnections: open, messagesPerSecond: messages,
            bytesPerSecond: bytes, packets: packets, events: events, dropped: dropped,
            trouble: trouble
        ).text
    }

    @Test func `a quiet line says how long, how many and how fast`() {
        #expect(
            line(elapsed: 3_723_400_000_000, open: 1, messages: 12.4, bytes: 4_210, events: 87)
                == "1:02:03  1 connection  12 msg/s  4.2 kB/s  87 events")
    }

    @Test func `a recording of packets says how many there were`() {
        #expect(line(packets: 1_204, events: 87).hasSuffix("0 B/s  1204 packets  87 events"))
    }

    @Test func `what is wrong stands at the end in capitals`() {
        let text = line(open: 2, dropped: 20, trouble: "no space left on device")
        #expect(text.hasSuffix("20 DROPPED  NOT RECORDING: no space left on device"))
    }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_400, "999.4 kB"),
        (999_600, "1.0 MB"), (12_340_000, "12.3 MB"), (7_000_000_000, "7.0 GB"),
    ])
    func `bytes are told in the unit that a person would choose`(_ count: Int, _ text: String) {
        #expect(StatusLine.bytesText(Double(count)) == text)
    }

    @Test(arguments: [
        (0.0, "0.0"), (9.94, "9.9"), (640, "640"), (1_240, "1.2k"), (640_000, "640k"),
        (2_500_000, "2.5M"),
    ])
    func `rates have at most three digits`(_ rate: Double, _ text: String) {
        #expect(line(messages: rate).contains("  \(text) msg/s"))
    }
}

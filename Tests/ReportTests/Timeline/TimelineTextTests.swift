import Capture
import Report
import Testing

@Suite struct TimelineTextTests {
    private let line = TimelineLine(
        isBroken: true, time: 61_001_000_000, conn: 3, direction: .from(.board),
        label: Styled("command", .strong), text: [Styled("#1 ", .strong), "微信 is opened  "],
        body: ["below"])

    @Test func `columns line up and lines end without spaces`() {
        #expect(
            TimelineText(isColoured: false, width: nil).text(line)
                == "! 01:01.001   3  ← board  command    #1 微信 is opened\n      below\n")
    }

    @Test(arguments: 0...60)
    func `a line never takes more columns than the terminal has`(width: Int) {
        let text = TimelineText(isColoured: false, width: width).text(line)
        for row in text.split(separator: "\n", omittingEmptySubsequences: false) {
            #expect(columns(String(row)) <= max(width, 0))
        }
    }

    @Test func `colours do not change the text`() {
        let coloured = TimelineText(isColoured: true, width: 40).text(line)
        let plain = TimelineText(isColoured: false, width: 40).text(line)
        #expect(coloured.contains("\u{1b}[31m! \u{1b}[0m"))
        #expect(coloured.replacing(#/\u{1b}\[[0-9]*m/#, with: "") == plain)
    }
}

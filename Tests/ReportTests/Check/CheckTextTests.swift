import GoldenFiles
import Report
import Testing

@Suite struct CheckTextTests {
    private func text(_ layout: CheckText) -> String {
        SampleResults.all.suites.map { layout.text($0, isOneOfSeveral: true) }.joined()
            + layout.total(SampleResults.all.suites)
    }

    @Test func `a report is as it was read last`() {
        let brief = text(CheckText(profile: "board-1.2", isColoured: false, showsAll: false))
        #expect(GoldenFile("check.txt").difference(from: brief) == nil)
        let full = text(CheckText(profile: "board-1.2", isColoured: false, showsAll: true))
        #expect(GoldenFile("check-all.txt").difference(from: full) == nil)
    }

    @Test func `nothing that came from the link reaches the terminal as it is`() {
        let layout = CheckText(profile: "board-1.2", isColoured: false, showsAll: true)
        for scalar in text(layout).unicodeScalars where scalar != "\n" {
            #expect(scalar.value >= 0x20 && scalar != "\u{202e}")
        }
    }

    @Test func `colours change no words`() {
        let coloured = text(CheckText(profile: "board-1.2", isColoured: true, showsAll: false))
        #expect(coloured.contains("\u{1b}[31m"))
        #expect(
            coloured.replacing(#/\u{1b}\[\d+m/#, with: "")
                == text(CheckText(profile: "board-1.2", isColoured: false, showsAll: false)))
    }

    @Test func `who watches sees a line each, and the sum at the end`() throws {
        let layout = CheckText(profile: "board-1.2", isColoured: false, showsAll: false)
        let item = SampleResults.broken.cases[0]
        let finding = try #require(item.findings.first)
        #expect(
            layout.line(finding, of: SampleResults.timeout)
                == "! result-within-timeout  00:12.522  seq 41, 57  calendar_create cal_000: "
                + "answered after 9.21 s; 5 s were due\n")
        let end = layout.text(SampleResults.broken, showsFindings: false)
        #expect(!end.contains("00:12.522"))
        #expect(end.contains("! result-within-timeout  app, 12 times\n"))
    }
}

import GoldenFiles
import Report
import Testing
import Wire

@Suite struct ResultLinesTests {
    @Test func `the lines of a suite are as they were read last`() {
        var bytes: Bytes = []
        let lines = ResultLines()
        for suite in SampleResults.all.suites {
            for item in suite.cases {
                for finding in item.findings {
                    guard let rule = item.rule else { continue }
                    bytes += lines.line(finding, of: rule, in: suite.name)
                }
            }
            bytes += lines.lines(suite)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(GoldenFile("sample.ndjson").difference(from: text) == nil)
        for line in text.split(separator: "\n") {
            #expect(throws: Never.self) { try JSON(parsing: String(line)) }
        }
    }
}

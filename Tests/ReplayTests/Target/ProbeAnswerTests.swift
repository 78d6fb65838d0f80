import Glibc
import Network
import Replay
import Testing
import Wire

/// What a probe prints, and what is read out of it.
@Suite struct ProbeAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var text: String
        var measure: ProcessMeasure?

        init(_ text: String, _ measure: ProcessMeasure?) {
            self.text = text
            self.measure = measure
        }

        var testDescription: String { text }
    }

    static let rows: [Row] = [
        Row(
            "pid=712 rss=48128 fds=23\n",
            ProcessMeasure(memory: 48128 << 10, handles: 23, pid: 712)),
        Row(
            "pid: 712\nrss: 47 MB\nfds: 23\n",
            ProcessMeasure(memory: 47 << 20, handles: 23, pid: 712)),
        Row(
            #"{"pid": 712, "rss": 48128, "fds": 23}"#,
            ProcessMeasure(memory: 48128 << 10, handles: 23, pid: 712)),
        Row("PID 7 RSS 1000kB", ProcessMeasure(memory: 1_024_000, pid: 7)),
        Row("rss=4096B", ProcessMeasure(memory: 4096)),
        Row("the board says fds=9", ProcessMeasure(handles: 9)),
        Row("pid=99999999999 fds=1", ProcessMeasure(handles: 1)),
        Row("rss=9223372036854775807 MB", nil), Row("rss=-", nil),
        Row("no such process", nil),
        Row("pid=none", nil),
        Row("", nil),
    ]

    @Test(arguments: rows) func `three figures are read, and nothing is made up`(_ row: Row) {
        #expect(ProbeAnswer.read(Bytes(row.text.utf8)) == row.measure)
    }

    @Test func `a group is measured with all its members`() throws {
        // This process's own group has at least this process in it.
        let measure = try #require(ProcessMeasure.ofGroup(getpgid(0)))
        #expect(measure.memory ?? 0 > 1 << 20)
        #expect(measure.handles ?? 0 > 2)
        #expect(ProcessMeasure.ofGroup(.max) == nil)
    }
}

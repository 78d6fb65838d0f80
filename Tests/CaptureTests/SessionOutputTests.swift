import Capture
import Testing

@Suite struct SessionOutputTests {
    @Test(arguments: [
        ("lab.ndjson", "lab-0001.ndjson", SessionCompression.none),
        ("a/lab.ndjson.gz", "a/lab-0001.ndjson.gz", .gzip),
        ("lab.ndjson.zst", "lab-0001.ndjson.zst", .zstd),
        ("lab.pcap", "lab-0001.pcap", .none),
        ("lab", "lab-0001", .none),
    ])
    func `a file's name gives its packing and the names of its parts`(
        _ row: (path: String, first: String, compression: SessionCompression)
    ) {
        #expect(Rotation.path(row.path, part: 1) == row.first)
        #expect(SessionCompression(path: row.path) == row.compression)
    }

    @Test func `parts beyond 9999 have more digits`() {
        #expect(Rotation.path("lab.ndjson", part: 12_345) == "lab-12345.ndjson")
    }

    @Test func `an output is complete until something is dropped or paused`() {
        var status = OutputStatus()
        #expect(status.isComplete)
        status.dropped = 1
        #expect(!status.isComplete)
        status.dropped = 0
        status.pausedBy = OutputError(errno: 28, call: "write", path: "lab.ndjson")
        #expect(!status.isComplete)
        #expect(status.pausedBy?.name == "ENOSPC")
        #expect(OutputError(errno: 9999, call: "write", path: "").name == "error 9999")
    }
}

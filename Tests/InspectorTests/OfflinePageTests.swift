import Capture
import Foundation
import Inspector
import Report
import Testing
import Wire

@Suite struct OfflinePageTests {
    private func page(_ sessions: [(name: String, log: SessionLog)]) throws -> String {
        var bytes = Bytes()
        try OfflinePage(sessions).write { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func blocks(_ page: String, _ kind: String) throws -> Bytes {
        var bytes = Bytes()
        for match in page.matches(of: /<script type="text\/plain" class="([a-z]+)"[^>]*>([^<]*)</)
        where match.output.1 == kind {
            var packed = Bytes()
            try decodeBase64(Bytes(match.output.2.utf8).span, into: &packed)
            // An empty last block ends the stream.
            #expect(packed.suffix(6) == [0x00, 0x00, 0xff, 0xff, 0x03, 0x00])
            let inflater = try #require(Inflater())
            var position = 0
            let outcome = inflater.inflate(
                packed.span, at: &position, into: &bytes, limit: 64 << 20)
            #expect(outcome == .inputUsed && position == packed.count)
        }
        return bytes
    }

    @Test func `the file holds all records and all events`() throws {
        let session = try FedSession.example("errors")
        let page = try page([("errors.ndjson", session.feed.log)])
        #expect(try blocks(page, "log") == session.feed.log.records(from: 0, maximum: 64 << 20))
        #expect(
            try blocks(page, "events").split(separator: 0x0a).map { Bytes($0) } == session.lines)
        // The script runs before the file is there to its end.
        let script = try #require(page.range(of: "<script>"))
        let events = try #require(page.range(of: "class=\"events\""))
        #expect(script.lowerBound < events.lowerBound)
    }

    @Test func `no name of a file ends a script or begins markup`() throws {
        let name = "</script><script>taken()</script><!--.ndjson"
        let session = try FedSession.example("times")
        let page = try page([(name, session.feed.log)])
        #expect(!page.contains(name))
        // The frame's own, that of the data, and one for each block.
        let blocks = page.matches(of: /<script type="text\/plain"/).count
        #expect(page.matches(of: /<script/).count == blocks + 2)
        #expect(page.contains("\\u003c/script\\u003e"))
    }

    @Test func `the page may load nothing, and from a server only speak to it`() throws {
        let page = String(
            decoding: InspectorPage(sessions: ["a"], isLive: true).whole, as: UTF8.self)
        #expect(page.contains("default-src 'none'; connect-src 'self'; script-src 'sha256-"))
        let script = try #require(page.firstMatch(of: /<script>((?s).*?)<\/script>/)?.output.1)
        #expect(page.contains("'\(PagePolicy.source(String(script)))'"))
        let style = try #require(page.firstMatch(of: /<style>((?s).*?)<\/style>/)?.output.1)
        #expect(page.contains("'\(PagePolicy.source(String(style)))'"))
        let offline = try self.page([("a", try FedSession.example("times").feed.log)])
        #expect(!offline.contains("connect-src"))
        #expect(offline.contains("\"live\":false,") && offline.contains("\"sessions\":[\"a\"]"))
    }
}

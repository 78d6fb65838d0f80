import Capture
import Report
package import Wire

/// One file with whole sessions and the page to look at them, which opens from a disk, without a
/// server or a network.
///
/// Data is packed (RFC 1951) and in Base64, in blocks that the page unpacks when it wants them: what
/// it begins with stands before the script, the session's own lines behind it.
package struct OfflinePage {
    private let logs: [SessionLog]
    private let page: InspectorPage
    private let comparisons: [Comparison]

    /// The page that has two of the sessions side by side, part by part.
    package struct Comparison {
        var first: Int
        var second: Int
        var page: ((Bytes) throws -> Void) throws -> Void

        /// - Parameters:
        ///   - first: the number of a session among those of the page.
        ///   - page: gives a `ComparisonPage`.
        package init(
            first: Int, second: Int, page: @escaping ((Bytes) throws -> Void) throws -> Void
        ) {
            self.first = first
            self.second = second
            self.page = page
        }
    }

    /// Takes logs that are finished, with what their sessions are called.
    package init(
        _ sessions: [(name: String, log: SessionLog)], tab: InspectorPage.Tab = .event,
        comparisons: [Comparison] = []
    ) {
        logs = sessions.map(\.log)
        page = InspectorPage(
            sessions: sessions.map(\.name), isLive: false, tab: tab,
            comparisons: comparisons.map { ($0.first, $0.second) })
        self.comparisons = comparisons
    }

    /// Bytes of records in a block: the first one is on the screen before the second is unpacked.
    private static let blockSize = 512 << 10

    /// Writes the file, a block at a time.
    package func write(to output: (Bytes) throws -> Void) throws {
        try output(page.head)
        for (number, log) in logs.enumerated() {
            var offset: UInt64 = 0
            while true {
                let records = try log.records(from: offset, maximum: Self.blockSize)
                guard !records.isEmpty else { break }
                offset += UInt64(records.count)
                try output(
                    Self.element("class=\"log\" data-session=\"\(number)\"", packing: records))
            }
        }
        try output(page.scriptElement)
        for (number, log) in logs.enumerated() {
            for index in log.blocks.indices {
                guard let lines = try log.lines(ofBlock: index) else { continue }
                try output(
                    Self.element(
                        "class=\"events\" data-session=\"\(number)\" data-index=\"\(index)\"",
                        packing: lines))
            }
        }
        for comparison in comparisons {
            try InsidePage.write(
                id: "compare-\(comparison.first)-\(comparison.second)", page: comparison.page,
                to: output)
        }
        try output(page.tail)
    }

    private static func element(_ attributes: String, packing bytes: Bytes) -> Bytes {
        Bytes("<script type=\"text/plain\" \(attributes)>".utf8) + InsidePage.packed(bytes)
            + Bytes("</script>\n".utf8)
    }
}

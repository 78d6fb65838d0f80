import BridgeProxy
import GoldenFiles
import Simulator
import Testing
import Wire

/// Which example session reaches which planted defect: recorded once more with the defect in its
/// peer, the session is another one.
@Suite struct DefectReachTests {
    /// An event without what differs from one recording to the next.
    private struct Line: Hashable {
        var text: String
        /// Nanoseconds.
        var time: Int64
        /// A few words for the table.
        var words: String

        static func == (left: Line, right: Line) -> Bool { left.text == right.text }
        func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    /// Fields of events that say when, on which connection, or with which chance.
    private static let passing: Set<String> = [
        "seq", "t", "t_first", "conn", "exchange", "mask", "to", "bridge", "app", "board", "via",
    ]
    private static let passingHeaders: Set<String> = [
        "date", "content-length", "sec-websocket-key", "sec-websocket-accept",
    ]

    private func record(_ example: ExampleSession) throws -> Bytes {
        try Rehearsal.record(example, tool: "test").session
    }

    private func lines(_ session: Bytes) throws -> [Line] {
        try session.split(separator: UInt8(ascii: "\n")).compactMap { bytes in
            let event = try JSON(parsing: Bytes(bytes))
            let kind = event["event"]?.stringValue ?? ""
            guard kind != "session", kind != "end" else { return nil }
            let kept = (event.members ?? []).filter { !Self.passing.contains($0.name) }
                .map { JSON.Member($0.name, withoutTimes($0.name, $0.value)) }
            let side = event["from"]?.stringValue ?? ""
            let status = event["status"]?.numberText.map { " " + $0 } ?? ""
            let what = event["bridge"]?[0]?["kind"]?.stringValue ?? kind
            return Line(
                text: JSON.object(kept).description, time: event["t"]?.integerValue ?? 0,
                words: [side, what + status].filter { !$0.isEmpty }.joined(separator: " "))
        }
    }

    private func withoutTimes(_ name: String, _ value: JSON) -> JSON {
        if name == "headers", let fields = value.elements {
            return .array(
                fields.filter { field in
                    !Self.passingHeaders.contains(field[0]?.stringValue?.lowercased() ?? "")
                })
        }
        guard let text = value.stringValue else { return value }
        return .string(Self.withoutTimes(text))
    }

    /// The text without the times of the session's own hour.
    private static func withoutTimes(_ text: String) -> String {
        let present = "2026-01-01T00:"
        var result = ""
        var rest = Substring(text)
        while let range = rest.firstRange(of: present) {
            result += rest[..<range.lowerBound] + "<now>"
            rest = rest[range.upperBound...].drop { "0123456789:.Z".contains($0) }
        }
        return result + rest
    }

    /// The first event that only one of two recordings has; nil where there is none.
    private func difference(_ clean: [Line], _ planted: [Line]) -> Line? {
        func surplus(_ lines: [Line], over others: [Line]) -> Line? {
            var counts: [Line: Int] = [:]
            for line in others { counts[line, default: 0] += 1 }
            for line in lines {
                counts[line, default: 0] -= 1
                if counts[line, default: 0] < 0 { return line }
            }
            return nil
        }
        return [surplus(planted, over: clean), surplus(clean, over: planted)]
            .compactMap(\.self).min { $0.time < $1.time }
    }

    @Test func `the table of defects and the sessions that reach them is what it was`() throws {
        let clean = try ExampleSession.all.map { example in
            let session = try record(example)
            return (example: example, session: session, lines: try lines(session))
        }
        var table = ""
        var reached: Set<Defect> = []
        for defect in Defect.allCases {
            table += "\(defect.rawValue)\t\(defect.summary)\n"
            for (example, session, lines) in clean {
                var planted = example
                switch defect.side {
                case .app: planted.app.defects = [defect]
                case .board: planted.board.defects = [defect]
                }
                let other = try record(planted)
                // Most are the same to the last byte.
                guard other != session, let found = difference(lines, try self.lines(other))
                else { continue }
                reached.insert(defect)
                let tenths = found.time / 100_000_000
                table += "\t\(example.name)\t\(tenths / 10).\(tenths % 10) s\t\(found.words)\n"
            }
        }
        #expect(GoldenFile("defects-and-sessions.txt").difference(from: table) == nil)
        #expect(Set(Defect.allCases).subtracting(reached) == [])
    }
}

import Capture
import Foundation
import Inspector
import PhoneBridge
import Testing
import Wire

/// A session that went into a page's log, and what the log says.
struct FedSession {
    var feed = SessionFeed(
        name: "lab.ndjson", replay: "bridgetap replay lab.ndjson")

    static let captures = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "captures")

    /// The names of the example sessions.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: captures.path)) ?? []
        return files.filter { $0.hasSuffix(".ndjson") }.map { String($0.dropLast(7)) }.sorted()
    }()

    /// The events of an example session.
    static func events(of name: String) throws -> [Event] {
        let path = captures.appending(path: "\(name).ndjson").path
        var reader = try SessionReader(SessionFileSource(path: path))
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    /// An example session, whole.
    static func example(_ name: String) throws -> FedSession {
        var session = FedSession()
        for event in try events(of: name) { try session.feed.receive(event) }
        try session.feed.finish()
        return session
    }

    var records: [JSON] {
        get throws {
            let bytes = try feed.log.records(from: 0, maximum: .max / 2)
            return try bytes.split(separator: 0x0a).map { try JSON(parsing: Bytes($0)) }
        }
    }

    func records(_ kind: String) throws -> [JSON] {
        try records.filter { $0[0]?.stringValue == kind }
    }

    /// All lines of its blocks.
    var lines: [Bytes] {
        get throws {
            var lines: [Bytes] = []
            for number in 0...feed.log.blocks.count {
                let block = try #require(try feed.log.lines(ofBlock: number))
                lines += block.split(separator: 0x0a).map { Bytes($0) }
            }
            return lines
        }
    }

    /// The text of a row.
    static func text(_ row: JSON) -> String {
        let runs = row[9]?.elements ?? []
        return runs.indices.filter { $0 % 2 == 1 }.compactMap { runs[$0].stringValue }.joined()
    }
}

import Capture
import Foundation
import PhoneBridge
import Testing

/// Sessions that really crossed, held against all rules.
///
/// Each breach that is listed here was looked at and is one: the clients of the captures are test
/// programs, and the board is not without faults.
@Suite struct RecordedSessionsTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sessions(_ folder: String) -> [String] {
        let path = root.appending(path: folder).path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { !$0.hasSuffix(".json") && !$0.hasSuffix(".md") }.sorted()
            .map { folder + "/" + $0 }
    }

    static let own = sessions("captures")
    static let board = sessions("../shared/captures")

    /// What is broken for sure in a capture of the real board.
    private static let sure: [String: [String]] = [
        // Five requests with a method that the route does not have.
        "http-queue-errors.pcap": Array(repeating: "http-missing-allow board", count: 5)
    ]

    /// What is likely broken: clients that begin with another message than the environment, a
    /// board that takes the result of a command which it has not handed out.
    private static let likely: [String: [String]] = [
        "fragmented-messages.pcap": ["environment-first app"],
        "http-queue-errors.pcap": ["queue-result-handed-out board"],
        "message-size-limit.pcap": Array(repeating: "environment-first app", count: 3),
        "ping-pong-and-binary.pcap": ["environment-first app"],
        "timeouts-late-and-duplicate-answers.pcap": ["environment-first app"],
    ]

    private func breaches(_ file: String, _ profile: Profile) throws -> [Breach] {
        let path = Self.root.appending(path: file).path
        var reader = SessionReader(try SessionFileSource(path: path))
        var checker = RuleChecker(profile: profile)
        var breaches: [Breach] = []
        while let item = try reader.next() {
            if case .event(let event) = item { breaches += checker.receive(event) }
        }
        return breaches + checker.finish()
    }

    /// Those of the groups about the link, the queue, HTTP and WebSocket.
    private func names(_ breaches: [Breach], _ rating: Rule.Rating) -> [String] {
        breaches.filter { $0.rule.rating == rating }.map { "\($0.rule.id) \($0.side)" }
    }

    @Test(arguments: own)
    func `a session of the reference peers breaks nothing`(_ file: String) throws {
        for profile in Profile.builtIn {
            let found = try breaches(file, profile)
            #expect(found.map { "\($0.rule.id): \($0.text)" } == [])
        }
    }

    @Test(arguments: board)
    func `a capture of the board breaks what a careful reader finds, and no more`(
        _ file: String
    ) throws {
        let name = String(file.split(separator: "/").last ?? "")
        let found = try breaches(file, .contract)
        #expect(names(found, .sure) == Self.sure[name] ?? [])
        #expect(names(found, .likely) == Self.likely[name] ?? [])
        // For the board that is known for it, nothing counts.
        #expect(try breaches(file, .board12).filter { Profile.board12.counts($0) } == [])
    }

    @Test func `the sessions are there`() {
        #expect(Self.own.count >= 6 && Self.board.count >= 18)
    }
}

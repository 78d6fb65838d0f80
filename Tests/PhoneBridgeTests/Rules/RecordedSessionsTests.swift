import Capture
import Foundation
import PhoneBridge
import Testing

/// Sessions that were recorded, held against every rule.
@Suite struct RecordedSessionsTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sessions(_ folder: String) -> [String] {
        let path = root.appending(path: folder).path()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { !$0.hasSuffix(".json") && !$0.hasSuffix(".md") }.sorted()
            .map { folder + "/" + $0 }
    }

    /// Paths of the example sessions, and of the captures of the real board.
    static let own = sessions("captures")
    static let board = sessions("../shared/captures")

    private static func name(_ file: String) -> String {
        String(file.split(separator: "/").last ?? "")
    }

    static func check(
        _ file: String, profile: Profile = .contract
    ) throws -> (breaches: [Breach], exercised: [String: Int]) {
        var reader = SessionReader(try SessionFileSource(path: root.appending(path: file).path()))
        var checker = RuleChecker(profile: profile)
        var breaches: [Breach] = []
        while let item = try reader.next() {
            switch item {
            case .event(let event): breaches += checker.receive(event)
            case .remark: breaches += checker.lost()
            }
        }
        return (breaches + checker.finish(), checker.exercised)
    }

    private static func told(_ breaches: [Breach]) -> [String] {
        breaches.map { "\($0.rule.rating.rawValue) \($0.rule.id) \($0.events)" }
    }

    // MARK: - The reference peers

    /// What is broken in the example sessions, on purpose.
    private static let inExamples: [String: [String]] = [
        // How the app answers commands that no board may send, and a prompt that is answered too
        // late.
        "errors.ndjson": [
            // The URL is a file's.
            "S command-url-scheme [12]",
            // The event has a title and no times.
            "S payload-required [21]",
            "L command-type-known [32]",
            "L result-in-time [31, 40]",
        ],
        "late-answer.ndjson": ["L result-in-time [9, 12]"],
        // Two prompts that are answered too late.
        "prompts.ndjson": ["L result-in-time [10, 16]", "L result-in-time [9, 18]"],
        // A time without its offset.
        "times.ndjson": ["S time-format [15]"],
        // A tool that breaks off in the middle of a body.
        "cut-request.ndjson": ["W http-incomplete [10]"],
        // A phone that posts a result twice, and one that nobody asked for.
        "queue-limit.ndjson": ["L result-once [25]", "S result-id-known [43]"],
        // Two answers that nobody asked for, and a system's name that is a number.
        "odd-phone.ndjson": [
            "S result-id-known [15]", "S result-id-known [16]", "L event-data-types [26]",
        ],
    ]

    @Test(arguments: own)
    func `an example session breaks no rule that it does not mean to break`(
        _ file: String
    ) throws {
        let (breaches, exercised) = try Self.check(file)
        #expect(
            Self.told(breaches) == Self.inExamples[Self.name(file)] ?? [],
            "\(breaches.map(\.text))")
        #expect(exercised.count > 20)
    }

    // MARK: - The real board

    /// What is broken in the captures of the real board, and why it is right to say so.
    private static let inCaptures: [String: [String]] = [
        // Clients that begin with another message than the environment.
        "fragmented-messages.pcap": ["L environment-first [3, 7]"],
        "message-size-limit.pcap": [
            "L environment-first [3, 4]", "L environment-first [12, 13]",
            "L environment-first [19, 21]",
        ],
        // The client posts what it should not, to see the board's errors: results to a command
        // that was never sent, to one that still waits in the queue, an empty id, and an error
        // that is text. The board takes the result of a command that still waits, and names no
        // methods with a 405.
        "http-queue-errors.pcap": [
            "L result-id-known [6]", "L result-id-known [8]",
            "L queue-result-handed-out [8, 9]", "L result-id-known [10]",
            "L result-id [26]", "S result-error-structure [28]", "L result-id-known [28]",
            "S http-missing-allow [35]", "S http-missing-allow [37]",
            "S http-missing-allow [39]", "S http-missing-allow [41]", "S http-missing-allow [49]",
        ],
        // The client sends binary bytes, nothing, words, an array, and an id that is a number.
        "ping-pong-and-binary.pcap": [
            "L environment-first [3, 11]",
            "L message-object [13]", "L message-object [14]", "L message-object [15]",
            "L message-object [16]", "S result-id [17]",
        ],
        // The client answers twice, late, and a command that nobody sent.
        "timeouts-late-and-duplicate-answers.pcap": [
            "L environment-first [3, 7]",
            "L result-once [8]", "L result-in-time [4, 9]", "L result-once [10]",
            "L result-id-known [11]",
        ],
    ]

    @Test(arguments: board)
    func `a capture of the board breaks what a careful reader finds, and no more`(
        _ file: String
    ) throws {
        let (breaches, exercised) = try Self.check(file)
        #expect(
            Self.told(breaches) == Self.inCaptures[Self.name(file)] ?? [],
            "\(breaches.map(\.text))")
        #expect(!exercised.isEmpty)
        // The profile of that board lists what it is known for; its clients' faults count.
        let counted = try Self.check(file, profile: .board12).breaches
            .filter(Profile.board12.counts)
        #expect(counted.allSatisfy { $0.side == .app }, "\(counted.map(\.text))")
    }

    @Test func `the sessions are there`() {
        #expect(Self.own.count >= 6 && Self.board.count >= 18)
    }
}

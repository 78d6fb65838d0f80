import Foundation
import GoldenFiles
import Testing

@Suite struct CapturesTests {
    @Test(arguments: [
        "all-commands", "errors", "reconnect", "compressed-android", "fragmented", "same-id",
        "same-content", "two-at-once", "late-answer", "times", "pip-queue", "fgs-queue",
        "ble-queue", "queue-ids", "queue-limit", "redelivery", "cut-request", "odd-phone",
        "replaced", "late-words", "odd-board", "prompts", "slow-commands",
        "silence",
    ])
    func `every example session is shown as it was read last`(name: String) throws {
        let outcome = try BuiltProgram.run(["show", "captures/\(name).ndjson"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        #expect(GoldenFile("captures-\(name).txt").difference(from: outcome.output) == nil)
    }
}

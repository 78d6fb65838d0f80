import Foundation
import GoldenFiles
import Testing

@Suite struct CapturesTests {
    @Test(arguments: [
        "all-commands", "errors", "reconnect", "pip-queue", "fgs-queue", "compressed-android",
    ])
    func `every example session is shown as it was read last`(name: String) throws {
        let outcome = try BuiltProgram.run(["show", "captures/\(name).ndjson"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        #expect(GoldenFile("captures-\(name).txt").difference(from: outcome.output) == nil)
    }
}

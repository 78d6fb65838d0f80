import Foundation
import GoldenFiles
import Testing

/// The queries of docs/analysis.md over `captures/`, and what the page says comes out of them.
@Suite struct AnalysisTests {
    private static let page = BuiltProgram.root.appending(path: "docs/analysis.md")

    /// The page with what comes out now; with `spark` its Python is run as well.
    private static func page(withSpark spark: Bool) throws -> String {
        let folder = try TestFolder()
        let outcome = try BuiltProgram.run(
            [
                "-B", BuiltProgram.root.appending(path: "Tests/Peers/analysis_page.py").path,
                page.path, BuiltProgram.root.appending(path: "captures").path, folder.path,
            ] + (spark ? ["--spark"] : []),
            program: BuiltProgram.root.appending(path: ".venv/bin/python"))
        guard outcome.exitCode == 0 else { throw Trouble(outcome.errors) }
        return outcome.output
    }

    @Test func `each query gives what the page shows`() throws {
        // `make spark` puts the library there and sets this.
        let hasSpark = ProcessInfo.processInfo.environment["BRIDGETAP_SPARK"] == "1"
        let now = try Self.page(withSpark: hasSpark)
        #expect(GoldenFile(path: Self.page.path).difference(from: now) == nil)
    }
}

import Foundation
import Testing

@Suite struct ReadmeTests {
    private let readme = SourceTree.package.text("README.md") ?? ""
    private let makefile = SourceTree.package.text("Makefile") ?? ""

    @Test func `the table of modules lists the folders of the sources`() {
        let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let listed = rows.flatMap { row in
            (row.split(separator: "|").first ?? "").split(separator: "`").enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        #expect(Set(listed) == Set(SourceTree.package.folders("Sources")))
    }

    @Test func `every make target that a page names exists`() {
        for page in ["README.md", "CONTRIBUTING.md"] {
            let text = SourceTree.package.text(page) ?? ""
            #expect(!text.isEmpty, "\(page) is missing")
            for match in text.matches(of: #/make ([a-z-]+)`/#) {
                let target = match.output.1
                #expect(makefile.contains("\n\(target):"), "\(page): make \(target)")
            }
        }
    }

    @Test func `every link into the repository leads somewhere`() {
        for page in ["README.md", "CONTRIBUTING.md"] {
            let text = SourceTree.package.text(page) ?? ""
            for match in text.matches(of: #/\]\(([^)#:]+)\)/#) {
                let url = SourceTree.package.root.appendingPathComponent(String(match.output.1))
                #expect(
                    FileManager.default.fileExists(atPath: url.path), "\(page): \(match.output.1)")
            }
        }
    }
}

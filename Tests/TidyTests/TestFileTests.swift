import Foundation
import Testing

@Suite struct TestFileTests {
    /// What a file offers to other modules: its types, and its free functions.
    private func offers(_ file: SourceTree.File) -> [String] {
        file.codeLines.compactMap { line in
            let words = line.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            guard words.first == "package",
                let kind = words.firstIndex(where: {
                    ["class", "struct", "enum", "protocol", "func"].contains($0)
                }), kind <= 2, kind + 1 < words.count, line.text.hasPrefix("package")
            else { return nil }
            return String(words[kind + 1])
        }
    }

    @Test func `nothing that a module offers goes without a test`() {
        let tests = SourceTree.package.swiftFiles("Tests")
        let words = Set(
            tests.flatMap { file in
                file.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            })
        // `bridgetap` parses, wires and prints: EndToEnd runs it.
        for file in SourceTree.package.swiftFiles("Sources") where file.module != "bridgetap" {
            let names = offers(file)
            guard !names.isEmpty else { continue }
            #expect(
                names.contains { words.contains($0) },
                "no test mentions \(names.joined(separator: ", ")) of \(file.path)")
        }
    }
}

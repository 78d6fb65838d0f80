import Foundation
import Testing

@Suite struct LeftoverTests {
    private let sources = SourceTree.package.swiftFiles("Sources")
    private let tests = SourceTree.package.swiftFiles("Tests")

    @Test func `no trap stands where input could reach it`() {
        let banned = [
            "try!", "fatalError", "as!", "unsafelyUnwrapped",
            "assertionFailure", "unowned(unsafe)",
        ]
        for file in sources {
            for line in file.codeLines {
                for word in banned where line.text.contains(word) {
                    Issue.record("\(file.path):\(line.number) has \(word)")
                }
            }
        }
    }

    @Test func `nothing is left to do`() {
        // Put together, so that this file does not find itself.
        let banned = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK"]
        for file in sources + tests {
            for (index, line) in file.text.split(separator: "\n").enumerated() {
                for word in banned where line.contains(word) {
                    Issue.record("\(file.path):\(index + 1) has \(word)")
                }
            }
        }
    }

    @Test func `tests do not sleep`() {
        for file in tests where !file.path.hasPrefix("Tests/TidyTests/") {
            for line in file.codeLines
            where line.text.contains("Task.sleep") || line.text.contains("usleep(") {
                Issue.record("\(file.path):\(line.number) sleeps")
            }
        }
    }

    @Test func `a file is one idea and can be read at once`() {
        let maximumLines = 600
        // What is made of other files is read there.
        for file in sources + tests where file.name != "WebFiles" {
            let count = file.text.split(separator: "\n", omittingEmptySubsequences: false).count
            #expect(count <= maximumLines, "\(file.path) has \(count) lines")
        }
    }
}

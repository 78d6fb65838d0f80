import Foundation
import Testing

/// Files without a test file of their own, and why.
///
/// `bridgetap` has none at all: it parses, wires and prints, and EndToEnd runs it.
private let exceptions: Set<String> = []

@Suite struct TestFileTests {
    @Test func `every source file has its test file`() {
        let names = Set(SourceTree.package.swiftFiles("Tests").map(\.name))
        for file in SourceTree.package.swiftFiles("Sources") where file.module != "bridgetap" {
            let isCovered =
                names.contains(file.name + "Tests") || exceptions.contains(file.path)
                // `Timeline+HTTP` is a part of what `TimelineTests` tests.
                || file.name.split(separator: "+").first.map { names.contains($0 + "Tests") }
                    == true
            #expect(isCovered, "\(file.path) has no \(file.name)Tests.swift")
        }
    }

    @Test func `an exception is needed`() {
        let names = Set(SourceTree.package.swiftFiles("Tests").map(\.name))
        let sources = SourceTree.package.swiftFiles("Sources")
        for path in exceptions {
            guard let file = sources.first(where: { $0.path == path }) else {
                Issue.record("\(path) is excepted and does not exist")
                continue
            }
            #expect(!names.contains(file.name + "Tests"), "\(path) is excepted and has a test")
        }
    }
}

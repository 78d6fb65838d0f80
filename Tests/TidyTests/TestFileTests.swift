import Foundation
import Testing

/// Files whose names no test mentions, and the tests that see what they do through another face.
private let seenThrough: [String: String] = [
    "Sources/BridgeProxy/Proxy.swift": "ProxyTests",
    "Sources/BridgeProxy/RecordingRemark.swift": "ProxyTests",
    "Sources/BridgeProxy/RecordingSource.swift": "SnifferTests",
    "Sources/BridgeProxy/Recorder.swift": "RehearsalTests",
    "Sources/Capture/Input/SessionFileReader.swift": "SessionReaderTests",
    "Sources/Capture/Packets/PacketSessionReader.swift": "PacketSessionReaderTests",
    "Sources/Network/AppendFile.swift": "EventLoopTests",
    "Sources/Network/Mailbox.swift": "EventLoopTests",
    "Sources/Network/Simulated/SimulatedDisk.swift": "EventLoopTests",
    "Sources/Simulator/App/Phone.swift": "AppCommandTests",
    "Sources/Simulator/App/PhoneCalendar.swift": "AppCommandTests",
    "Sources/Simulator/App/PhoneContacts.swift": "AppCommandTests",
    "Sources/Simulator/App/PhoneNotifications.swift": "AppCommandTests",
    "Sources/Simulator/CommandID.swift": "AppIdempotenceTests",
    "Sources/Fuzz/Run/CaseRunner.swift": "FuzzTargetTests",
    "Sources/Fuzz/Run/ScriptOptions.swift": "SimulatedTargetTests",
    "Sources/Fuzz/Run/ScriptRun.swift": "SimulatedTargetTests",
    "Sources/Replay/Target/ReferenceDrivers.swift": "SimulatedTargetTests",
    "Sources/Simulator/Hosts/AutobahnClient.swift": "PeersTests",
    "Sources/Wire/JSON/JSONNumber.swift": "JSONTests",
    "Sources/Wire/JSON/JSONScanner.swift": "JSONScannerTests",
    "Sources/Wire/WebSocket/StrictMessageReader.swift": "WebSocketEndpointTests",
]

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
            guard !names.isEmpty, seenThrough[file.path] == nil else { continue }
            #expect(
                names.contains { words.contains($0) },
                "no test mentions \(names.joined(separator: ", ")) of \(file.path)")
        }
    }

    @Test func `what is seen through another test is`() {
        let files = SourceTree.package.swiftFiles("Sources")
        let tests = Set(SourceTree.package.swiftFiles("Tests").map(\.name))
        for (path, test) in seenThrough {
            #expect(files.contains { $0.path == path }, "\(path) is not there any more")
            #expect(tests.contains(test), "\(path): there is no \(test)")
        }
    }
}

import Capture
import Foundation
import Inspector
import PhoneBridge
import Testing
import Wire

/// What is in a bundle beside the session; the whole of one is opened in EndToEnd.
@Suite struct BundleOutputTests {
    /// Makes a bundle of some events, and gives what `Tests` can see of it without unpacking.
    private func bundle(
        _ events: [Event], profile: Profile = .contract,
        _ look: (BundleOutput, OutputStatus, URL) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "report.zip")
        let key = try #require(RedactionKey(Bytes(repeating: 7, count: RedactionKey.size)))
        let redactor = Redactor(key: key)
        guard case .session(let info) = events.first?.kind else {
            throw CocoaError(.fileReadCorruptFile)
        }
        let output = try BundleOutput(
            path: path.path, session: info, redactor: redactor,
            about: .init(
                tool: "bridgetap 9", system: "Linux", time: 1_781_061_605, profile: profile))
        let redacted = RedactedOutput(output, redactor: redactor)
        for event in events.dropFirst() { redacted.receive(event) }
        let status = redacted.close(now: events.last?.time ?? 0)
        try look(output, status, path)
    }

    @Test func `the summary says how long it was, what was broken and how commands ended`() throws {
        try bundle(FedSession.events(of: "late-answer")) { bundle, status, _ in
            #expect(status.pausedBy == nil && status.size > 1000)
            #expect(
                bundle.summary == [
                    "39 events in 17.0 s",
                    "115 rules kept, none broken; 1 remark: result-in-time",
                    "4 commands: 4 succeeded, 1 late",
                ])
        }
        try bundle(FedSession.events(of: "times")) { bundle, _, _ in
            let broken = bundle.summary.first { $0.contains(" broken: ") }
            #expect(broken == "1 of 119 rules broken: time-format", "\(bundle.summary)")
        }
    }

    @Test func `what is missing is said`() throws {
        var events = try FedSession.events(of: "errors")
        events.removeLast()
        try bundle(events) { bundle, _, _ in
            // The writer ends it in good order; what was lost before stands in it.
            #expect(!bundle.summary.contains { $0.hasPrefix("not complete") })
        }
        let time = try #require(events.last?.time)
        events.append(
            Event(
                time: time, kind: .note(.init(code: "recording_gap", text: "the disk was full"))))
        try bundle(events) { bundle, _, _ in
            #expect(bundle.summary.contains { $0.hasPrefix("not complete") })
        }
    }

    @Test func `a bundle that is not closed leaves nothing, and one that is there stays`() throws {
        let events = try FedSession.events(of: "errors")
        try bundle(events) { _, _, path in
            let before = try Data(contentsOf: path)
            guard case .session(let info) = events[0].kind else { return }
            let key = try #require(RedactionKey(Bytes(repeating: 7, count: RedactionKey.size)))
            func open(_ path: String) throws -> BundleOutput {
                try BundleOutput(
                    path: path, session: info, redactor: Redactor(key: key),
                    about: .init(tool: "bridgetap 9", system: "Linux", time: 0))
            }
            let refused = #expect(throws: OutputError.self) { try open(path.path) }
            #expect(refused?.errno == EEXIST)
            #expect(try Data(contentsOf: path) == before)
            let other = path.path + "2.zip"
            var abandoned: BundleOutput? = try open(other)
            abandoned?.receive(events[1])
            #expect(FileManager.default.fileExists(atPath: other))
            abandoned = nil
            #expect(!FileManager.default.fileExists(atPath: other))
        }
    }
}

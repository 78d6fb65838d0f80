import Foundation
import Testing
import Wire

/// What is far larger than memory passes with flat memory and is recorded in pieces.
///
/// A gibibyte wants the optimised program, which `make test` builds beside the tests' own.
@Suite(.serialized) struct RecordBigTests {
    private static let optimised = BuiltProgram.root.appending(path: ".build/release/bridgetap")
        .path

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: optimised), "make test builds it"),
        arguments: ["message", "chunked"])
    func `a gibibyte passes in one message or body with less than 64 MiB`(kind: String) throws {
        try pass(1 << 30, as: kind, program: Self.optimised)
    }

    @Test(arguments: ["fragments", "request", "response"])
    func `twenty mebibytes of every other kind pass and are recorded in pieces`(
        kind: String
    ) throws {
        try pass(20 << 20, as: kind, program: BuiltProgram.url.path)
    }

    private func pass(_ bytes: Int, as kind: String, program: String) throws {
        let folder = try TestFolder()
        let arguments = ["--as", kind, "--bytes", "\(bytes)"]
        let server = try Peer(
            listening: "big_message", ["--role", "server"] + arguments, in: folder)
        let recorder = try RunningRecorder(to: server.port, in: folder, program: program)
        let client = try Peer(
            "big_message", to: recorder.port, ["--role", "client"] + arguments, in: folder)
        let ends = [try client.finish(within: 130), try server.finish(within: 20)]
        #expect(ends.allSatisfy { $0.isGood }, "\(ends)")
        let sent = try #require(ends.compactMap(\.sent).first)
        #expect(sent.bytes == Int64(bytes))
        #expect(ends.compactMap(\.received).first == sent)
        #expect(try BuiltProgram.isSanitized || recorder.child.peakMemory < 64 << 20)
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")

        let reader = try Peer("read_session", reading: recorder.files[0], in: folder)
        let file = try reader.finish(within: 120)
        #expect(file["end"]?["dropped"]?.integerValue == 0)
        // Fragments are frames of their own; the message that they make stands in pieces.
        let content = try #require(file["contents"]?[0])
        #expect(file["contents"]?.elements?.count == 1)
        #expect(Tally(content) == sent)
        #expect(content["complete"]?.boolValue == true)
        #expect(content["longest"]?.integerValue ?? .max <= 1 << 20)
    }
}

import Foundation
import Testing

/// A capture that is still going on, through a pipe: `tcpdump -w - | bridgetap show -`.
@Suite struct PacketStreamTests {
    private let capture = BuiltProgram.root.appending(
        path: "../shared/captures/all-commands-success.pcap")

    /// Where the file's header and each packet's record end.
    private func ends(_ bytes: Data) -> [Int] {
        var ends = [24]
        while let last = ends.last, last + 16 <= bytes.count {
            let size = (0..<4).reduce(0) { $0 | Int(bytes[last + 8 + $1]) << (8 * $1) }
            ends.append(last + 16 + size)
        }
        return ends
    }

    @Test(arguments: [["show"], ["show", "--json"], ["convert", "-o", "-"]])
    func `what a packet says is shown before the next one comes`(_ command: [String]) throws {
        let bytes = try Data(contentsOf: capture)
        let input = Pipe()
        let program = try RunningProgram(command + ["-"], input: input)
        let feed = input.fileHandleForWriting
        let ends = ends(bytes)
        // The header, the handshake of TCP and the upgrade's request.
        try feed.write(contentsOf: bytes[..<ends[4]])
        var output = program.read(until: "platform=")
        #expect(output.contains("platform="))
        for (start, end) in zip(ends.dropFirst(4), ends.dropFirst(5)) {
            try feed.write(contentsOf: bytes[start..<end])
        }
        // The last command's result is there while the pipe is open.
        output += program.read(until: "close")
        try feed.close()
        let outcome = try program.finish()
        #expect(outcome.exitCode == 0)
        let whole = try BuiltProgram.run(command + [capture.path])
        #expect(output + outcome.output == whole.output)
    }

    @Test(.enabled(if: BuiltProgram.isOptimisedThere, "make test builds it"))
    func `the optimised program reads every capture as the other does`() throws {
        let folder = capture.deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".pcap") || $0.hasSuffix(".pcapng") }
        #expect(files.count >= 18)
        for file in files {
            let arguments = ["show", "--json", folder.appending(path: file).path]
            let expected = try BuiltProgram.run(arguments)
            let found = try BuiltProgram.run(arguments, program: BuiltProgram.optimised)
            #expect(expected.exitCode == 0 && found.exitCode == 0, "\(file): \(found.errors)")
            #expect(found.output == expected.output, "\(file)")
        }
    }
}

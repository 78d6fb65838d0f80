import Capture
import Foundation
import Testing
import Wire

/// Archives, as Python's `zipfile` reads them.
@Suite struct ZipFileTests {
    /// Name, length, digest, mode and time of each file.
    private static let script = """
        import hashlib, sys, zipfile
        archive = zipfile.ZipFile(sys.argv[1])
        assert archive.testzip() is None
        for file in archive.infolist():
            data = archive.read(file)
            print(file.filename, len(data), hashlib.sha256(data).hexdigest()[:16],
                  oct(file.external_attr >> 16), *file.date_time)
        """

    private func digest(_ bytes: Bytes) throws -> String {
        var text: Bytes = []
        let code = try #require(sha256(bytes))
        appendHex(code.span.extracting(0..<8), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test func `what is put in comes out, under any name and in any size`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.zip")
        var random = SeededRandom(3)
        let noise = (0..<3_000_001).map { _ in UInt8.random(in: 0...255, using: &random) }
        let files: [(String, Bytes)] = [
            ("报告/会话.ndjson", Bytes("{}\n".utf8)), ("报告/empty", []),
            ("报告/noise", noise), ("报告/zeros", Bytes(repeating: 0, count: 1 << 20)),
        ]
        let archive = try ZipFile(path: path)
        // 2026-06-10T03:20:05Z; archives count in steps of two seconds.
        for (name, bytes) in files { try archive.add(name, bytes, at: 1_781_061_605) }
        try archive.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? UInt64 == archive.size)
        let read = try ToolProcess.run("python3", ["-c", Self.script, path])
        #expect(read.status == 0, "\(read.errors)")
        let expected = try files.map { name, bytes in
            "\(name) \(bytes.count) \(try digest(bytes)) 0o100600 2026 6 10 3 20 4\n"
        }
        #expect(read.output == expected.joined())
    }

    @Test func `nothing is written over, and half an archive is not left behind`() throws {
        let folder = try TemporaryFolder()
        let there = try folder.write([1, 2, 3], to: "there.zip")
        let refused = #expect(throws: OutputError.self) { try ZipFile(path: there) }
        #expect(refused?.errno == EEXIST)
        #expect(try Data(contentsOf: URL(filePath: there)) == Data([1, 2, 3]))

        let half = folder.path("half.zip")
        var archive: ZipFile? = try ZipFile(path: half)
        try archive?.add("a", [1, 2, 3], at: 0)
        #expect(FileManager.default.fileExists(atPath: half))
        archive = nil
        #expect(!FileManager.default.fileExists(atPath: half))
    }

    @Test func `a device is no archive, and stays`() throws {
        let refused = #expect(throws: OutputError.self) { try ZipFile(path: "/dev/null") }
        #expect(refused?.errno == ESPIPE)
        #expect(FileManager.default.fileExists(atPath: "/dev/null"))
    }
}

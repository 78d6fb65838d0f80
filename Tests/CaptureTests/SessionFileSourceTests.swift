import Capture
import Foundation
import Testing
import Wire

@Suite struct SessionFileSourceTests {
    @Test func `a file is read in parts, and more when it has grown`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Bytes("abcdef".utf8), to: "lab")
        let source = try SessionFileSource(path: path)
        var bytes = Bytes()
        try source.read(into: &bytes, maximum: 4)
        #expect(bytes == Bytes("abcd".utf8))
        try source.read(into: &bytes, maximum: 4)
        try source.read(into: &bytes, maximum: 4)
        #expect(bytes == Bytes("abcdef".utf8))
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("gh".utf8))
        try source.read(into: &bytes, maximum: 4)
        #expect(bytes == Bytes("abcdefgh".utf8))
    }

    @Test func `what cannot be read is an error with its call`() throws {
        #expect(throws: SourceError(errno: ENOENT, call: "open", name: "/nonexistent")) {
            try SessionFileSource(path: "/nonexistent")
        }
        let folder = try SessionFileSource(path: "/tmp")
        var bytes = Bytes()
        #expect(throws: SourceError(errno: EISDIR, call: "read", name: "/tmp")) {
            try folder.read(into: &bytes, maximum: 4)
        }
    }
}

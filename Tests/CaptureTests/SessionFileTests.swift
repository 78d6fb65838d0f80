import Capture
import Foundation
import Testing
import Wire

@Suite struct SessionFileTests {
    @Test func `a file is made for its owner alone, and grows at its end`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("lab.ndjson")
        let file = try SessionFile(path: path)
        try file.append(Bytes("one\ntwo\n".utf8).span)
        try file.truncate(to: 4)
        try file.append(Bytes("three\n".utf8).span)
        #expect(file.size == 10)
        try file.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\nthree\n")
    }

    @Test func `a file that is there is refused, or emptied on demand`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Bytes("precious".utf8), to: "lab.ndjson")
        #expect(throws: OutputError(errno: EEXIST, call: "open", path: path)) {
            try SessionFile(path: path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        _ = try SessionFile(path: path, overwrites: true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "")
    }

    @Test func `a full disk is an error with how much was taken`() throws {
        let file = try SessionFile(path: "/dev/full")
        do throws(OutputError) {
            try file.append(Bytes("x".utf8).span)
            Issue.record("/dev/full took a byte")
        } catch {
            #expect(error == OutputError(errno: ENOSPC, call: "write", path: "/dev/full"))
            #expect(error.name == "ENOSPC")
        }
    }

    @Test func `a folder that is not there is an error with its name`() throws {
        let path = "/nonexistent/lab.ndjson"
        #expect(throws: OutputError(errno: ENOENT, call: "open", path: path)) {
            try SessionFile(path: path)
        }
    }
}

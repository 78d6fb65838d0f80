import Capture
import Foundation
import Glibc
import Testing

/// `bridgetap record --log`: what happens beside the link stands in the session.
@Suite struct RecordLogTests {
    private static func notes(of recorder: RunningRecorder) throws -> [String] {
        try recorder.session().notes.map { "\($0.code): \($0.text)" }
    }

    @Test func `each line that it writes is a note, and it ends with the recording`()
        throws
    {
        let folder = try TestFolder()
        let pidFile = folder.file("pid")
        let recorder = try RunningRecorder(
            to: 1, in: folder,
            flags: [
                "--log",
                "phone=echo one; printf 'two\\r\\n\\377' >&2; "
                    + "echo $$ > '\(pidFile).new'; mv '\(pidFile).new' '\(pidFile)'; exec sleep 1000",
            ])
        let pid = try #require(Int32(try recorder.child.waitForFile(pidFile).dropLast()))
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        #expect(try RunningRecorder.verify(recorder.files) == "")
        // Its two ways of writing have no order between them.
        #expect(
            try Self.notes(of: recorder).sorted()
                == ["log: phone: one", "log: phone: two", "log: phone: \u{fffd}"])
    }

    @Test func `a command that ends is told, and started again`() throws {
        let folder = try TestFolder()
        let (once, twice) = (folder.file("once"), folder.file("twice"))
        let recorder = try RunningRecorder(
            to: 1, in: folder,
            flags: [
                "--log",
                "phone=if [ -e '\(once)' ]; then echo back; echo $$ > '\(once)2'; mv '\(once)2' '\(twice)'; exec sleep 1000; fi; "
                    + "touch '\(once)'; exit 3",
            ])
        _ = try recorder.child.waitForFile(twice)
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains("warning: the log phone ended with exit code 3"))
        #expect(
            try Self.notes(of: recorder)
                == ["log_ended: phone: ended with exit code 3", "log: phone: back"])
    }
}

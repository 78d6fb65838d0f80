import BridgeProxy
import Capture
import Network
import PhoneBridge
import Testing
import Wire

@Suite struct SideLogTests {
    /// Collects the texts of notes.
    private final class Notes: SessionOutput {
        var texts: [String] = []
        func receive(_ event: Event) {
            if case .note(let note) = event.kind { texts.append("\(note.code) \(note.text)") }
        }
        func flush(now: Int64) {}
        func admit(dropped count: Int) {}
        var nextDeadline: Int64? { nil }
        var status: OutputStatus { OutputStatus() }
        func close(now: Int64) -> OutputStatus { OutputStatus() }
    }

    /// The notes of a command that is ended once it has said `ready`, or once it has ended.
    private func notes(of line: String) throws -> [String] {
        let loop = try UVLoop()
        let notes = Notes()
        let recorder = Recorder(outputs: [notes], loop: loop, contract: .current)
        var told: [RecordingRemark] = []
        let log = SideLog(.init(name: "phone", line: line), loop: loop, recorder: recorder) {
            told.append($0)
        }
        var isOver = false
        recorder.willCommit = {
            loop.atEndOfTurn {
                recorder.commit()
                let isDone = notes.texts.contains {
                    $0.hasPrefix("log_ended") || $0.hasSuffix(": ready")
                }
                guard isDone, !isOver else { return }
                isOver = true
                log.stop { loop.stop() }
            }
        }
        log.start()
        let limit = loop.schedule(after: 30 * nanosecondsPerSecond) { loop.stop() }
        loop.run()
        limit.cancel()
        #expect(isOver)
        recorder.commit()
        #expect(told.count == (notes.texts.contains { $0.hasPrefix("log_ended") } ? 1 : 0))
        loop.close()
        return notes.texts
    }

    @Test(arguments: [
        (
            "echo one; echo; echo ready; exec sleep 1000",
            ["log phone: one", "log phone: ", "log phone: ready"]
        ),
        (
            #"printf 'two\r\n\377\nready\n'; exec sleep 1000"#,
            ["log phone: two", "log phone: \u{fffd}", "log phone: ready"]
        ),
        ("printf end; exit 3", ["log phone: end", "log_ended phone: ended with exit code 3"]),
        ("kill -9 $$", ["log_ended phone: was ended by signal 9"]),
        ("/nowhere/program 2>/dev/null", ["log_ended phone: ended with exit code 127"]),
    ])
    func `lines are notes, and so is the end`(line: String, expected: [String]) throws {
        #expect(try notes(of: line) == expected)
    }

    @Test func `a line without an end is cut into several notes`() throws {
        let texts = try notes(of: "head -c 20000 /dev/zero | tr '\\0' x; exit 0")
        #expect(texts.dropLast().map(\.utf8.count) == [8192 + 11, 8192 + 11, 3616 + 11])
        #expect(texts.last == "log_ended phone: ended with exit code 0")
    }
}

import Capture
import Inspector
import PhoneBridge
import Report
import Wire

/// The sessions of a replay one by one, in the page that looks at sessions: it lies within the
/// replay's own.
struct ReplayedSessions {
    /// The file that was played.
    let recorded: String
    /// What took place.
    let live: SpooledOutput
    let profile: Profile

    /// Writes the page.
    func write(to output: (Bytes) throws -> Void) throws {
        let sessions: [(name: String, log: SessionLog)] = [
            (
                "recorded",
                try SessionPages.log(
                    "recorded", SessionFileInput(path: recorded), file: recorded, profile: profile)
            ),
            ("live", try SessionPages.log("live", live, file: recorded, profile: profile)),
        ]
        try OfflinePage(sessions).write(to: output)
    }
}

/// Sessions that lie within the page of a report.
enum SessionPages {
    /// Reads a session for the page.
    ///
    /// - Parameter file: what the command that plays it names.
    static func log(
        _ name: String, _ input: any SessionInput, file: String, profile: Profile
    ) throws -> SessionLog {
        var feed = SessionFeed(
            name: name, replay: ViewedSession.replay([file]), profile: profile)
        do throws(SessionError) {
            var reader = try SessionReader([input])
            while let item = try reader.next() {
                do throws(OutputError) {
                    switch item {
                    case .event(let event): try feed.receive(event)
                    case .remark(let remark):
                        try feed.remark("\(remark.position.text): \(remark.text)")
                    }
                } catch {
                    throw .cannotSpool(error)
                }
            }
            do throws(OutputError) { try feed.finish() } catch { throw .cannotSpool(error) }
        } catch {
            throw SessionInputs.failure(error)
        }
        return feed.log
    }
}

package import Capture
package import PhoneBridge
import Report
import Wire

/// A bug report in one file: a redacted session, what the rules and the figures say of it, the
/// page that opens offline, and a text for an issue tracker, in a zip.
///
/// The session is put aside while it goes on, and the archive is made when it is closed: page,
/// check and figures are of the very lines that are in it. A bundle that cannot be made is
/// removed, and `status` says why.
package final class BundleOutput: SessionOutput {
    /// What is known besides the session.
    package struct About: Sendable {
        /// Name and version of the program.
        package var tool: String
        /// The system that it runs on.
        package var system: String
        /// When the bundle is made, in seconds since 1970.
        package var time: Int64
        package var profile: Profile

        package init(tool: String, system: String, time: Int64, profile: Profile = .contract) {
            self.tool = tool
            self.system = system
            self.time = time
            self.profile = profile
        }
    }

    /// What the bundle is about, in a few lines; known once it is closed.
    package private(set) var summary: [String] = []

    private let session: SpooledOutput
    private let writer: SessionWriter
    private let redactor: Redactor
    private let about: About
    private var archive: ZipFile?
    private var result: OutputStatus

    /// The names of the files in the folder of a bundle.
    private enum Name {
        static let session = "session.ndjson"
    }

    /// Begins a bundle; what is at `path` already is refused with EEXIST.
    ///
    /// - Parameters:
    ///   - session: the session's first line, as it was recorded.
    ///   - redactor: whoever gives this the session's events has redacted them with it.
    package init(
        path: String, session: SessionInfo, redactor: Redactor, about: About
    ) throws(OutputError) {
        let spool = SpooledOutput(name: Name.session)
        var info = redactor.redacted(session)
        info.part = nil
        writer = try SessionWriter(session: info, lossReason: "unreadable") { _ in spool }
        archive = try ZipFile(path: path)
        self.session = spool
        self.redactor = redactor
        self.about = about
        result = OutputStatus()
        result.path = path
    }

    package func receive(_ event: Event) { writer.receive(event) }

    package func receive(_ batch: borrowing EventBatch) { writer.receive(batch) }

    package func flush(now: Int64) { writer.flush(now: now) }

    package func admit(dropped count: Int) { writer.admit(dropped: count) }

    package var nextDeadline: Int64? { writer.nextDeadline }

    package var status: OutputStatus {
        guard archive != nil else { return result }
        var status = writer.status
        status.path = result.path
        return status
    }

    package func close(now: Int64) -> OutputStatus {
        guard let archive else { return result }
        let path = result.path
        result = writer.close(now: now)
        result.path = path
        if result.pausedBy == nil {
            do {
                try make(archive)
                result.size = archive.size
            } catch {
                // Nothing else is thrown there.
                result.pausedBy =
                    error as? OutputError ?? OutputError(errno: 5, call: "write", path: path)
            }
        }
        self.archive = nil
        return result
    }

    // MARK: The archive

    /// The folder that all files are in, so that unpacking litters nothing: the bundle's name.
    private var folder: String {
        let name = result.path.split(separator: "/").last.map(String.init) ?? "bundle"
        let stem = name.hasSuffix(".zip") ? String(name.dropLast(4)) : name
        return stem.isEmpty ? "bundle" : stem
    }

    private func make(_ archive: ZipFile) throws {
        let folder = folder
        func add(_ name: String, _ bytes: Bytes) throws(OutputError) {
            try archive.add("\(folder)/\(name)", bytes, at: about.time)
        }
        let day = String(Timestamp(seconds: about.time).wholeSecondsText.prefix(10))
        var reading = BundleReading(name: Name.session, profile: about.profile, today: day)
        try reading.read(session)
        let text = BundleText(about: about, folder: folder, reading, redactor)
        summary = text.summary
        try add("README.txt", Bytes(text.readMe.utf8))
        try add("issue.md", Bytes(text.issue.utf8))
        try archive.begin("\(folder)/session.html", at: about.time)
        try OfflinePage([(Name.session, reading.log)]).write { try archive.append($0.span) }
        try archive.begin("\(folder)/\(Name.session)", at: about.time)
        try copySession(to: archive)
        try add("check.txt", Bytes(text.check.utf8))
        try add("check.ndjson", text.checkLines)
        try add("stats.txt", Bytes(text.statisticsText.utf8))
        try add("stats.json", text.statisticsLine)
        try add("facts.json", text.facts)
        try archive.close()
    }

    private func copySession(to archive: ZipFile) throws(OutputError) {
        let source = session.open()
        while true {
            var bytes = Bytes()
            do throws(SourceError) {
                try source.read(into: &bytes, maximum: 256 << 10)
            } catch {
                throw OutputError(errno: error.errno, call: error.call, path: error.name)
            }
            guard !bytes.isEmpty else { return }
            try archive.append(bytes.span)
        }
    }
}

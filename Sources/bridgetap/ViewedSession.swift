import Capture
import Glibc
import Inspector
import Network
import PhoneBridge
import Wire

/// A session of the command line on its way into a page.
final class ViewedSession {
    let name: String
    private let group: [any SessionInput]
    private var reader: SessionReader
    private var isFollowing: Bool
    private var hasBegun = false
    private var feed: SessionFeed

    var log: SessionLog { feed.log }
    /// The file that it is; nil where it is several.
    var onlyFile: String? { group.count == 1 ? group.first?.name : nil }
    /// What is held back at the moment.
    var pending: JSON { feed.pending }

    private init(
        _ group: [any SessionInput], follows: Bool, profile: Profile, today: String
    ) throws {
        let name = SessionGroups.name(of: group)
        self.name = name == "-" ? "standard input" : name
        self.group = group
        do throws(SessionError) {
            // Of several parts, all are there.
            if follows, group.count == 1, let input = group.first {
                isFollowing = true
                reader = SessionReader(try SessionInputs.source(input.name), follows: true)
            } else {
                isFollowing = false
                reader = try SessionReader(group)
            }
        } catch {
            throw SessionInputs.failure(error)
        }
        // Who watches wants to see a minute of heartbeats as a line.
        feed = SessionFeed(
            name: self.name, replay: Self.replay(group.map(\.name)), profile: profile,
            today: today, maximumFold: follows ? 60_000_000_000 : .max)
    }

    /// Opens the files of a command line, put together by session.
    static func open(
        _ files: [String], profile: String, follows: Bool = false
    ) throws -> [ViewedSession] {
        let profile = try ProfileInput.load(profile)
        let today = String(Timestamp(seconds: Int64(time(nil))).wholeSecondsText.prefix(10))
        ProfileInput.warnOfEndedWaivers(profile, today: today)
        let inputs = files.map { SessionFileInput(path: $0) }
        let progress = Progress(inputs, isWanted: !follows)
        return try SessionGroups.group(inputs.map { progress.watched($0) }).map { group in
            try ViewedSession(group, follows: follows, profile: profile, today: today)
        }
    }

    /// Reads the session to its end.
    func readAll() throws {
        do throws(SessionError) {
            while let item = try next() { try take(item) }
            try finish()
        } catch {
            throw SessionInputs.failure(error)
        }
    }

    /// Events that are read in one turn of the loop: browsers are answered in between.
    private static let maximumTurn = 500
    /// Nanoseconds until a file is looked at again that has nothing new.
    private static let pause: Int64 = 100 * nanosecondsPerMillisecond

    /// Reads on a loop, and follows a file that grows until its last line.
    ///
    /// - Parameter failed: called with what ends it early.
    func pump(on loop: UVLoop, failed: @escaping (any Error) -> Void) {
        do throws(SessionError) {
            for _ in 0..<Self.maximumTurn {
                guard let item = try next() else {
                    guard isFollowing else { return try finish() }
                    loop.schedule(after: Self.pause) { self.pump(on: loop, failed: failed) }
                    return
                }
                try take(item)
                if isFollowing, case .event(let event) = item, case .end = event.kind {
                    return try finish()
                }
            }
            loop.schedule(after: 0) { self.pump(on: loop, failed: failed) }
        } catch {
            failed(SessionInputs.failure(error))
        }
    }

    private func next() throws(SessionError) -> SessionReader.Item? {
        do {
            let item = try reader.next()
            if item != nil { hasBegun = true }
            return item
        } catch .cannotFollow where isFollowing && !hasBegun {
            // A capture of packets or a HAR is whole.
            isFollowing = false
            reader = try SessionReader(group)
            return try next()
        }
    }

    private func finish() throws(SessionError) {
        do throws(OutputError) { try feed.finish() } catch { throw .cannotSpool(error) }
    }

    private func take(_ item: SessionReader.Item) throws(SessionError) {
        do throws(OutputError) { try keep(item) } catch { throw .cannotSpool(error) }
    }

    private func keep(_ item: SessionReader.Item) throws(OutputError) {
        switch item {
        case .event(let event): try feed.receive(event)
        case .remark(let remark):
            SessionInputs.warn(remark, name: reader.name)
            try feed.remark("\(remark.position.text): \(remark.text)")
        }
    }

    /// The beginning of the command that plays the session.
    static func replay(_ files: [String]) -> String {
        let words = files.map { quotedForShell($0) }.joined(separator: " ")
        return "bridgetap replay \(words)"
    }
}

/// A word as a shell takes it.
private func quotedForShell(_ word: String) -> String {
    let isPlain =
        !word.isEmpty
        && word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0)
                || "-_./,+:@%".unicodeScalars.contains($0)
        }
    return isPlain
        ? word
        : "'"
            + word.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
}

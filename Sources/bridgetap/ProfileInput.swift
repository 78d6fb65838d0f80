import Capture
import Fuzz
import PhoneBridge
import Wire

/// The profile that a command line names: one that is built in, or a file.
enum ProfileInput {
    /// Files that extend each other deeper than this do so in a circle.
    private static let maximumDepth = 8

    /// Finds and reads it.
    static func load(_ name: String) throws -> Profile {
        if let profile = builtIn(name) { return profile }
        do throws(ProfileError) {
            return try read(name, depth: 0)
        } catch {
            if case .cannotExtend(_, let why) = error.reason, error.place == nil {
                // It is the profile itself that is not there.
                let names = builtIn.map(\.name)
                let near = nearestWord(to: name, among: names).map { "; did you mean \"\($0)\"?" }
                throw Failure(
                    name.contains("/") || name.contains(".json") ? .badInput : .usage,
                    "--profile: cannot use \(JSON.string(name)): \(why)\(near ?? "")",
                    hint: "built in are \(names.joined(separator: " and ")); others are files")
            }
            throw Failure(
                .badInput, "\(name), \(error)", hint: "docs/profiles.md lists what a profile says")
        }
    }

    /// Tells of waivers that have ended.
    static func warnOfEndedWaivers(_ profile: Profile, today: String) {
        for waiver in profile.endedWaivers(today: today) {
            ProcessStreams.remark(
                .warning,
                "the waiver of \(waiver.rule) ended on \(waiver.until ?? ""); the rule counts again"
            )
        }
    }

    private static var builtIn: [Profile] { Profile.builtIn + [.reference] }

    private static func builtIn(_ name: String) -> Profile? {
        builtIn.first { $0.name == name }
    }

    private static func read(_ path: String, depth: Int) throws(ProfileError) -> Profile {
        guard depth < maximumDepth else {
            throw ProfileError(.cannotExtend(path, why: "the files extend each other in a circle"))
        }
        let bytes: Bytes
        do throws(SourceError) {
            bytes = try WrittenFile.read(path)
        } catch {
            throw ProfileError(
                .cannotExtend(path, why: "\(SystemError(error.errno, call: error.call))"))
        }
        return try ProfileText.parse(
            bytes, name: stem(of: path), rules: RuleChecker.rules
        ) { (name) throws(ProfileError) in
            if let profile = builtIn(name) { return profile }
            let base = sibling(name, of: path)
            do throws(ProfileError) {
                return try read(base, depth: depth + 1)
            } catch {
                guard error.place != nil else { throw error }
                throw ProfileError(.cannotExtend(name, why: "\(base), \(error)"))
            }
        }
    }

    /// `lab` for `profiles/lab.json5`.
    private static func stem(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    }

    /// A path as it is meant in a file beside which it stands.
    private static func sibling(_ name: String, of path: String) -> String {
        guard !name.hasPrefix("/"), let slash = path.lastIndex(of: "/") else { return name }
        return path[...slash] + name
    }
}

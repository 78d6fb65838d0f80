package import Wire

/// Buckets that are known: they do not turn a night red (fuzzing plan, 3.8 and 3.9).
///
/// A file of lines of JSON, one for each bucket, so that a repository merges it well.
package struct Baseline: Sendable, Equatable {
    /// What somebody decided about a bucket.
    ///
    /// It names a check and a bucket, never a whole level.
    package struct Entry: Sendable, Equatable {
        package var bucket: String
        package var check: String
        package var standing: Standing
        package var reason: String

        package init(bucket: String, check: String, standing: Standing, reason: String) {
            self.bucket = bucket
            self.check = check
            self.standing = standing
            self.reason = reason
        }
    }

    package enum Standing: Sendable, Hashable {
        /// It is a bug, and known.
        case accepted
        /// It is to be left alone until a day, as in `2026-12-31`; nil for always.
        case waived(until: String?)
        /// It is the bug of another bucket.
        case duplicate(of: String)
        /// The target is right, and the check is wrong.
        case falseAlarm
    }

    /// In the order of their buckets.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// Reads a file; throws a sentence about the first line that is none.
    package init(parsing text: Bytes) throws(BaselineError) {
        var number = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard !line.isEmpty else { continue }
            guard let json = try? JSON(parsing: Bytes(line)), let entry = Entry(json) else {
                throw BaselineError(line: number)
            }
            set(entry)
        }
    }

    /// The file.
    package var text: Bytes {
        var bytes: Bytes = []
        for entry in entries {
            entry.json.encode(into: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Puts an entry in the place of the one of the same bucket.
    package mutating func set(_ entry: Entry) {
        entries.removeAll { $0.bucket == entry.bucket }
        entries.append(entry)
        entries.sort { $0.bucket < $1.bucket }
    }

    /// Why a bucket does not count; nil where it does.
    ///
    /// - Parameter today: a waiver that ended before holds no more.
    package func excuse(_ bucket: String, today: String) -> String? {
        guard let entry = entries.first(where: { $0.bucket == bucket }) else { return nil }
        let reason = entry.reason.isEmpty ? "" : ": \(entry.reason)"
        switch entry.standing {
        case .accepted: return "known\(reason)"
        case .waived(let until?):
            return until < today ? nil : "waived until \(until)\(reason)"
        case .waived(nil): return "waived\(reason)"
        case .duplicate(let other): return "the same as \(other)\(reason)"
        case .falseAlarm: return "a false alarm\(reason)"
        }
    }
}

/// A line of a baseline file that is none.
package struct BaselineError: Error, Sendable, Hashable, CustomStringConvertible {
    package var line: Int

    package init(line: Int) {
        self.line = line
    }

    package var description: String {
        "line \(line): it is no bucket with a check and a standing"
    }
}

extension Baseline.Entry {
    fileprivate var json: JSON {
        var members: [JSON.Member] = [
            .init("bucket", .string(bucket)), .init("check", .string(check)),
        ]
        switch standing {
        case .accepted: members.append(.init("standing", "accepted"))
        case .waived(let until):
            members.append(.init("standing", "waived"))
            if let until { members.append(.init("until", .string(until))) }
        case .duplicate(let other):
            members.append(.init("standing", "duplicate"))
            members.append(.init("of", .string(other)))
        case .falseAlarm: members.append(.init("standing", "false-alarm"))
        }
        if !reason.isEmpty { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }

    fileprivate init?(_ json: JSON) {
        guard let bucket = json["bucket"]?.stringValue, let check = json["check"]?.stringValue
        else { return nil }
        switch json["standing"]?.stringValue {
        case "accepted": standing = .accepted
        case "waived": standing = .waived(until: json["until"]?.stringValue)
        case "duplicate":
            guard let other = json["of"]?.stringValue else { return nil }
            standing = .duplicate(of: other)
        case "false-alarm": standing = .falseAlarm
        default: return nil
        }
        self.bucket = bucket
        self.check = check
        reason = json["reason"]?.stringValue ?? ""
    }
}

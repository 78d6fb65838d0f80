import Report
package import Wire

/// The files of a finding's folder.
package enum FindingFolder {
    /// A file with its content.
    package struct File: Sendable, Equatable {
        package var name: String
        package var content: Bytes

        package init(_ name: String, _ content: Bytes) {
            self.name = name
            self.content = content
        }
    }

    package static let script = "script.fuzz"
    package static let record = "finding.json"

    /// All files, the one that makes it a finding last.
    ///
    /// - Parameter path: where the folder is going to be, for the command that shows it again.
    package static func files(_ record: FindingRecord, path: String) -> [File] {
        let again = again(record, path: path)
        var files = [
            File(Self.script, Bytes("# \(again)\n\(record.finding.script)".utf8)),
            File("verdict.txt", Bytes(VerdictText().text(record, again: again).utf8)),
        ]
        let evidence = record.finding.evidence
        if !evidence.session.isEmpty { files.append(File("failing.ndjson", evidence.session)) }
        if !record.finding.control.isEmpty {
            files.append(File("control.ndjson", record.finding.control))
        }
        if !evidence.output.isEmpty {
            let lines = evidence.output.joined(separator: "\n") + "\n"
            files.append(File("output.txt", Bytes(lines.utf8)))
        }
        files.append(File(Self.record, Bytes((record.json.prettyPrinted + "\n").utf8)))
        return files
    }

    /// The command that shows it again.
    package static func again(_ record: FindingRecord, path: String) -> String {
        "bridgetap fuzz --reproduce \(ShellWord.quoted(path)) \(record.circumstances.flags)"
    }
}

/// Words of a command line for a shell.
package enum ShellWord {
    /// The word, in quotes where a shell would not take it as it is.
    package static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=,@%+".contains($0))
        }
        guard !plain || word.isEmpty else { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}

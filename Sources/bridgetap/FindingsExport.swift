import Capture
import Fuzz
import PhoneBridge
import Report
import Simulator
import Wire

/// Writes findings where others may have them: as sessions for `bridgetap replay`, or as recordings
/// of the bug.
struct FindingsExport {
    private let folder: FindingsStore
    private let isRecording: Bool
    private let isRaw: Bool
    /// Findings that were written.
    private(set) var count = 0
    private var sides: Set<String> = []
    private var masked = 0

    init(to folder: String, isRecording: Bool, isRaw: Bool) throws {
        self.folder = FindingsStore(folder)
        self.isRecording = isRecording
        self.isRaw = isRaw
        try self.folder.make()
    }

    mutating func write(_ record: FindingRecord) throws {
        var record = record
        if !isRaw, !record.circumstances.isOwnTarget {
            record = record.masked()
            masked += 1
        }
        try isRecording ? writeRecording(record) : writeRegression(record)
    }

    private mutating func writeRecording(_ record: FindingRecord) throws {
        let name = record.finding.name
        guard !record.finding.evidence.session.isEmpty else {
            return ProcessStreams.remark(.warning, "\(name) has no session; it is left out")
        }
        try put("\(name).ndjson", record.finding.evidence.session)
        count += 1
    }

    private mutating func writeRegression(_ record: FindingRecord) throws {
        let name = record.finding.name
        let regression: FindingRegression
        do throws(FindingRegression.Failure) {
            regression = try FindingRegression(
                record, profile: .reference, tool: Version.tool,
                defects: Self.defects(record.circumstances.flags))
        } catch {
            return ProcessStreams.remark(.warning, "\(name): \(error); it is left out")
        }
        if let doubt = regression.doubt {
            ProcessStreams.remark(.warning, "\(name): a replay may not tell it: \(visible(doubt))")
            ProcessStreams.remark(
                .hint, "bridgetap fuzz --reproduce \(ShellWord.quoted(path("\(name).fuzz"))) does")
        }
        try put("\(name).ndjson", regression.session)
        try put("\(name).rules.json5", Bytes(regression.rules.utf8))
        let again = FindingFolder.again(record, path: path("\(name).fuzz"))
        try put("\(name).fuzz", Bytes("# \(again)\n\(record.finding.script)".utf8))
        sides.insert(record.finding.script.played.rawValue)
        count += 1
    }

    /// The defects of the simulated peer that the flags of a finding name.
    private static func defects(_ flags: String) -> Set<Defect> {
        let words = flags.split(separator: " ")
        guard words.contains("simulated") else { return [] }
        return Set(
            zip(words, words.dropFirst()).filter { $0.0 == "--defect" }
                .compactMap { Defect(id: String($0.1)) })
    }

    private func path(_ file: String) -> String { folder.path(of: file) }

    private func put(_ file: String, _ content: Bytes) throws {
        try FindingsStore.replace(path(file), with: content)
    }

    /// Says what there is now, and how it is used.
    func finish() throws {
        var text = "\(counted(count, "finding")) in \(folder.folder)"
        if masked > 0 { text += ", \(grouped(masked)) masked" }
        try ProcessStreams.output(text + "\n")
        for side in sides.sorted() {
            let flags = side == "app" ? "--to URL" : "--listen HOST:PORT"
            try ProcessStreams.output(
                "  bridgetap replay \(ShellWord.quoted(folder.folder)) --as \(side) \(flags) "
                    + "--speed real\n")
        }
    }
}

import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Report
import Wire

/// A case that has shown something new.
struct NovelCase {
    var index: Int
    /// What no case before had shown.
    var shapes: [UInt64]
}

/// What a campaign starts from: scripts and recorded sessions in a folder.
///
/// It is frozen while the campaign goes on: what
/// is new waits in `new/` below it, until the next one begins.
struct FuzzCorpus {
    private let folder: String?
    private(set) var entries: [CorpusEntry] = []
    var scripts: [FuzzScript] { entries.map(\.script) }
    /// What entries are known to show, so that only what is new joins them.
    private(set) var shapes: Set<UInt64> = []
    /// The same for the same scripts; empty without any.
    private(set) var digest = ""

    /// Reads what is in a folder, in the order of the names; nothing where it is not there yet.
    ///
    /// - Parameters:
    ///   - played: the side of a session that a script is made of.
    ///   - isNewCampaign: whether what waits joins them first.
    init(_ folder: String?, playing played: Side, isNewCampaign: Bool) throws {
        self.folder = folder
        guard let folder, FileIdentity(folder) != nil else { return }
        if isNewCampaign { try Self.join(folder) }
        var hash = FNVHash()
        entries = try Self.read(folder, playing: played)
        for entry in entries { hash.combine(entry.script.description) }
        if !entries.isEmpty { digest = hash.text }
        shapes = try Self.readShapes(folder)
    }

    /// The entries of a folder, in the order of their names.
    static func read(_ folder: String, playing played: Side) throws -> [CorpusEntry] {
        try names(folder).compactMap { name in
            let path = "\(folder)/\(name)"
            guard
                let script = name.hasSuffix(".fuzz")
                    ? try FindingsStore.readScript(path) : try Self.script(path, played),
                script.played == played
            else {
                ProcessStreams.remark(.note, "--corpus: \(path) has nothing to be played")
                return nil
            }
            return CorpusEntry(name: name, script: script)
        }
    }

    // MARK: What is shown already

    private static func shapesPath(_ folder: String) -> String { "\(folder)/.shapes" }

    private static func readShapes(_ folder: String) throws -> Set<UInt64> {
        guard FileIdentity(shapesPath(folder)) != nil else { return [] }
        let text = String(decoding: try FindingsStore.bytes(shapesPath(folder)), as: UTF8.self)
        return Set(text.split(separator: "\n").compactMap { UInt64($0, radix: 36) })
    }

    /// Writes what the entries show.
    static func write(_ shapes: Set<UInt64>, _ folder: String) throws {
        let lines = shapes.sorted().map { String($0, radix: 36) + "\n" }
        try FindingsStore.replace(shapesPath(folder), with: Bytes(lines.joined().utf8))
    }

    private static func names(_ folder: String) throws -> [String] {
        do {
            return try FolderNames.read(folder).sorted().filter { name in
                !name.hasPrefix(".")
                    && ([".fuzz"] + ReplayFiles.endings).contains(where: name.hasSuffix)
            }
        } catch {
            throw Failure(.badInput, "--corpus: \(folder): \(error)")
        }
    }

    /// The script of a recorded session; nil where there is nothing to be played in it.
    private static func script(_ path: String, _ played: Side) throws -> FuzzScript? {
        var reader = try SessionInputs.open([path])
        do throws(LoadedSession.Failure) {
            let session = try LoadedSession(
                path, &reader, contract: .current, profile: .contract)
            return FuzzScript(playing: played, of: session.recorded)
        } catch {
            throw ReplayJob.failure(error)
        }
    }

    /// Puts what waits beside the others.
    private static func join(_ folder: String) throws {
        guard FileIdentity("\(folder)/new") != nil else { return }
        for name in try names("\(folder)/new") {
            guard unsafe rename("\(folder)/new/\(name)", "\(folder)/\(name)") == 0 else {
                throw Failure(
                    .badInput,
                    "--corpus: cannot move \(folder)/new/\(name): "
                        + "\(SystemError(errno, call: "rename"))")
            }
        }
    }

    /// Leaves scripts for the next campaign; those of unsure mutations are of no use to it, since
    /// they would make all that starts from them unsure.
    func add(_ novel: [NovelCase], seed: UInt64, plan: CasePlan) throws {
        guard let folder else { return }
        var shown = shapes
        for novel in novel {
            let script = plan.script(novel.index)
            let added = novel.shapes.filter { !shown.contains($0) }
            guard script.rating == .sure, !added.isEmpty else { continue }
            if shown == shapes { try FindingsStore("\(folder)/new").make() }
            shown.formUnion(added)
            let rows = script.mutations.map(\.id).joined(separator: " ")
            let text =
                "# case \(novel.index) of seed \(seed)\(rows.isEmpty ? "" : " (\(rows))"): "
                + "\(counted(added.count, "state or answer", "states and answers")) that no entry "
                + "had shown\n\(script)"
            try FindingsStore.replace(
                "\(folder)/new/\(seed)-\(novel.index).fuzz", with: Bytes(text.utf8))
        }
        if shown != shapes { try Self.write(shown, folder) }
    }
}

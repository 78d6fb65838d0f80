import Capture
import Fuzz
import Glibc
import Network
import PhoneBridge
import Replay
import Wire

/// What a campaign starts from: scripts and recorded sessions in a folder.
///
/// It is frozen while the campaign goes on: what
/// is new waits in `new/` below it, until the next one begins.
struct FuzzCorpus {
    private let folder: String?
    private(set) var scripts: [FuzzScript] = []
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
        for name in try Self.names(folder) {
            let path = "\(folder)/\(name)"
            guard
                let script = name.hasSuffix(".fuzz")
                    ? try FindingsStore.readScript(path) : try Self.script(path, played)
            else {
                ProcessStreams.remark(.note, "--corpus: \(path) has nothing to be played")
                continue
            }
            hash.combine(script.description)
            scripts.append(script)
        }
        if !scripts.isEmpty { digest = hash.text }
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
    func add(_ novel: [(name: String, script: FuzzScript)]) throws {
        guard let folder else { return }
        let sure = novel.filter { $0.script.rating == .sure }
        guard !sure.isEmpty else { return }
        try FindingsStore("\(folder)/new").make()
        for (name, script) in sure {
            try FindingsStore.replace(
                "\(folder)/new/\(name).fuzz", with: Bytes(script.description.utf8))
        }
    }
}

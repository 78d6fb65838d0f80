import Capture
import Fuzz
import Glibc
import PhoneBridge
import Report
import Wire

/// Runs the entries of corpora, keeps those that show something of their own, and says what each is
/// for.
///
/// Nothing is lost: the others go to `culled/`.
struct FuzzCull {
    private let options: FuzzCommandOptions
    private let folder: String
    private let profile: Profile

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        folder = options.corpus ?? "."
        profile = try options.loadProfile()
    }

    func run() throws -> ExitCode {
        let corpus = try FuzzCorpus(folder, playing: options.played, isNewCampaign: true)
        // Those that are in it come before equal ones from elsewhere.
        var entries = corpus.entries
        var guests: Set<String> = []
        for other in options.others {
            for place in [other, "\(other)/new"] where FileIdentity(place) != nil {
                for entry in try FuzzCorpus.read(place, playing: options.played) {
                    guard !entries.contains(where: { $0.script == entry.script }) else { continue }
                    let guest = CorpusEntry(name: free(entry.name, entries), script: entry.script)
                    guests.insert(guest.name)
                    entries.append(guest)
                }
            }
        }
        guard !entries.isEmpty else {
            throw Failure(.badInput, "--corpus: there is nothing to be played in \(folder)")
        }
        let cull = try judge(CorpusCull.inOrder(entries))
        guard let cull else { return .interrupted }
        try write(cull, guests: guests)
        try ProcessStreams.output(
            "\(counted(entries.count, "entry", "entries")): \(grouped(cull.kept.count)) kept, "
                + "\(grouped(cull.dropped.count)) that show nothing of their own\n"
                + "  \(folder)/index.txt says what each is for\n")
        return .done
    }

    /// The entry's name as a script, or one with a number where it is taken.
    private func free(_ name: String, _ entries: [CorpusEntry]) -> String {
        let stem = name.hasSuffix(".fuzz") ? String(name.dropLast(".fuzz".count)) : name
        var candidate = "\(stem).fuzz"
        var number = 2
        while entries.contains(where: { $0.name == candidate }) {
            candidate = "\(stem)-\(number).fuzz"
            number += 1
        }
        return candidate
    }

    /// Runs all of them; nil where a signal came first.
    private func judge(_ entries: [CorpusEntry]) throws -> CorpusCull? {
        let target = try FuzzTarget(options, profile: profile)
        defer { target.end() }
        var cull = CorpusCull()
        for (index, entry) in entries.enumerated() {
            ProcessStreams.showStatusOnTerminal("\(index + 1) of \(entries.count), \(entry.name)")
            guard let outcome = target.outcome(of: entry.script, keepsSession: true) else {
                ProcessStreams.showStatus(nil)
                return nil
            }
            switch outcome.target {
            case .lost(let why), .trouble(let why):
                ProcessStreams.showStatus(nil)
                throw Failure(.unreachable, "the target could not be used: \(visible(why))")
            case .well, .died: cull.take(entry, outcome)
            }
        }
        ProcessStreams.showStatus(nil)
        return cull
    }

    private func write(_ cull: CorpusCull, guests: Set<String>) throws {
        for kept in cull.kept where guests.contains(kept.entry.name) {
            try FindingsStore.replace(
                "\(folder)/\(kept.entry.name)", with: Bytes(kept.entry.script.description.utf8))
        }
        let own = cull.dropped.filter { !guests.contains($0) }
        if !own.isEmpty { try FindingsStore("\(folder)/culled").make() }
        for name in own {
            guard unsafe rename("\(folder)/\(name)", "\(folder)/culled/\(name)") == 0 else {
                throw Failure(
                    .badInput,
                    "cannot move \(folder)/\(name): \(SystemError(errno, call: "rename"))")
            }
        }
        try FindingsStore.replace("\(folder)/index.txt", with: Bytes(cull.index.utf8))
        try FuzzCorpus.write(cull.shapes, folder)
    }
}

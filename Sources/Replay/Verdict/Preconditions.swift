import Capture
import PhoneBridge
import Report
import Wire

/// Tells a difference of the app from one of the phone that it runs on.
///
/// What rests on a permission that the recorded phone had granted and this one has not, or on a
/// contact that only the recorded one had, was not put to the test: it is neither the same nor
/// changed.
struct Preconditions {
    private let script: ReplayScript
    private let live: DiffSession
    private let contract: Contract
    private let judgesApp: Bool
    /// Ids that answers of the recording brought into being.
    private let born: Set<String>
    /// What the recording shows of the phone, by the command's recorded id.
    private let texts: [String: String]

    init(_ result: ReplayResult, contract: Contract) {
        script = result.script
        live = result.live
        self.contract = contract
        judgesApp = result.pairing.judged == .app
        var born: Set<String> = []
        for command in script.commands {
            guard let field = contract.command(named: command.type)?.bornID else { continue }
            for answer in command.answers {
                if let id = (try? JSON(parsing: answer))?["data"]?[field]?.stringValue {
                    born.insert(id)
                }
            }
        }
        self.born = born
        texts = Dictionary(
            result.script.preconditions.map { (result.script.commands[$0.command].id, $0.text) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Makes a difference that only comes of the phone one that was not put to the test.
    func settle(_ pair: inout SessionDiff.CommandPair) throws(OutputError) {
        guard judgesApp, pair.outcome == .changed || pair.outcome == .unanswered,
            let why = try reason(pair)
        else { return }
        pair.outcome = .skipped
        pair.remarks.insert(why, at: 0)
    }

    private func reason(_ pair: SessionDiff.CommandPair) throws(OutputError) -> String? {
        let counted = pair.differences.filter(\.counts)
        let permission =
            contract.command(named: pair.type)?.permission.map(\.rawValue) ?? "permission"
        if let code = counted.first(where: { $0.path == "result.error.code" }) {
            let recorded = code.first?.stringValue
            let live = code.second?.stringValue
            if recorded == "permission_denied" {
                return "the recorded phone had denied \(permission), this one has not"
            }
            if live == "permission_denied" {
                return "this phone has denied \(permission), the recorded one had not"
            }
            if live == contract.missingThing.code, recorded == nil, let thing = foreignThing(pair) {
                return "the recorded phone had \(thing), this one has not"
            }
        }
        if let first = pair.first?.id, let text = texts[first], text.contains("prompt"),
            counted.isEmpty, pair.outcome == .changed
        {
            // Nothing differs but that it was late.
            return text
        }
        guard let why = shorterList(counted), try hasLists(of: counted, pair) else { return nil }
        return why
    }

    /// The thing that a command names, where no command of the session brought it into being.
    private func foreignThing(_ pair: SessionDiff.CommandPair) -> String? {
        guard let field = contract.command(named: pair.type)?.usedID,
            let command = script.commands.first(where: { $0.id == pair.first?.id }),
            let id = (try? JSON(parsing: command.content))?["payload"]?[field]?.stringValue,
            !born.contains(id)
        else { return nil }
        return "the thing with this \(field)"
    }

    /// Whether the live answer has the lists from which things are missing: a phone that has none
    /// of them tells an empty list, and an answer without it is another command's.
    private func hasLists(
        of differences: [FieldDifference], _ pair: SessionDiff.CommandPair
    ) throws(OutputError) -> Bool {
        guard let content = pair.second?.answer?.content,
            let data = (try? JSON(parsing: live.read(content)))?["data"]
        else { return false }
        return differences.allSatisfy { difference in
            let name = difference.path.dropFirst("result.data.".count).prefix { $0 != "[" }
            return data[String(name)]?.elements != nil
        }
    }

    /// A list that is shorter by things which the recorded phone had from before.
    ///
    /// Of a thing that is not there its id is not there either: a field that is missing from one
    /// that is there is the app's doing.
    private func shorterList(_ counted: [FieldDifference]) -> String? {
        guard !counted.isEmpty,
            counted.allSatisfy({
                $0.kind == .removed && $0.path.hasPrefix("result.data.") && $0.path.contains("[")
            })
        else { return nil }
        var things: Set<String> = []
        var missingIDs: Set<String> = []
        for difference in counted {
            if let id = difference.first?.stringValue, born.contains(id) { return nil }
            let thing = difference.path.split(separator: "]").first.map(String.init)
            things.insert(thing ?? difference.path)
            if difference.path.hasSuffix("_id") { missingIDs.insert(thing ?? difference.path) }
        }
        guard things == missingIDs else { return nil }
        return "the recorded phone had \(things.count) more in its list than this one"
    }
}

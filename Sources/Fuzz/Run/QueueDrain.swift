import Capture
package import PhoneBridge
import Wire

/// Empties the queue of a board that cannot be started anew: what a case has left there would be
/// handed out to the cases behind it for minutes (fuzzing plan, 3.11).
package enum QueueDrain {
    /// A poll hands out no more.
    private static let pollSize = 50
    /// More is not drained; it ends by its own time.
    private static let maximumCommands = 500

    /// What takes the commands of a script out of the queue; nil where it has put nothing there.
    ///
    /// Each phone of it polls once more, and all commands are answered.
    package static func script(after script: FuzzScript, contract: Contract) -> FuzzScript? {
        guard script.played == .app else { return nil }
        var ids: [String] = []
        var phones: Set<String> = [""]
        for step in script.steps {
            switch step.action {
            case .enqueue(_, let json): add(try? JSON(parsing: json), to: &ids, &phones)
            case .request(let request):
                if request.method == "POST" {
                    add((try? JSON(parsing: request.body))?["command"], to: &ids, &phones)
                }
                phones.formUnion(phone(in: request.target, contract))
            case .connect(_, let dial): phones.formUnion(phone(in: "?" + dial.query, contract))
            default: break
            }
        }
        guard !ids.isEmpty else { return nil }
        ids = Array(ids.prefix(maximumCommands))
        let names = contract.poll
        var steps: [FuzzStep] = []
        for phone in phones.sorted().prefix(4) {
            for platform in names.platforms {
                let who = phone.isEmpty ? "" : "&\(names.phoneID)=\(phone)"
                let target =
                    "commands?\(names.platform)=\(platform)&\(names.appState)=active"
                    + "&\(names.limit)=\(pollSize)\(who)"
                for _ in 0...ids.count / pollSize { steps.append(FuzzStep(.get(target))) }
            }
        }
        for id in ids {
            let result: JSON = [
                "id": .string(id),
                "error": [
                    "category": "cancelled", "code": "cancelled", "message": "the case is over",
                ],
            ]
            steps.append(FuzzStep(.post("results", result.encoded)))
        }
        return FuzzScript(as: .app, steps)
    }

    private static func add(_ command: JSON?, to ids: inout [String], _ phones: inout Set<String>) {
        guard let command, let id = command["id"]?.stringValue else { return }
        if !ids.contains(id) { ids.append(id) }
        if let phone = command["phone_id"]?.stringValue, isPlain(phone) { phones.insert(phone) }
    }

    /// The phone that a query names.
    private static func phone(in target: String, _ contract: Contract) -> [String] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return target[mark...].dropFirst().split(separator: "&").compactMap { item in
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == contract.poll.phoneID, isPlain(String(parts[1]))
            else { return nil }
            return String(parts[1])
        }
    }

    private static func isPlain(_ phone: String) -> Bool {
        phone.utf8.count <= 200
            && phone.allSatisfy {
                $0.isASCII && ($0.isLetter || $0.isNumber || "-_.%".contains($0))
            }
    }
}

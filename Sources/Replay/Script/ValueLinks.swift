import Capture
package import PhoneBridge
package import Report
import Wire

/// A value of the peer that is played against, which what is played uses later.
package struct ValueLink: Sendable, Equatable {
    /// The field, such as `event_id`, or the name in a `bind` rule.
    package var name: String
    /// The recorded value.
    package var bornText: String
    /// The command whose answer has it, or that has it itself: its type and id.
    package var born: String
    /// The commands that use it, or whose answers do, in order: their types and ids.
    package var uses: [String]

    package init(name: String, bornText: String, born: String, uses: [String]) {
        self.name = name
        self.bornText = bornText
        self.born = born
        self.uses = uses
    }
}

/// Finds the values that flow through a session, where the contract or a rules file says so.
package enum ValueLinks {
    /// The links of a script: those of the contract in the order of their births, then those of
    /// the rules file.
    package static func find(
        in script: ReplayScript, rules: ComparisonRules = ComparisonRules(),
        contract: Contract = .current
    ) -> [ValueLink] {
        var links: [ValueLink] = []
        var places: [String: Int] = [:]
        for command in script.commands {
            let type = contract.command(named: command.type)
            let name = "\(command.type) \(command.id)"
            if let used = type?.usedID,
                let value = (try? JSON(parsing: command.content))?["payload"]?[used]?.stringValue,
                let place = places["\(used)\n\(value)"]
            {
                links[place].uses.append(name)
            }
            for answer in command.answers {
                guard let data = (try? JSON(parsing: answer))?["data"], let type else { continue }
                for (field, value) in Self.ids(in: data, of: type)
                where places["\(field)\n\(value)"] == nil {
                    places["\(field)\n\(value)"] = links.count
                    links.append(ValueLink(name: field, bornText: value, born: name, uses: []))
                }
            }
        }
        return (links + bound(in: script, by: rules)).filter { !$0.uses.isEmpty }
    }

    /// What the `bind` rules of a rules file tie together, of what either side says of a command.
    private static func bound(in script: ReplayScript, by rules: ComparisonRules) -> [ValueLink] {
        let values = BoundValues(rules)
        var links: [ValueLink] = []
        var places: [String: Int] = [:]
        func born(_ found: [(name: String, text: String)], _ command: String) {
            for value in found where places["\(value.name)\n\(value.text)"] == nil {
                places["\(value.name)\n\(value.text)"] = links.count
                links.append(
                    ValueLink(name: value.name, bornText: value.text, born: command, uses: []))
            }
        }
        func used(_ found: [(name: String, text: String)], _ command: String) {
            for value in found {
                guard let place = places["\(value.name)\n\(value.text)"],
                    links[place].uses.last != command
                else { continue }
                links[place].uses.append(command)
            }
        }
        for command in script.commands {
            let name = "\(command.type) \(command.id)"
            let asked = values.values(in: command.content, as: "command", of: command.type)
            let answered = command.answers.flatMap {
                values.values(in: $0, as: "result", of: command.type)
            }
            // The peer's values are new in each run, and ours follow them.
            if script.role == .app {
                born(asked, name)
                used(answered, name)
            } else {
                used(asked, name)
                born(answered, name)
            }
        }
        return links
    }

    /// The ids that an answer gives or tells.
    private static func ids(
        in data: JSON, of type: Contract.CommandType
    ) -> [(String, String)] {
        var found: [(String, String)] = []
        if let born = type.bornID, let value = data[born]?.stringValue {
            found.append((born, value))
        }
        for field in type.data {
            guard case .array(.object(let members)) = field.type else { continue }
            for element in data[field.name]?.elements ?? [] {
                for member in members where member.personal == .id {
                    if let value = element[member.name]?.stringValue {
                        found.append((member.name, value))
                    }
                }
            }
        }
        return found
    }
}

package import PhoneBridge
import Wire

/// A value that an answer brings into being and that later commands use.
package struct ValueLink: Sendable, Equatable {
    /// The field, such as `event_id`.
    package var name: String
    /// The recorded value.
    package var bornText: String
    /// The command whose answer has it: its type and id.
    package var born: String
    /// The commands that use it, in order: their types and ids.
    package var uses: [String]

    package init(name: String, bornText: String, born: String, uses: [String]) {
        self.name = name
        self.bornText = bornText
        self.born = born
        self.uses = uses
    }
}

/// Finds the values that flow through a session, where the contract says that they do.
package enum ValueLinks {
    /// The links of a script, in the order of their births.
    package static func find(
        in script: ReplayScript, contract: Contract = .current
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
        return links.filter { !$0.uses.isEmpty }
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

import Capture
import PhoneBridge
import Wire

/// Whether a script asks the board for a command that is none of the contract's: the board passes on
/// what it is asked for, and is not to blame for what is in it.
enum OddCommands {
    /// Rules about what a command says, rather than about what becomes of it.
    static let rules: Set<String> = [
        "command-id", "command-type", "command-type-known", "command-id-reserved",
        "command-timeout-number", "command-timeout-positive", "command-field-types",
        "command-one-target", "command-url-scheme", "payload-required", "payload-types",
        "time-format",
    ]

    /// Whether there is one in the script.
    static func areIn(_ script: FuzzScript, _ contract: Contract) -> Bool {
        guard script.played == .app else { return false }
        return script.steps.contains { step in
            switch step.action {
            case .stimulate(_, let json), .enqueue(_, let json):
                return isOdd(try? JSON(parsing: json), contract)
            case .request(let request) where request.method == "POST":
                guard request.target.hasPrefix("commands") else { return false }
                return isOdd((try? JSON(parsing: request.body))?["command"], contract)
            default: return false
            }
        }
    }

    private static func isOdd(_ command: JSON?, _ contract: Contract) -> Bool {
        guard let command, let id = command["id"]?.stringValue, !id.isEmpty,
            !contract.reservedIDs.contains(id), let name = command["type"]?.stringValue,
            let type = contract.command(named: name)
        else { return true }
        if let timeout = command["timeout_ms"] {
            guard let milliseconds = timeout.integerValue, milliseconds > 0 else { return true }
        }
        return type.payload.contains { field in
            guard let value = command["payload"]?[field.name] else { return field.isRequired }
            return !field.type.admits(value)
        }
    }
}

extension Contract.FieldType {
    /// Whether a value is of the type, as far as its kind goes.
    fileprivate func admits(_ value: JSON) -> Bool {
        switch (self, value) {
        case (.string, .string), (.url, .string), (.integer, .number), (.number, .number),
            (.boolean, .bool), (.object, .object), (.anyObject, .object):
            true
        case (.instant, .string(let text)): Timestamp(text) != nil
        case (.choice(let words), .string(let text)): words.contains(text)
        case (.array(let element), .array(let values)): values.allSatisfy(element.admits)
        default: false
        }
    }
}

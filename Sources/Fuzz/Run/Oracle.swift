import Capture
package import PhoneBridge

/// Decides what of a case is said of the side under test.
///
/// Rules of the contract that it broke, and the universal checks (fuzzing plan, "Universal checks"):
/// nothing else raises a finding.
enum Oracle {
    /// Rules about what a peer says of its own accord or of its own form: no input excuses a
    /// breach.
    private static let universal: Set<String> = [
        "one-effect", "queue-first-result", "outcome-first-result", "board-json",
        "board-error-json", "board-times", "result-error-structure", "result-id",
        "heartbeat-echo-id", "status-document", "queue-limit",
    ]

    /// Reactions to what the other end did: what it did may be the reason.
    private static let reactions: Set<String> = [
        "ws-fails-broken-frame", "ws-fails-invalid-text", "ws-close-answered",
        "ws-ping-answered", "ws-refuses-broken-handshake", "ws-board-ends-tcp", "ws-inflatable",
        "http-incomplete", "http-other-protocol",
    ]

    static func isUniversal(_ rule: String) -> Bool {
        if universal.contains(rule) { return true }
        return (rule.hasPrefix("http-") || rule.hasPrefix("ws-")) && !reactions.contains(rule)
    }

    /// Types of commands that wait for the phone's user at some time of a script: whoever leaves a
    /// prompt open cannot blame the app for the time that it takes.
    static func prompted(by script: FuzzScript, _ contract: Contract) -> Set<String> {
        var types: Set<String> = []
        for step in script.steps {
            guard case .state(let words) = step.action,
                case .permission(let permission, .pending)? = PhoneStateWord(parsing: words)
            else { continue }
            for type in contract.commands where type.permission == permission {
                types.insert(type.name)
            }
        }
        return types
    }

    private static func isExcused(_ breach: Breach, _ prompted: Set<String>) -> Bool {
        guard breach.rule.id == "result-in-time" || breach.rule.id == "command-answered" else {
            return false
        }
        return breach.command?.type.map(prompted.contains) ?? false
    }

    /// The observations of a case, each check once for each type of command.
    static func observations(
        _ breaches: [Breach], _ remarks: [ScriptRemark], profile: Profile,
        prompted: Set<String> = [], asksForOddCommands: Bool = false
    ) -> [Observation] {
        var seen: Set<String> = []
        var observations: [Observation] = []
        for breach in breaches where breach.knownDeviation == nil && !isExcused(breach, prompted) {
            if asksForOddCommands, OddCommands.rules.contains(breach.rule.id) { continue }
            let observation = Observation(
                check: breach.rule.id, rating: breach.rule.rating, section: breach.rule.section,
                demand: breach.rule.demand, text: breach.text, type: breach.command?.type,
                events: breach.events, isUniversal: isUniversal(breach.rule.id))
            guard seen.insert("\(observation.check) \(observation.type ?? "")").inserted else {
                continue
            }
            observations.append(observation)
        }
        for remark in remarks {
            guard seen.insert("\(remark.check.rawValue) \(remark.type ?? "")").inserted else {
                continue
            }
            observations.append(
                Observation(
                    check: remark.check.rawValue, rating: remark.check.rating,
                    section: remark.check.section,
                    demand: remark.check.demand, text: remark.text, type: remark.type,
                    isUniversal: true))
        }
        return observations
    }
}

extension ScriptRemark.Check {
    /// Where the demand stands.
    package var section: String {
        switch self {
        case .alive: "contract, \"Heartbeat\""
        case .bystander: "contract, \"Connection\""
        case .polls: "contract, \"Connection\""
        case .stimulusEnds: "contract, \"Timeout and Reconnection\""
        case .amplification: "RFC 9110 §17"
        }
    }

    /// How sure it is that a breach is a fault.
    package var rating: Rule.Rating { self == .polls ? .likely : .sure }

    /// What is demanded, as one sentence without a full stop.
    package var demand: String {
        switch self {
        case .alive: "Behind whatever was sent, a new connection is served and its heartbeat echoed"
        case .bystander: "Behind whatever was sent, the commands of others are still served"
        case .polls: "An app that polls the queue goes on doing so, whatever the answers were"
        case .stimulusEnds: "The board stops waiting for an answer after timeout_ms"
        case .amplification: "What a peer sends back is bounded by what it was sent"
        }
    }
}

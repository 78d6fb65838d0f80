package import Capture
package import PhoneBridge
package import Wire

/// A message of a live link, between an app and a board that are both there.
package struct LiveMessage: Sendable, Hashable {
    /// A command that has crossed the link.
    package struct Command: Sendable, Hashable {
        package var id: String
        package var type: String
        /// As it crossed.
        package var json: Bytes
        /// Milliseconds; nil where it is absent or no number.
        package var timeout: Int64?

        package init?(_ json: Bytes) {
            guard let view = JSONEdit.view(json, []), let id = view["id"]?.string,
                let type = view["type"]?.string
            else { return nil }
            self.id = id
            self.type = type
            self.json = json
            timeout = view["timeout_ms"]?.integer
        }
    }

    /// What it is for.
    package enum Sort: Sendable, Hashable {
        case heartbeat
        case event(String)
        case command(Command)
        /// An answer to that command.
        case answer(Command)
    }

    package let from: Side
    package let content: Bytes
    package let sort: Sort
    /// The query of its connection's handshake; empty for none.
    package var query = ""

    /// Reads a message; nil for one that belongs to nothing known.
    ///
    /// - Parameter command: the command of an id, as the board sent it.
    package init?(
        _ content: Bytes, from side: Side, contract: Contract, command: (String) -> Command?
    ) {
        guard let id = JSONEdit.view(content, ["id"])?.string else { return nil }
        from = side
        self.content = content
        switch side {
        case .app:
            if contract.isHeartbeat(id) {
                sort = .heartbeat
            } else if let event = contract.event(named: id) {
                sort = .event(event.name)
            } else if let known = command(id) {
                sort = .answer(known)
            } else {
                return nil
            }
        case .board:
            guard !contract.isHeartbeat(id), let known = Command(content) else { return nil }
            sort = .command(known)
        }
    }

    /// The class that it is counted in: who sends it and what it is, without ids and texts.
    package func kind(_ contract: Contract) -> String {
        func name(_ command: Command) -> String {
            contract.command(named: command.type)?.name ?? "unknown"
        }
        return switch sort {
        case .heartbeat: "heartbeat of the \(from.rawValue)"
        case .event(let name): "\(name) of the \(from.rawValue)"
        case .command(let command): "command \(name(command))"
        case .answer(let command): "answer to \(name(command))"
        }
    }

    private static let defaultTimeout = Contract.current.timing.defaultTimeoutMilliseconds

    /// How long the board waits for the command that it is about, in milliseconds; nil for none.
    var timeout: Int64? {
        switch sort {
        case .heartbeat, .event: nil
        case .command(let command), .answer(let command): command.timeout ?? Self.defaultTimeout
        }
    }
}

import PhoneBridge
package import Wire

/// A request to a board by HTTP: from a tool on its side, or from a phone that is no reference app
/// (board-http-facts, "Routes").
package enum BoardRequest: Sendable {
    case enqueue(BridgeCommand)
    /// An enqueue whose connection ends before its body does: white space is missing.
    case cutEnqueue(BridgeCommand)
    /// How a command of the queue stands.
    case query(String)
    case status
    /// A poll with these parameters, as a query writes them.
    case poll(String)
    case result(CommandResponse)

    /// Bytes of the body that are announced and never sent.
    package var missingCount: Int {
        if case .cutEnqueue = self { 10 } else { 0 }
    }

    /// The request as it is sent to `host`.
    package func message(to host: String) -> HTTPMessage {
        let paths = Contract.current.paths
        return switch self {
        case .enqueue(let command), .cutEnqueue(let command):
            post(paths.commands, .object([JSON.Member("command", command.json)]), to: host)
        case .query(let id):
            .request("GET", paths.results + "/" + PercentText.encode(id), host: host)
        case .status: .request("GET", paths.status, host: host)
        case .poll(let query): .request("GET", paths.commands + "?" + query, host: host)
        case .result(let response): post(paths.results, response.json, to: host)
        }
    }

    private func post(_ target: String, _ body: JSON, to host: String) -> HTTPMessage {
        let spaces = repeatElement(UInt8(ascii: " "), count: missingCount)
        return .request(
            "POST", target, host: host,
            fieldLines: [FieldLine("Content-Type", "application/json")],
            body: JSONText.encode(body) + spaces)
    }
}

import Wire

extension WebSocketConnectError {
    /// What went wrong, in a few words.
    package var text: String {
        switch self {
        case .connect(let error), .network(let error): "\(error)"
        case .http(let error): error.text
        case .refused(let response): "the answer is \(response.head.status ?? 0), not 101"
        case .violations(let violations):
            violations.first?.text ?? "the handshake breaks the protocol"
        }
    }
}

extension HTTPClientError {
    /// What went wrong, in a few words.
    package var text: String {
        switch self {
        case .timeout: "no answer came in time"
        case .closed: "the connection ended before the answer"
        case .notHTTP(let why): "the answer is not HTTP: \(why)"
        case .tooLarge(let limit): "the answer has more than \(limit) bytes"
        case .unexpectedSwitch: "the answer switches to another protocol"
        case .unsolicited: "bytes came that nobody asked for"
        }
    }
}

extension HTTPRequestError {
    /// What went wrong, in a few words.
    package var text: String {
        switch self {
        case .connect(let error): "no connection: \(error)"
        case .network(let error): "the connection broke: \(error)"
        case .http(let error): error.text
        }
    }
}

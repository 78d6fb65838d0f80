/// A rule of the opening handshake that a request or response breaks (RFC 6455 §4).
package enum HandshakeViolation: Hashable, Sendable {
    /// Not GET.
    case method(String)
    /// HTTP before 1.1.
    case httpVersion(String)
    /// No Host, or more than one.
    case host
    case upgradeMissing
    case connectionMissing
    case keyMissing
    case keyRepeated
    /// Not the base64 of 16 bytes.
    case keyMalformed(String)
    /// Not 13; empty where there is none.
    case version(String)
    /// Not 101.
    case status(Int)
    /// Not the hash of the key; empty where there is none.
    case accept(String, expected: String)
    case extensions(ExtensionAnswerError)
    /// Chosen by the server, and not offered or more than one.
    case subprotocol(String)

    /// Where the rule stands.
    package var section: String {
        switch self {
        case .extensions(.notOffered), .status, .accept, .subprotocol: "RFC 6455 §4.1"
        case .extensions(.malformed): "RFC 6455 §9.1"
        case .extensions: "RFC 7692 §7.1"
        default: "RFC 6455 §4.2.1"
        }
    }

    /// What is wrong, in a few words.
    package var text: String {
        switch self {
        case .method(let method): "the method is \"\(method)\", not GET"
        case .httpVersion(let version): "HTTP \(version) cannot upgrade; 1.1 can"
        case .host: "there must be one Host"
        case .upgradeMissing: "Upgrade does not name websocket"
        case .connectionMissing: "Connection does not name Upgrade"
        case .keyMissing: "Sec-WebSocket-Key is missing"
        case .keyRepeated: "there is more than one Sec-WebSocket-Key"
        case .keyMalformed(let key): "Sec-WebSocket-Key \"\(key)\" is not the base64 of 16 bytes"
        case .version(""): "Sec-WebSocket-Version is missing"
        case .version(let version): "Sec-WebSocket-Version is \"\(version)\", not 13"
        case .status(let code): "the status is \(code), not 101"
        case .accept("", _): "Sec-WebSocket-Accept is missing"
        case .accept(let found, let expected):
            "Sec-WebSocket-Accept is \"\(found)\", not \"\(expected)\""
        case .extensions(let error): error.text
        case .subprotocol(let name): "the subprotocol \"\(name)\" was not offered"
        }
    }
}

import PhoneBridge
import Wire

/// Bytes of requests and handshakes that are written as they are.
struct RawHTTP {
    let paths: Contract.Paths

    init(_ contract: Contract) { paths = contract.paths }

    /// A head with its empty line.
    func head(
        _ method: String, _ target: String, _ lines: [String] = [], version: String = "HTTP/1.1"
    ) -> Bytes {
        var text = "\(method) \(target) \(version)\r\nHost: 192.168.42.1:8080\r\n"
        for line in lines { text += line + "\r\n" }
        return Bytes((text + "\r\n").utf8)
    }

    /// A whole POST with a right Content-Length.
    func post(_ target: String, _ body: Bytes, _ lines: [String] = []) -> Bytes {
        head("POST", target, ["Content-Length: \(body.count)"] + lines) + body
    }

    /// A POST that puts a harmless command of this id into the queue.
    func enqueue(_ id: String) -> Bytes { post(paths.commands, command(id)) }

    /// The body of such a request.
    func command(_ id: String) -> Bytes {
        Bytes(#"{"command":{"id":\#(JSONEdit.quoted(id)),"type":"clipboard_read"}}"#.utf8)
    }

    /// The lines of a handshake in order.
    static let handshakeLines = [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// A handshake in order, with further lines.
    func handshake(_ more: [String] = []) -> Bytes {
        head("GET", paths.base + "?platform=ios&phone_id=p1", Self.handshakeLines + more)
    }

    /// A masked frame, as bytes.
    static func masked(_ opcode: Opcode, _ payload: Bytes) -> Bytes {
        Frame(opcode: opcode, maskingKey: MaskingKey(rawValue: 0x0102_0304), payload: payload)
            .encoded()
    }
}

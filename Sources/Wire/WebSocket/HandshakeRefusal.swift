/// How a server refuses a request to upgrade, in the board's manner (board facts,
/// "Handshake").
package struct HandshakeRefusal: Hashable, Sendable {
    /// 400, 403, 405 or 426.
    package var status: Int
    /// Fields that belong to the refusal, besides those of any error.
    package var fieldLines: [FieldLine]
    /// The body's text, with a line feed.
    package var text: String

    /// Looks at a request; nil where the upgrade can be accepted.
    ///
    /// Where several things are wrong the order is the board's: version of HTTP, Connection,
    /// Upgrade, method, version of WebSocket, key, origin.
    package init?(of request: HTTPHead) {
        for violation in WebSocketHandshake.violations(ofRequest: request) {
            guard let (status, fieldLines) = Self.answer(to: violation) else { continue }
            self.status = status
            self.fieldLines = fieldLines
            text = "WebSocket protocol violation: \(Self.words(for: violation, in: request))\n"
            return
        }
        guard let origin = request.fieldLines.first("Origin") else { return nil }
        let host = request.fieldLines.first("Host") ?? ""
        if let authority = Self.authority(of: origin), authority.equalsIgnoringCase(host) {
            return nil
        }
        status = 403
        fieldLines = []
        text = "request Origin \"\(origin)\" is not authorized for Host \"\(host)\"\n"
    }

    private static func answer(to violation: HandshakeViolation) -> (Int, [FieldLine])? {
        switch violation {
        // RFC 9110 asks for Upgrade and Allow (§15.5.22, §15.5.6), which the board leaves out to
        // HTTP/1.0 and with a 405.
        case .httpVersion, .connectionMissing, .upgradeMissing:
            (426, [FieldLine("Connection", "Upgrade"), FieldLine("Upgrade", "websocket")])
        case .method:
            (405, [FieldLine("Allow", "GET")])
        case .version:
            (400, [FieldLine("Sec-Websocket-Version", WebSocketHandshake.version)])
        case .host, .keyMissing, .keyRepeated, .keyMalformed:
            (400, [])
        case .extensions, .status, .accept, .subprotocol:
            // A malformed list of extensions is as good as none.
            nil
        }
    }

    /// The cause; in the board's own words where they are known.
    private static func words(
        for violation: HandshakeViolation, in request: HTTPHead
    ) -> String {
        func value(_ name: String) -> String {
            request.fieldLines.values(of: name).joined(separator: ", ")
        }
        return switch violation {
        case .connectionMissing:
            "Connection header \"\(value("Connection"))\" does not contain Upgrade"
        case .upgradeMissing:
            "Upgrade header \"\(value("Upgrade"))\" does not contain websocket"
        default: violation.text
        }
    }

    /// Host and port of an origin, as they would stand in Host (RFC 6454 §6.1).
    private static func authority(of origin: String) -> String? {
        let parts = origin.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty, parts[0].last == UInt8(ascii: ":") else {
            return nil
        }
        return String(Substring(parts[2]))
    }
}

/// The opening handshake of WebSocket (RFC 6455 §4), for either end and for readers.
package enum WebSocketHandshake {
    /// The version of the protocol that everybody speaks.
    package static let version = "13"

    /// What the server hashes behind the key (RFC 6455 §1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The value of `Sec-WebSocket-Accept` for a key, whatever it is.
    ///
    /// Nil only where libcrypto refuses SHA-1, as it may in a restricted configuration.
    package static func accept(for key: String) -> String? {
        sha1(Bytes((key + suffix).utf8)).map(base64)
    }

    /// A value for `Sec-WebSocket-Key` from 16 random bytes (RFC 6455 §4.1).
    package static func key(from random: Bytes) -> String {
        precondition(random.count == 16, "a key is 16 bytes")
        return base64(random)
    }

    private static func base64(_ bytes: Bytes) -> String {
        var text = Bytes()
        appendBase64(bytes.span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// A client's request to upgrade (RFC 6455 §4.1).
    ///
    /// `more` stands behind the fields of the handshake: an origin, a cookie, a user agent.
    package static func request(
        target: String, host: String, key: String, offers: [DeflateParameters] = [],
        subprotocols: [String] = [], more: [FieldLine] = []
    ) -> HTTPHead {
        var lines = [
            FieldLine("Host", host), FieldLine("Upgrade", "websocket"),
            FieldLine("Connection", "Upgrade"), FieldLine("Sec-WebSocket-Key", key),
            FieldLine("Sec-WebSocket-Version", version),
        ]
        if !subprotocols.isEmpty {
            lines.append(
                FieldLine("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
        }
        if !offers.isEmpty {
            lines.append(
                FieldLine("Sec-WebSocket-Extensions", ExtensionEntry.print(offers.map(\.entry))))
        }
        return HTTPHead(
            startLine: .request(method: "GET", target: target), fieldLines: lines + more)
    }

    /// A server's answer that upgrades, with the board's letter case (RFC 6455 §4.2.2; board
    /// facts, "Handshake").
    ///
    /// `more` stands behind the fields of the handshake: a date. Nil as with `accept`.
    package static func response(
        key: String, deflate: PerMessageDeflate?, more: [FieldLine] = []
    ) -> HTTPHead? {
        guard let accept = accept(for: key) else { return nil }
        var lines = [
            FieldLine("Connection", "Upgrade"), FieldLine("Upgrade", "websocket"),
            FieldLine("Sec-Websocket-Accept", accept),
        ]
        if let deflate {
            lines.append(FieldLine("Sec-Websocket-Extensions", deflate.entry.text))
        }
        return HTTPHead(
            startLine: .status(code: 101, reason: "Switching Protocols"), fieldLines: lines + more)
    }

    /// The value of `Sec-WebSocket-Extensions` in a head, several lines joined; nil without.
    package static func extensions(of head: HTTPHead) -> String? {
        let values = head.fieldLines.values(of: "Sec-WebSocket-Extensions")
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// What a server with this policy agrees on with the sender of a request; nil for nothing.
    package static func deflate(
        for request: HTTPHead, policy: DeflateServerPolicy
    ) -> PerMessageDeflate? {
        extensions(of: request).flatMap(ExtensionEntry.parse).flatMap(policy.agree)
    }

    /// What is wrong with a client's request to upgrade (RFC 6455 §4.1, §4.2.1).
    package static func violations(ofRequest head: HTTPHead) -> [HandshakeViolation] {
        var found: [HandshakeViolation] = []
        let lines = head.fieldLines
        if !head.isAtLeast11 { found.append(.httpVersion(head.version)) }
        if !lines.has(token: "upgrade", in: "Connection") { found.append(.connectionMissing) }
        if !lines.has(token: "websocket", in: "Upgrade") { found.append(.upgradeMissing) }
        if head.method != "GET" { found.append(.method(head.method ?? "")) }
        if lines.values(of: "Host").count != 1 { found.append(.host) }
        let versions = lines.values(of: "Sec-WebSocket-Version")
        if versions != [version] { found.append(.version(versions.joined(separator: ", "))) }
        let keys = lines.values(of: "Sec-WebSocket-Key")
        if let key = keys.first, keys.count == 1 {
            var bytes = Bytes()
            let text = Bytes(key.utf8)
            let isKey = (try? decodeBase64(text.span, into: &bytes)) != nil && bytes.count == 16
            if !isKey { found.append(.keyMalformed(key)) }
        } else {
            found.append(keys.isEmpty ? .keyMissing : .keyRepeated)
        }
        if let extensions = extensions(of: head), ExtensionEntry.parse(extensions) == nil {
            found.append(.extensions(.malformed(extensions)))
        }
        return found
    }

    /// What is wrong with a server's 101 answer to a request (RFC 6455 §4.1).
    package static func violations(
        ofResponse head: HTTPHead, to request: HTTPHead
    ) -> [HandshakeViolation] {
        var found: [HandshakeViolation] = []
        let lines = head.fieldLines
        if head.status != 101 { found.append(.status(head.status ?? 0)) }
        if !lines.has(token: "websocket", in: "Upgrade") { found.append(.upgradeMissing) }
        if !lines.has(token: "upgrade", in: "Connection") { found.append(.connectionMissing) }
        let accepts = lines.values(of: "Sec-WebSocket-Accept")
        let expected = accept(for: request.fieldLines.first("Sec-WebSocket-Key") ?? "")
        if let expected, accepts != [expected] {
            found.append(.accept(accepts.joined(separator: ", "), expected: expected))
        }
        let offered = request.fieldLines.members(of: "Sec-WebSocket-Protocol")
        let chosen = lines.values(of: "Sec-WebSocket-Protocol")
        if let subprotocol = chosen.first, chosen.count > 1 || !offered.contains(subprotocol) {
            found.append(.subprotocol(chosen.joined(separator: ", ")))
        }
        let offers = extensions(of: request).flatMap(ExtensionEntry.parse) ?? []
        if let answer = extensions(of: head),
            let error = extensionError(in: answer, offers: offers)
        {
            found.append(.extensions(error))
        }
        return found
    }

    private static func extensionError(
        in answer: String, offers: [ExtensionEntry]
    ) -> ExtensionAnswerError? {
        guard let entries = ExtensionEntry.parse(answer) else { return .malformed(answer) }
        for entry in entries where !offers.contains(where: { $0.name == entry.name }) {
            return .notOffered(entry.name)
        }
        // Other extensions that were offered and taken are nobody's business here.
        let deflate = entries.filter { $0.name.equalsIgnoringCase(PerMessageDeflate.name) }
        guard !deflate.isEmpty else { return nil }
        let parameters = offers.compactMap { offer in
            offer.name.equalsIgnoringCase(PerMessageDeflate.name)
                ? try? DeflateParameters(offer, in: .offer) : nil
        }
        do throws(ExtensionAnswerError) {
            _ = try PerMessageDeflate.agreed(
                answer: ExtensionEntry.print(deflate), offers: parameters)
            return nil
        } catch {
            return error
        }
    }
}

extension FieldLine {
    /// Whether the line has this name; names compare without case (RFC 9110 §5.1).
    package func isNamed(_ name: String) -> Bool {
        self.name.equalsIgnoringCase(name)
    }

    /// The members of a value that is a list, without what follows a `;` in each.
    ///
    /// Empty members are left out (RFC 9110 §5.6.1).
    package var tokens: [String] {
        members.compactMap { member in
            let token = member.utf8.prefix { $0 != HTTPByte.semicolon }
            let text = Self.trimmed(token)
            return text.isEmpty ? nil : text
        }
    }

    /// The members of a value that is a list, whole, without the white space around them.
    ///
    /// Commas within quoted strings do not separate (RFC 9110 §5.6.1, §5.6.4).
    package var members: [String] {
        var result: [String] = []
        let utf8 = value.utf8
        var start = utf8.startIndex
        var index = start
        var isQuoted = false
        while index < utf8.endIndex {
            switch utf8[index] {
            case HTTPByte.quote:
                isQuoted.toggle()
            case HTTPByte.backslash where isQuoted:
                // The byte behind it stands for itself.
                index = utf8.index(after: index)
                if index == utf8.endIndex { continue }
            case HTTPByte.comma where !isQuoted:
                let member = Self.trimmed(utf8[start..<index])
                if !member.isEmpty { result.append(member) }
                start = utf8.index(after: index)
            default:
                break
            }
            index = utf8.index(after: index)
        }
        let member = Self.trimmed(utf8[start...])
        if !member.isEmpty { result.append(member) }
        return result
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        var part = text
        while let byte = part.first, HTTPByte.isWhiteSpace(byte) { part.removeFirst() }
        while let byte = part.last, HTTPByte.isWhiteSpace(byte) { part.removeLast() }
        return String(Substring(part))
    }
}

extension [FieldLine] {
    /// The values of all lines with this name, in order.
    package func values(of name: String) -> [String] {
        compactMap { $0.isNamed(name) ? $0.value : nil }
    }

    /// The value of the first line with this name.
    package func first(_ name: String) -> String? {
        first { $0.isNamed(name) }?.value
    }

    /// Whether there is a line with this name.
    package func has(_ name: String) -> Bool {
        contains { $0.isNamed(name) }
    }

    /// The members of the list that all lines with this name make together (RFC 9110 §5.3).
    package func members(of name: String) -> [String] {
        flatMap { $0.isNamed(name) ? $0.members : [] }
    }

    /// Whether the list that all lines with this name make has `token`, in any case.
    package func has(token: String, in name: String) -> Bool {
        contains { line in
            // Most lists have one member, without anything around it.
            line.isNamed(name)
                && (line.value.equalsIgnoringCase(token)
                    || line.tokens.contains { $0.equalsIgnoringCase(token) })
        }
    }
}

extension HTTPHead {
    /// The request's method; nil on a response.
    package var method: String? {
        if case .request(let method, _) = startLine { method } else { nil }
    }

    /// The request's target as it crossed; nil on a response.
    package var target: String? {
        if case .request(_, let target) = startLine { target } else { nil }
    }

    /// The response's status code; nil on a request.
    package var status: Int? {
        if case .status(let code, _) = startLine { code } else { nil }
    }

    /// Whether the version is 1.1 or a later 1.x, which chunks, keeps alive and expects.
    package var isAtLeast11: Bool {
        guard version.utf8.starts(with: "1.".utf8) else { return false }
        return version != "1.0"
    }

    /// Whether the connection goes on behind this message, as far as its head says
    /// (RFC 9112 §9.3).
    package var keepsAlive: Bool {
        if fieldLines.has(token: "close", in: "Connection") { return false }
        return isAtLeast11 || fieldLines.has(token: "keep-alive", in: "Connection")
    }

    /// Whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
    package var expectsContinue: Bool {
        isAtLeast11 && fieldLines.has(token: "100-continue", in: "Expect")
    }

    /// Whether the request asks for WebSocket, however well (RFC 6455 §4.1).
    ///
    /// True when the lists of Upgrade and Connection name `websocket` and `upgrade`; method,
    /// version and key are for the handshake to judge.
    package var isUpgradeToWebSocket: Bool {
        method != nil && fieldLines.has(token: "websocket", in: "Upgrade")
            && fieldLines.has(token: "upgrade", in: "Connection")
    }

    /// Whether the response is the 101 that begins WebSocket (RFC 6455 §4.2.2).
    package var isSwitchToWebSocket: Bool {
        status == 101 && fieldLines.has(token: "websocket", in: "Upgrade")
    }
}

import Wire

/// What an HTTP request to the board asks for (board facts, "Routes").
package enum HTTPRoute: Sendable, Equatable {
    /// The upgrade to WebSocket.
    case connect
    case status
    case enqueue
    case poll
    case result
    /// A tool asks how a command ended; its id, percent-decoded.
    case query(id: String)

    /// The route of a request; nil for a path or method that the contract does not have.
    package init?(method: String, target: String, paths: Contract.Paths) {
        let path = RequestTarget.path(of: target)
        switch (method, path) {
        case ("GET", paths.base): self = .connect
        case ("GET", paths.status): self = .status
        case ("POST", paths.commands): self = .enqueue
        case ("GET", paths.commands): self = .poll
        case ("POST", paths.results): self = .result
        default:
            let prefix = paths.results + "/"
            guard method == "GET", path.hasPrefix(prefix) else { return nil }
            self = .query(
                id: RequestTarget.percentDecoded(
                    path.utf8.dropFirst(prefix.utf8.count), plusIsSpace: false))
        }
    }
}

/// The target of a request, in parts (RFC 9112 §3.2).
package struct RequestTarget: Sendable, Equatable {
    /// As it came, not percent-decoded.
    package let path: String
    /// The names and values of the query, decoded, in order.
    package let query: [(name: String, value: String)]

    /// Takes a target apart; scheme and authority of an absolute one are left out.
    package init(_ target: String) {
        let rest = Self.local(target)
        let queryStart = rest.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = String(rest[..<(queryStart ?? rest.endIndex)])
        guard let queryStart else {
            query = []
            return
        }
        query = rest[rest.utf8.index(after: queryStart)...].utf8
            .split(separator: UInt8(ascii: "&"))
            .map { pair in
                let equals = pair.firstIndex(of: UInt8(ascii: "="))
                let name = pair[..<(equals ?? pair.endIndex)]
                let value = equals.map { pair[pair.index(after: $0)...] } ?? pair[pair.endIndex...]
                return (
                    Self.percentDecoded(name, plusIsSpace: true),
                    Self.percentDecoded(value, plusIsSpace: true)
                )
            }
    }

    /// `path` of a target, without the work that its query is.
    static func path(of target: String) -> String {
        let rest = local(target)
        guard let queryStart = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return String(rest)
        }
        return String(rest[..<queryStart])
    }

    /// The target without scheme and authority.
    private static func local(_ target: String) -> Substring {
        let rest = Substring(target)
        guard rest.utf8.first != UInt8(ascii: "/"), let scheme = rest.firstRange(of: "://") else {
            return rest
        }
        let authority = rest[scheme.upperBound...]
        return authority.firstIndex { $0 == "/" || $0 == "?" }.map { authority[$0...] } ?? "/"
    }

    /// The value of the first parameter with this name, as Go's `Query().Get` takes it.
    package subscript(name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    package static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        left.path == right.path
            && left.query.elementsEqual(right.query) { $0.name == $1.name && $0.value == $1.value }
    }

    /// `text` with its percent escapes decoded; broken escapes stay as they are, and what is
    /// not UTF-8 shows U+FFFD.
    package static func percentDecoded(
        _ text: some Collection<UInt8>, plusIsSpace: Bool
    ) -> String {
        guard
            text.contains(where: {
                $0 == UInt8(ascii: "%") || ($0 == UInt8(ascii: "+") && plusIsSpace)
            })
        else { return String(decoding: text, as: UTF8.self) }
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(hexDigitValue),
                let low = rest.dropFirst().first.flatMap(hexDigitValue)
            {
                decoded.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                decoded.append(UInt8(ascii: " "))
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}

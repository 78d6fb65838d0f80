package import Wire

/// Decides whether a request may see a session: pure, for the server that carries it out.
///
/// A page of another site can make a browser send anything to this machine, and a name of its own
/// can lead there. So a request has to have the token, which only who was given the address has; to
/// name this machine by an address or as localhost, never by a name that somebody else can point
/// here; and, where it says which page it comes from, to come from a page of this very server.
package struct PageAccess: Sendable {
    /// What a request asks for.
    package enum Place: Hashable, Sendable {
        case page
        /// The records of a session from an offset on, over a WebSocket.
        case live(session: Int, from: UInt64)
        /// A block of a session's events.
        case events(session: Int, block: Int)
        /// Two sessions side by side.
        case comparison(first: Int, second: Int)
        /// The figures, for Prometheus.
        case metrics
    }

    /// Why it may not be answered.
    package struct Refusal: Error, Hashable, Sendable {
        package var status: Int
        package var text: String
    }

    /// What has to stand in the path.
    private let token: String

    /// Makes the guard of a server whose pages have `token` in their path.
    package init(token: String) {
        self.token = token
    }

    /// The path of the page.
    package var path: String { "/\(token)/" }

    /// Judges a request.
    package func place(of request: HTTPHead) throws(Refusal) -> Place {
        let fields = request.fieldLines
        let hosts = fields.values(of: "Host")
        guard hosts.count == 1, let host = hosts.first, Self.isHere(host) else {
            throw Refusal(status: 421, text: "this server is asked by its address alone")
        }
        for origin in fields.values(of: "Origin") where origin != "http://\(host)" {
            throw Refusal(status: 403, text: "another page may not ask this server")
        }
        guard request.method == "GET" else {
            throw Refusal(status: 405, text: "there is nothing to change here")
        }
        let target = request.target ?? ""
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let words = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
            .map(String.init)
        // Programs that collect figures have the token in a header field.
        if words == ["", "metrics"], let field = fields.first("Authorization"),
            Self.isEqual(field, "Bearer \(token)")
        {
            return .metrics
        }
        guard words.count > 2, words[0].isEmpty, Self.isEqual(words[1], token) else {
            throw Refusal(
                status: 403,
                text: "the address has to be the one that bridgetap printed, token and all")
        }
        let query = parts.count > 1 ? String(parts[1]) : ""
        guard let place = Self.place(Array(words[2...]), query) else {
            throw Refusal(status: 404, text: "there is no such thing here")
        }
        // Browsers say it of every request. A link in another page may lead to the page itself.
        if let site = fields.first("Sec-Fetch-Site"), place != .page,
            !["same-origin", "none"].contains(site)
        {
            throw Refusal(status: 403, text: "another page may not ask this server")
        }
        return place
    }

    private static func place(_ words: [String], _ query: String) -> Place? {
        if words == [""] { return .page }
        if words == ["metrics"] { return .metrics }
        if words.count == 3, words[0] == "compare", let first = Int(words[1]),
            let second = Int(words[2])
        {
            return .comparison(first: first, second: second)
        }
        guard words.count >= 3, words[0] == "s", let session = Int(words[1]) else { return nil }
        if words.count == 3, words[2] == "live" {
            guard query.hasPrefix("from="), let from = UInt64(query.dropFirst(5)) else {
                return nil
            }
            return .live(session: session, from: from)
        }
        guard words.count == 4, words[2] == "events", let block = Int(words[3]) else { return nil }
        return .events(session: session, block: block)
    }

    /// Whether a Host names this machine in a way that no foreign name server can: as localhost, or
    /// by an address.
    private static func isHere(_ host: String) -> Bool {
        var name = Substring(host)
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return false }
            let rest = name[name.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") && isPort(rest.dropFirst()) else {
                return false
            }
            return name[name.index(after: name.startIndex)..<end].utf8.allSatisfy {
                ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x66) || ($0 >= 0x30 && $0 <= 0x3a)
                    || $0 == UInt8(ascii: ".")
            }
        }
        if let colon = name.firstIndex(of: ":") {
            guard isPort(name[name.index(after: colon)...]) else { return false }
            name = name[..<colon]
        }
        // In any case: no other byte than the two of a letter becomes it.
        if name.utf8.map({ $0 | 0x20 }) == Bytes("localhost".utf8) { return true }
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { number in
                number.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && UInt8(number) != nil
            }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && UInt16(text) != nil
    }

    /// Compares without telling by the time it takes how much is right.
    private static func isEqual(_ given: String, _ wanted: String) -> Bool {
        let given = Bytes(given.utf8)
        let wanted = Bytes(wanted.utf8)
        var difference: UInt8 = given.count == wanted.count ? 0 : 1
        for (index, byte) in given.enumerated() where !wanted.isEmpty {
            difference |= byte ^ wanted[index % wanted.count]
        }
        return difference == 0
    }
}

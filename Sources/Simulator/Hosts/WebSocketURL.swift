package import Network
import Wire

/// A `ws://host:port/path?query`.
package struct WebSocketURL: Sendable, Equatable {
    package var endpoint: Endpoint
    /// Begins with a slash; `/` without one.
    package var path: String
    /// Behind the `?`; nil without one.
    package var query: String?

    /// Why a text is no such URL.
    package enum ParseError: Error, Equatable, Sendable, CustomStringConvertible {
        /// Something else than `ws`, which is all that the link speaks.
        case scheme(String)
        case endpoint(EndpointError)

        /// What is wrong, in words.
        package var description: String {
            switch self {
            case .scheme(let text): "\"\(text)\" does not begin with ws://"
            case .endpoint(let error): error.description
            }
        }
    }

    /// Parses a URL; without a port it is 80 (RFC 6455 §3).
    package init(parsing text: String) throws(ParseError) {
        let prefix = "ws://"
        guard text.lowercased().hasPrefix(prefix) else { throw .scheme(text) }
        let rest = text.dropFirst(prefix.count)
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" }
        do {
            endpoint = try Endpoint(
                parsing: String(rest[..<(authorityEnd ?? rest.endIndex)]), defaultPort: 80)
        } catch {
            throw .endpoint(error)
        }
        let target = RequestTarget(String(rest[(authorityEnd ?? rest.endIndex)...]))
        let path = target.path.text
        self.path = path.isEmpty ? "/" : path
        query = target.query
    }

    /// The target of a request for it, with further query fields behind its own.
    package func target(adding fields: String = "") -> String {
        let parts = [query ?? "", fields].filter { !$0.isEmpty }
        return parts.isEmpty ? path : path + "?" + parts.joined(separator: "&")
    }
}

extension AppOptions {
    /// Takes path, platform, phone_id and whatever else a board's URL says; `/` says nothing.
    package mutating func apply(_ url: WebSocketURL) {
        if url.path != "/" { basePath = url.path }
        var others: [String] = []
        for item in RequestTarget("/?" + (url.query ?? "")).queryItems {
            let value = item.value?.decoded ?? ""
            switch item.name.decoded {
            case "platform":
                if let known = Platform(rawValue: value.lowercased()) {
                    platform = known
                } else {
                    others.append(item.text)
                }
            case "phone_id": phoneID = value
            default: others.append(item.text)
            }
        }
        extraQuery = others.joined(separator: "&")
    }
}

extension RequestTarget.QueryItem {
    /// The item as it stands in a query.
    fileprivate var text: String { value.map { name.text + "=" + $0.text } ?? name.text }
}

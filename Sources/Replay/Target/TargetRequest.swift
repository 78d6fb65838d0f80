package import Network
package import Wire

/// A request that moves the target, as `METHOD URL [BODY]` says it.
package struct TargetRequest: Sendable, Equatable {
    package let method: String
    private let url: TargetTemplate
    private let body: TargetTemplate

    /// Reads `POST http://127.0.0.1:{port}/simulate/command {command}`.
    ///
    /// - Parameter needed: the place for what is asked for; a text without a body gets it as its
    ///   body.
    /// - Throws: where the text is no request, or has not got the place that is needed.
    package init(parsing text: String, needed: TargetPlace) throws(TargetTextError) {
        var rest = text[...].drop { $0 == " " }
        guard let method = Self.method(of: rest) else { throw .noRequest(text) }
        self.method = String(method)
        rest = rest[method.endIndex...].drop { $0 == " " }
        let address = rest.prefix { !$0.isWhitespace }
        let body = rest[address.endIndex...].drop { $0.isWhitespace }

        // A board is made to send a command, an app brought into a state.
        let known = needed == .state ? TargetPlace.ofApp : TargetPlace.general
        url = try TargetTemplate(
            parsing: String(address), known: needed == .state ? known.union([.state]) : known)
        // Filled with anything, to see now whether it will do.
        let sample = TargetValues(port: 1, control: 1, folder: "x")
        do throws(TargetTextError) {
            _ = try Self.split(url.filled(with: sample, encode: Self.encode))
        } catch {
            switch error {
            case .scheme: throw .scheme(url.source)
            case .url(_, let why): throw .url(url.source, why: why)
            case .empty, .unknownPlace, .missing, .noRequest: throw error
            }
        }
        let isInURL = url.places.contains(needed)
        if body.isEmpty {
            self.body = try TargetTemplate(
                parsing: isInURL ? "" : "{\(needed.rawValue)}", known: [needed])
        } else {
            self.body = try TargetTemplate(
                parsing: String(body), known: known.union([needed]))
            guard isInURL || self.body.places.contains(needed) else { throw .missing(needed) }
        }
    }

    /// Whether a text is meant as a request, and not as a command line: it begins with a method
    /// and a URL.
    package static func isMeant(by text: String) -> Bool {
        let rest = text[...].drop { $0 == " " }
        guard let method = method(of: rest) else { return false }
        return rest[method.endIndex...].drop { $0 == " " }.prefix { !$0.isWhitespace }
            .contains("://")
    }

    /// The places that it has.
    package var places: Set<TargetPlace> { url.places.union(body.places) }

    /// The request for these values, and where it goes.
    package func message(
        with values: TargetValues
    ) throws(TargetTextError) -> (Endpoint, HTTPMessage) {
        let (endpoint, target) = try Self.split(url.filled(with: values, encode: Self.encode))
        let body = Bytes(body.filled(with: values).utf8)
        return (endpoint, Self.message(method, target, to: endpoint, body: body))
    }

    /// A request with a body whose type is seen from its first character.
    static func message(
        _ method: String, _ target: String, to endpoint: Endpoint, body: Bytes
    ) -> HTTPMessage {
        var lines: [FieldLine] = []
        if let first = body.first {
            let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            let type = isJSON ? "application/json" : "text/plain; charset=utf-8"
            lines.append(FieldLine("Content-Type", type))
        }
        return .request(
            method, target, host: endpoint.description, fieldLines: lines, body: body)
    }

    private static func method(of text: Substring) -> Substring? {
        let word = text.prefix { ("A"..."Z").contains($0) }
        guard (1...20).contains(word.count), text[word.endIndex...].first == " " else { return nil }
        return word
    }

    private static func encode(_ value: String) -> String { PercentText.encode(value) }

    /// The server of a URL and the target of a request for it (RFC 9112 §3.2.1).
    private static func split(
        _ url: String
    ) throws(TargetTextError) -> (Endpoint, target: String) {
        let prefix = "http://"
        guard url.lowercased().hasPrefix(prefix) else { throw .scheme(url) }
        let rest = url.dropFirst(prefix.count).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(parsing: String(authority), defaultPort: 80)
        } catch {
            throw .url(url, why: error.description)
        }
        var target = String(rest[authority.endIndex...])
        if !target.hasPrefix("/") { target = "/" + target }
        guard target.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .url(url, why: "other characters than those of ASCII are written as %XX in a URL")
        }
        return (endpoint, target)
    }
}

import Wire

/// What a request's path means to the board (board-http-facts, "Routes").
enum BoardRoute: Equatable {
    /// The WebSocket's route.
    case link
    case status
    case commands
    case results
    case result(CommandID)
    /// The reference board's own: sends a command over the WebSocket.
    case simulate
    /// The same path without doubled slashes and dots.
    case redirect(to: String)
    case unknown

    init(_ target: RequestTarget) {
        let path = target.path.text
        let clean = Self.clean(path)
        if clean != path {
            self = .redirect(to: clean + (target.query.map { "?" + $0 } ?? ""))
            return
        }
        switch clean {
        case "/api/phone-bridge": self = .link
        case "/api/phone-bridge/status": self = .status
        case "/api/phone-bridge/commands": self = .commands
        case "/api/phone-bridge/results": self = .results
        case "/simulate/command": self = .simulate
        default:
            let prefix = "/api/phone-bridge/results/"
            guard clean.utf8.starts(with: prefix.utf8) else {
                self = .unknown
                return
            }
            let rest = Substring(clean.utf8.dropFirst(prefix.utf8.count))
            self = .result(CommandID(percentEncoded: PercentText(rest)))
        }
    }

    /// A path without doubled slashes, `.` and `..`, keeping a slash at the end.
    private static func clean(_ path: String) -> String {
        // Most are clean.
        var isBehindSlash = false
        let isOdd = path.utf8.contains { byte in
            defer { isBehindSlash = byte == UInt8(ascii: "/") }
            return isBehindSlash && (byte == UInt8(ascii: "/") || byte == UInt8(ascii: "."))
        }
        if !isOdd, path.utf8.first == UInt8(ascii: "/") { return path }
        var kept: [Substring.UTF8View] = []
        for segment in path[...].utf8.split(separator: UInt8(ascii: "/")) {
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
            } else if !segment.elementsEqual(".".utf8) {
                kept.append(segment)
            }
        }
        var clean = Bytes()
        for segment in kept {
            clean.append(UInt8(ascii: "/"))
            clean += segment
        }
        if clean.isEmpty || path.utf8.last == UInt8(ascii: "/") { clean.append(UInt8(ascii: "/")) }
        return String(decoding: clean, as: UTF8.self)
    }
}

/// The board's responses (board-http-facts, "HTTP basics" and "Status codes").
extension HTTPMessage {
    /// One JSON object and a line feed.
    static func json(_ status: Int, _ value: JSON) -> HTTPMessage {
        .response(
            status, fieldLines: [FieldLine("Content-Type", "application/json")],
            body: JSONText.encode(value) + Bytes("\n".utf8))
    }

    /// Plain text and a line feed.
    static func text(_ status: Int, _ text: String) -> HTTPMessage {
        .response(
            status,
            fieldLines: [
                FieldLine("Content-Type", "text/plain; charset=utf-8"),
                FieldLine("X-Content-Type-Options", "nosniff"),
            ],
            body: Bytes(text.utf8) + Bytes("\n".utf8))
    }

    /// The text `{"error":"…"}` and a line feed, with the type of plain text.
    static func error(
        _ status: Int, _ message: String, isEscaped: Bool = true
    ) -> HTTPMessage {
        let object: Bytes
        if isEscaped {
            object = JSONText.encode(.object([JSON.Member("error", .string(message))]))
        } else {
            // Defect B32.
            object = Bytes("{\"error\":\"\(message)\"}".utf8)
        }
        return text(status, String(decoding: object, as: UTF8.self))
    }

    /// The refusal of a handshake.
    static func refusal(_ refusal: HandshakeRefusal) -> HTTPMessage {
        .response(
            refusal.status,
            fieldLines: refusal.fieldLines + [
                FieldLine("Content-Type", "text/plain; charset=utf-8"),
                FieldLine("X-Content-Type-Options", "nosniff"),
            ], body: Bytes(refusal.text.utf8))
    }

    static func badRequest(_ message: String) -> HTTPMessage {
        .error(400, message)
    }

    static func invalidRequest(_ error: FieldError) -> HTTPMessage {
        .badRequest("Invalid request: " + error.message)
    }

    static let notFound = HTTPMessage.text(404, "404 page not found")
    /// The methods that are allowed stand in `Allow`, which RFC 9110 §15.5.6 asks for and the
    /// observed board leaves out.
    static func methodNotAllowed(_ allowed: String, isPlain: Bool = false) -> HTTPMessage {
        let words = "Method not allowed"
        var response = isPlain ? HTTPMessage.text(405, words) : .error(405, words)
        response.head.fieldLines.append(FieldLine("Allow", allowed))
        return response
    }

    /// A redirect to a path of this board.
    static func redirect(to location: String, method: String) -> HTTPMessage {
        var response = HTTPMessage.response(
            307, fieldLines: [FieldLine("Location", location)], body: [])
        guard method == "GET" || method == "HEAD" else { return response }
        response.head.fieldLines.insert(
            FieldLine("Content-Type", "text/html; charset=utf-8"), at: 0)
        var escaped = ""
        for scalar in location.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&#34;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        response.body = Bytes("<a href=\"\(escaped)\">Temporary Redirect</a>.\n\n".utf8)
        return response
    }
}

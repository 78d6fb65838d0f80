/// A whole HTTP message: what one side sends is the type that the other receives.
package struct HTTPMessage: Hashable, Sendable {
    package var head: HTTPHead
    /// The body without chunk lines, whatever its framing.
    package var body: Bytes
    /// Field lines behind the last chunk.
    package var trailers: [FieldLine]

    package init(head: HTTPHead, body: Bytes = [], trailers: [FieldLine] = []) {
        self.head = head
        self.body = body
        self.trailers = trailers
    }

    /// Makes a request; Host is the first field line where one is given (RFC 9112 §3.2).
    package static func request(
        _ method: String, _ target: String, host: String? = nil, fieldLines: [FieldLine] = [],
        body: Bytes = []
    ) -> HTTPMessage {
        let host = host.map { [FieldLine("Host", $0)] } ?? []
        return HTTPMessage(
            head: HTTPHead(
                startLine: .request(method: method, target: target), fieldLines: host + fieldLines),
            body: body)
    }

    /// Makes a response; the reason is the registered one unless given.
    package static func response(
        _ status: Int, reason: String? = nil, fieldLines: [FieldLine] = [], body: Bytes = []
    ) -> HTTPMessage {
        HTTPMessage(
            head: HTTPHead(
                startLine: .status(
                    code: status, reason: reason ?? HTTPStatus.reason(of: status)),
                fieldLines: fieldLines),
            body: body)
    }

    /// Makes a response of plain text that ends in a line feed.
    package static func plainText(_ status: Int, _ text: String) -> HTTPMessage {
        .response(
            status, fieldLines: [FieldLine("Content-Type", "text/plain; charset=utf-8")],
            body: Bytes(text.utf8) + [HTTPByte.lineFeed])
    }
}

/// Status codes and the phrases registered for them (RFC 9110 §15).
package enum HTTPStatus {
    /// The phrase of a code; empty for one that is not registered.
    package static func reason(of code: Int) -> String {
        reasons[code] ?? ""
    }

    /// Whether a phrase is one that is registered, or was in RFC 2616.
    package static func isRegistered(_ phrase: String) -> Bool { phrases.contains(phrase) }

    private static let phrases = Set(reasons.values).union([
        "Moved Temporarily", "Request Time-out", "Request Entity Too Large",
        "Request-URI Too Large", "Requested Range Not Satisfiable", "Gateway Time-out",
        "Payload Too Large", "Unprocessable Entity",
    ])

    private static let reasons: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information",
        204: "No Content", 205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
        404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}

extension HTTPMessage {
    /// The request's bytes, in the framing that its head declares (RFC 9112 §6).
    ///
    /// A body goes out chunked where Transfer-Encoding says so. Where the head declares no
    /// framing, Content-Length is added if there is a body, or the method usually has one
    /// (RFC 9110 §8.6). A head with `raw` goes out as it is, and the body behind it.
    package func encodedRequest() -> (head: Bytes, body: Bytes) {
        var head = head
        var declaresChunked = false
        if head.raw == nil {
            if head.fieldLines.has("Transfer-Encoding") {
                declaresChunked = head.fieldLines.has(token: "chunked", in: "Transfer-Encoding")
            } else if !head.fieldLines.has("Content-Length"),
                !body.isEmpty || ["POST", "PUT", "PATCH"].contains(head.method)
            {
                head.fieldLines.append(FieldLine("Content-Length", String(body.count)))
            }
        }
        var headBytes = Bytes()
        head.encode(into: &headBytes)
        guard declaresChunked else { return (headBytes, body) }
        var bodyBytes = Bytes()
        HTTPEncoder.encodeChunked(body, trailers: trailers, into: &bodyBytes)
        return (headBytes, bodyBytes)
    }

    /// The response's bytes as the answer to `request`, and whether the connection goes on.
    ///
    /// Adds what the head leaves open (RFC 9112 §6, §9.3): Content-Length for bodies of up to
    /// `maximumPlainBody` bytes; chunks above, or the end of the connection to a client of
    /// HTTP/1.0, which is answered in kind; `Connection` where the default does not hold. HEAD,
    /// 204 and 304 get no body. A head that declares its framing keeps it; one with `raw` goes
    /// out as it is, and the body behind it.
    package func encodedResponse(
        to request: HTTPHead, mayKeepAlive: Bool = true, maximumPlainBody: Int
    ) -> (bytes: Bytes, keepsAlive: Bool) {
        var head = head
        var keepsAlive = mayKeepAlive && request.keepsAlive
        if head.fieldLines.has(token: "close", in: "Connection") { keepsAlive = false }
        var isChunked = false
        if head.raw == nil {
            head.version = request.isAtLeast11 ? "1.1" : "1.0"
            let fields = head.fieldLines
            if fields.has("Transfer-Encoding") {
                isChunked = fields.has(token: "chunked", in: "Transfer-Encoding")
            } else if !fields.has("Content-Length"), !Self.hasNoLength(head.status) {
                if body.count <= maximumPlainBody, trailers.isEmpty {
                    head.fieldLines.append(FieldLine("Content-Length", String(body.count)))
                } else if request.isAtLeast11 {
                    head.fieldLines.append(FieldLine("Transfer-Encoding", "chunked"))
                    isChunked = true
                } else {
                    keepsAlive = false
                }
            }
            if !fields.has("Connection") {
                if !keepsAlive {
                    head.fieldLines.append(FieldLine("Connection", "close"))
                } else if !request.isAtLeast11 {
                    head.fieldLines.append(FieldLine("Connection", "keep-alive"))
                }
            }
        }
        if BodyFraming(ofResponse: head, to: request.method ?? "") == .close { keepsAlive = false }
        var bytes = Bytes()
        bytes.reserveCapacity(512 + body.count)
        head.encode(into: &bytes)
        if request.method == "HEAD" || (Self.hasNoLength(head.status) && head.raw == nil) {
            return (bytes, keepsAlive)
        }
        if isChunked {
            HTTPEncoder.encodeChunked(body, trailers: trailers, into: &bytes)
        } else {
            bytes.append(contentsOf: body)
        }
        return (bytes, keepsAlive)
    }

    /// Whether a status never has a body, and no Content-Length of its own (RFC 9110 §8.6).
    private static func hasNoLength(_ status: Int?) -> Bool {
        guard let status else { return false }
        return (100...199).contains(status) || status == 204 || status == 304
    }
}

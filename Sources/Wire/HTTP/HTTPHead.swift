/// One field line of a head or trailer section, in wire order and case (RFC 9112 §5).
package struct FieldLine: Hashable, Sendable {
    package var name: String
    /// Without the white space around it; what is not UTF-8 shows U+FFFD.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The first line of an HTTP message (RFC 9112 §2.1).
package enum StartLine: Hashable, Sendable {
    /// `method target HTTP/version`.
    case request(method: String, target: String)
    /// `HTTP/version status reason`.
    case status(code: Int, reason: String)
}

/// The head of an HTTP/1 message: start line and field lines (RFC 9112 §2).
package struct HTTPHead: Hashable, Sendable {
    package var startLine: StartLine
    /// The digits behind `HTTP/`, such as `1.1`.
    package var version: String
    package var fieldLines: [FieldLine]
    /// The exact bytes of the head with its closing empty line; nil where they are what
    /// the canonical encoding gives.
    package var raw: Bytes?

    package init(
        startLine: StartLine, version: String = "1.1", fieldLines: [FieldLine] = [],
        raw: Bytes? = nil
    ) {
        self.startLine = startLine
        self.version = version
        self.fieldLines = fieldLines
        self.raw = raw
    }
}

/// How the end of a message's body is found (RFC 9112 §6).
package enum BodyFraming: Hashable, Sendable {
    /// No body can follow: a request without a length, HEAD, 1xx, 204, 304, a tunnel.
    case none
    /// As many bytes as Content-Length says.
    case length(UInt64)
    case chunked
    /// Until the sender closes: a response without a length, or any message whose head
    /// contradicts itself on its length.
    case close
}

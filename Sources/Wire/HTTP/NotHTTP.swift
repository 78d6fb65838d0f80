/// Names for bytes that stand where an HTTP message should begin and are not one.
enum NotHTTP {
    /// How many bytes of a line tell what it is, by its first one.
    static func bytesToTell(first: UInt8) -> Int {
        switch first {
        case 0x15, 0x16: 2
        case 0x00, 0x53: 4
        default: 1
        }
    }

    /// What a line is whose first word showed that it is no start line.
    ///
    /// Looks at no byte behind `refusedAt` and the ones that `bytesToTell` asks for.
    static func name(
        _ bytes: Span<UInt8>, _ line: Range<Int>, refusedAt: Int, _ role: HTTPDecoder.Role
    ) -> String {
        let first = bytes[line.lowerBound]
        let start = line.lowerBound
        switch first {
        case 0x16 where bytes[start + 1] == 3: return "a TLS handshake"
        case 0x15 where bytes[start + 1] == 3: return "a TLS alert"
        // A frame's header: three bytes of length, then the type, 4 for SETTINGS
        // (RFC 9113 §3.4, §4.1).
        case 0x00 where bytes[start + 3] == 4: return "an HTTP/2 frame"
        case 0x53 where begins(bytes, line, with: "SSH-"): return "an SSH banner"
        case 0x7b, 0x5b: return "JSON without an HTTP \(role.message)"
        case 0x3c: return "markup without an HTTP \(role.message)"
        case 0x80...0x82, 0x88...0x8a, 0xc1, 0xc2:
            return "perhaps a WebSocket frame, no HTTP \(role.message)"
        default: break
        }
        if role == .requests, refusedAt == 4, begins(bytes, line, with: "HTTP/") {
            return "an HTTP response where a request belongs"
        }
        return "bytes that no HTTP \(role.message) begins with"
    }

    /// What a whole first line is that is no start line.
    static func name(
        _ bytes: Span<UInt8>, line: Range<Int>, _ role: HTTPDecoder.Role
    ) -> String {
        if begins(bytes, line, with: "SSH-") { return "an SSH banner" }
        return switch role {
        case .requests: "a line that is no HTTP request line"
        case .responses: "a line that is no HTTP status line"
        }
    }

    private static func begins(
        _ bytes: Span<UInt8>, _ line: Range<Int>, with text: String
    ) -> Bool {
        guard line.count >= text.utf8.count else { return false }
        var offset = line.lowerBound
        for byte in text.utf8 {
            guard bytes[offset] == byte else { return false }
            offset += 1
        }
        return true
    }
}

extension HTTPDecoder.Role {
    /// The word for its messages.
    fileprivate var message: String {
        switch self {
        case .requests: "request"
        case .responses: "response"
        }
    }
}

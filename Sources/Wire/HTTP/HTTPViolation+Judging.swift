extension HTTPViolation {
    /// What is wrong with a head, taken alone or as the answer to `request`.
    package static func judge(_ head: HTTPHead, to request: HTTPHead? = nil) -> [HTTPViolation] {
        var found: [HTTPViolation] = []
        if let raw = head.raw { judgeLines(of: head, raw, &found) }
        judgeStartLine(head, &found)
        if let first = head.fieldLines.first?.name.utf8.first, HTTPByte.isWhiteSpace(first) {
            found.append(HTTPViolation(.spaceBeforeFirstField))
        }
        for line in head.fieldLines { judge(line, &found) }
        judgeFraming(head, request, &found)
        let fields = head.fieldLines
        if fields.has("Upgrade"), !fields.has(token: "upgrade", in: "Connection") {
            found.append(HTTPViolation(.upgradeWithoutConnection))
        }
        switch head.startLine {
        case .request: judgeHost(head, &found)
        case .status(let code, _):
            if code == 101 || code == 426, !fields.has("Upgrade") {
                found.append(HTTPViolation(.missingUpgrade, String(code)))
            }
            if code == 405, !fields.has("Allow") { found.append(HTTPViolation(.missingAllow)) }
            if code == 401, !fields.has("WWW-Authenticate") {
                found.append(HTTPViolation(.missingChallenge))
            }
            if (100...199).contains(code), let request, request.version == "1.0" {
                found.append(HTTPViolation(.interimToOldVersion, String(code)))
            }
        }
        return found
    }

    /// What is wrong with a chunk line as the decoder gives it.
    package static func judge(chunkLine line: Bytes, isFirst: Bool) -> [HTTPViolation] {
        var found: [HTTPViolation] = []
        var rest = line[...]
        if !isFirst { judgeLineEnd(takeLine(&rest), &found) }
        let content = judgeLineEnd(takeLine(&rest), &found)
        let digits = content.prefix { HTTPByte.hexValue($0) != nil }
        if !hasChunkExtensionForm(content[digits.endIndex...]) {
            found.append(HTTPViolation(.chunkLineForm, String(decoding: content, as: UTF8.self)))
        }
        return found
    }

    /// What is wrong with a trailer section.
    package static func judge(trailers: [FieldLine], raw: Bytes?) -> [HTTPViolation] {
        var found: [HTTPViolation] = []
        if let raw {
            var rest = raw[...]
            judgeFieldLines(&rest, &found)
        }
        for line in trailers {
            judge(line, &found)
            if forbiddenTrailers.contains(where: { line.isNamed($0) }) {
                found.append(HTTPViolation(.forbiddenTrailer, line.name))
            }
        }
        return found
    }

    /// Fields that frame or route a message, or change how it is read (RFC 9110 §6.5.1).
    private static let forbiddenTrailers = [
        "Transfer-Encoding", "Content-Length", "Host", "Connection", "Upgrade", "Trailer", "TE",
        "Content-Encoding", "Content-Type", "Content-Range", "Authorization", "Set-Cookie",
        "Cache-Control", "Expect", "Max-Forwards",
    ]

    // MARK: Lines

    /// Judges what only the exact bytes of a head show.
    private static func judgeLines(
        of head: HTTPHead, _ raw: Bytes, _ found: inout [HTTPViolation]
    ) {
        var rest = raw[...]
        var line = takeLine(&rest)
        while let first = line.first,
            first == HTTPByte.lineFeed || line.elementsEqual([0x0d, 0x0a])
        {
            add(.emptyLineBeforeStart, &found)
            line = takeLine(&rest)
        }
        let content = judgeLineEnd(line, &found)
        if !content.elementsEqual(canonicalStartLine(head)) {
            found.append(HTTPViolation(.startLineForm, String(decoding: content, as: UTF8.self)))
        }
        judgeFieldLines(&rest, &found)
    }

    private static func judgeFieldLines(
        _ rest: inout ArraySlice<UInt8>, _ found: inout [HTTPViolation]
    ) {
        var isFirst = true
        while !rest.isEmpty {
            let content = judgeLineEnd(takeLine(&rest), &found)
            guard let first = content.first else { return }
            if HTTPByte.isWhiteSpace(first) {
                if !isFirst { add(.foldedField, &found) }
            } else if !content.contains(HTTPByte.colon) {
                found.append(
                    HTTPViolation(.missingColon, String(decoding: content, as: UTF8.self)))
            }
            isFirst = false
        }
    }

    /// Takes the bytes up to and with the next line feed.
    private static func takeLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: HTTPByte.lineFeed).map { $0 + 1 } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// The line without its end, which is judged.
    @discardableResult
    private static func judgeLineEnd(
        _ line: ArraySlice<UInt8>, _ found: inout [HTTPViolation]
    ) -> ArraySlice<UInt8> {
        var content = line
        if content.last == HTTPByte.lineFeed {
            content.removeLast()
            if content.last == HTTPByte.carriageReturn {
                content.removeLast()
            } else {
                add(.bareLineFeed, &found)
            }
        }
        if content.contains(HTTPByte.carriageReturn) { add(.bareCarriageReturn, &found) }
        return content
    }

    /// Adds a violation that is told once for each message.
    private static func add(_ rule: Rule, _ found: inout [HTTPViolation]) {
        let violation = HTTPViolation(rule)
        if !found.contains(violation) { found.append(violation) }
    }

    private static func canonicalStartLine(_ head: HTTPHead) -> Bytes {
        var bytes = Bytes()
        HTTPHead(startLine: head.startLine, version: head.version).encodeCanonical(into: &bytes)
        return Bytes(bytes.dropLast(4))
    }

    // MARK: Start line

    private static func judgeStartLine(_ head: HTTPHead, _ found: inout [HTTPViolation]) {
        let version = head.version.utf8
        if version.count != 3 || !version.starts(with: "1.".utf8)
            || !(0x30...0x39).contains(version.last ?? 0)
        {
            found.append(HTTPViolation(.unsupportedVersion, head.version))
        }
        switch head.startLine {
        case .request(let method, let target):
            if method.isEmpty || !method.utf8.allSatisfy(HTTPByte.isToken) {
                found.append(HTTPViolation(.invalidMethod, method))
            }
            if !hasTargetForm(target, method) {
                found.append(HTTPViolation(.invalidTarget, target))
            }
        case .status(let code, _):
            if !(100...599).contains(code) {
                found.append(HTTPViolation(.invalidStatus, String(code)))
            }
        }
    }

    /// Whether the target has one of its four forms, as far as the method allows (RFC 9112
    /// §3.2).
    private static func hasTargetForm(_ target: String, _ method: String) -> Bool {
        guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return false }
        // What begins with a slash is of the origin form, and most targets are.
        let form: RequestTarget.Form =
            target.utf8.first == 0x2f ? .origin : RequestTarget(target).form
        switch form {
        case .origin, .absolute: return method != "CONNECT"
        case .asterisk: return method == "OPTIONS"
        case .authority: return method == "CONNECT"
        case .unknown: return false
        }
    }

    // MARK: Fields

    private static func judge(_ line: FieldLine, _ found: inout [HTTPViolation]) {
        if let last = line.name.utf8.last, HTTPByte.isWhiteSpace(last) {
            found.append(HTTPViolation(.spaceBeforeColon, line.name))
        } else if line.name.isEmpty || !line.name.utf8.allSatisfy(HTTPByte.isToken) {
            found.append(HTTPViolation(.invalidFieldName, line.name))
        }
        if line.value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) {
            found.append(HTTPViolation(.invalidFieldValue, line.name))
        }
    }

    /// Whether a byte may be of uri-host and port (RFC 3986 §3.2.2): no list, no path, no user.
    private static func mayBeInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"),
            UInt8(ascii: "@"), UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"),
            UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: byte > 0x20 && byte < 0x7f
        }
    }

    private static func judgeHost(_ head: HTTPHead, _ found: inout [HTTPViolation]) {
        let hosts = head.fieldLines.values(of: "Host")
        if hosts.isEmpty, head.isAtLeast11 { found.append(HTTPViolation(.missingHost)) }
        if hosts.count > 1 {
            found.append(HTTPViolation(.severalHosts, hosts.joined(separator: ", ")))
        }
        for host in hosts where !host.utf8.allSatisfy(mayBeInHost) {
            found.append(HTTPViolation(.invalidHost, host))
        }
    }

    private static func judgeFraming(
        _ head: HTTPHead, _ request: HTTPHead?, _ found: inout [HTTPViolation]
    ) {
        var length: ContentLength?
        var codings: [String] = []
        var hasCoding = false
        for line in head.fieldLines {
            if line.isNamed("Content-Length") {
                length = ContentLength(line.value, after: length)
            } else if line.isNamed("Transfer-Encoding") {
                hasCoding = true
                codings += line.tokens
            }
        }
        switch length {
        case .invalid:
            found.append(
                HTTPViolation(
                    .invalidLength,
                    head.fieldLines.values(of: "Content-Length").joined(separator: ", ")))
        case .contradictory:
            found.append(
                HTTPViolation(
                    .contradictoryLengths,
                    head.fieldLines.values(of: "Content-Length").joined(separator: ", ")))
        case .bytes, nil:
            break
        }
        if length != nil, hasCoding { found.append(HTTPViolation(.lengthAndCoding)) }
        if let code = head.status, hasNoBody(code, request) {
            if length != nil { found.append(HTTPViolation(.lengthWithoutBody, String(code))) }
            if hasCoding { found.append(HTTPViolation(.codingWithoutBody, String(code))) }
        }
        guard hasCoding else { return }
        if !head.isAtLeast11 || request?.version == "1.0" {
            found.append(HTTPViolation(.codingInOldVersion))
        }
        let known = ["chunked", "gzip", "x-gzip", "deflate", "compress", "x-compress"]
        for coding in codings where !known.contains(where: { coding.equalsIgnoringCase($0) }) {
            found.append(HTTPViolation(.unknownCoding, coding))
        }
        if codings.filter({ $0.equalsIgnoringCase("chunked") }).count > 1 {
            found.append(HTTPViolation(.chunkedTwice))
        }
        if head.method != nil, codings.last?.equalsIgnoringCase("chunked") != true {
            found.append(
                HTTPViolation(.codingNotChunkedLast, codings.joined(separator: ", ")))
        }
    }

    /// Whether neither length nor coding may stand in a response (RFC 9110 §8.6, RFC 9112
    /// §6.1); HEAD and 304 may have them.
    private static func hasNoBody(_ code: Int, _ request: HTTPHead?) -> Bool {
        (100...199).contains(code) || code == 204
            || (request?.method == "CONNECT" && (200...299).contains(code))
    }

    // MARK: Chunk extensions

    /// Whether the bytes behind a chunk's size are `*( BWS ";" BWS name [ BWS "=" BWS value ] )`.
    private static func hasChunkExtensionForm(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        while !rest.isEmpty {
            skipWhiteSpace(&rest)
            guard rest.popFirst() == HTTPByte.semicolon else { return false }
            skipWhiteSpace(&rest)
            guard takeToken(&rest) else { return false }
            let behindName = rest
            skipWhiteSpace(&rest)
            guard rest.first == HTTPByte.equals else {
                rest = behindName
                continue
            }
            rest.removeFirst()
            skipWhiteSpace(&rest)
            guard rest.first == HTTPByte.quote ? takeQuoted(&rest) : takeToken(&rest) else {
                return false
            }
        }
        return true
    }

    private static func skipWhiteSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { HTTPByte.isWhiteSpace($0) }
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let token = rest.prefix { HTTPByte.isToken($0) }
        rest = rest[token.endIndex...]
        return !token.isEmpty
    }

    private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> Bool {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == HTTPByte.quote { return true }
            if byte == HTTPByte.backslash, rest.popFirst() == nil { return false }
        }
        return false
    }
}

import Capture
import Wire

/// Replaces what heads and bodies of HTTP messages tell about people, and keeps them whole
/// messages: lengths, chunks and odd forms fit what stands there then.
struct HTTPRedactor {
    let text: TextRedactor
    let fields: RedactionFields
    let contract: Contract

    // MARK: Targets

    /// A request's target: paths and parameters of the contract stay.
    func redacted(target: String) -> String {
        let bytes = Bytes(target.utf8)
        var start = 0
        var output: Bytes = []
        if bytes.first != UInt8(ascii: "/"), bytes.first != UInt8(ascii: "*"),
            let scheme = bytes.firstRange(of: Bytes("://".utf8))
        {
            let end =
                bytes[scheme.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
            output =
                bytes[..<scheme.upperBound]
                + text.redacted(hostAndPort: Bytes(bytes[scheme.upperBound..<end]))
            start = end
        } else if bytes.first != UInt8(ascii: "/") {
            // The authority of a CONNECT, or the asterisk of an OPTIONS.
            return String(decoding: text.redacted(hostAndPort: bytes), as: UTF8.self)
        }
        let rest = Bytes(bytes[start...])
        let question = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.count
        output += redacted(path: Bytes(rest[..<question]))
        if question < rest.count {
            output.append(UInt8(ascii: "?"))
            output += redacted(query: Bytes(rest[(question + 1)...]))
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func redacted(path: Bytes) -> Bytes {
        let results = Bytes((contract.paths.results + "/").utf8)
        if path.starts(with: results) {
            let id = Bytes(path[results.count...])
            guard let decoded = TextRedactor.decoded(id, plusIsSpace: false) else {
                return results + TextRedactor.filler(id)
            }
            let other = text.redacted(decoded, .id, words: fields.words)
            return results + (other == decoded ? id : text.component(id, plusIsSpace: false))
        }
        return text.redacted(urlEnd: path) {
            ProtocolWords.pathParts.contains(String(decoding: $0, as: UTF8.self))
        }
    }

    private func redacted(query: Bytes) -> Bytes {
        let poll = contract.poll
        return text.redacted(query: query) { name, value in
            let decoded = TextRedactor.decoded(value, plusIsSpace: true) ?? value
            let words = String(decoding: decoded, as: UTF8.self).lowercased()
            switch String(decoding: name, as: UTF8.self) {
            case poll.phoneID:
                text.manifest.count(.id, "query \(poll.phoneID)")
                text.remember(id: decoded, as: text.redacted(decoded, .free))
                return .replaced(text.component(value, plusIsSpace: true))
            case poll.platform where poll.platforms.contains(words),
                poll.appState where poll.appStates.contains(words),
                poll.limit where words.utf8.allSatisfy(TextRedactor.isDigit) && words.count < 7:
                return .kept
            default:
                text.manifest.count(.none, "query fields")
                return nil
            }
        }
    }

    // MARK: Headers

    private enum Header {
        case kept
        case date
        case host
        case url
        case agent
        case credentials
        case length
        case free
    }

    private static let headers: [String: Header] = {
        var headers: [String: Header] = [:]
        let kept = [
            "accept", "accept-encoding", "accept-language", "accept-ranges", "age", "allow",
            "cache-control", "connection", "content-encoding", "content-language", "content-type",
            "content-range", "expect", "keep-alive", "max-forwards", "pragma", "range", "server",
            "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key",
            "sec-websocket-protocol", "sec-websocket-version", "te", "trailer",
            "transfer-encoding", "upgrade", "upgrade-insecure-requests", "vary", "dnt",
            "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "priority",
            "x-content-type-options", "x-frame-options", "retry-after", "x-requested-with",
            "access-control-allow-origin", "access-control-allow-methods",
            "access-control-allow-headers", "access-control-allow-credentials",
        ]
        for name in kept { headers[name] = .kept }
        for name in [
            "date", "last-modified", "expires", "if-modified-since", "if-unmodified-since",
        ] {
            headers[name] = .date
        }
        for name in ["origin", "referer", "location", "content-location"] { headers[name] = .url }
        for name in ["authorization", "proxy-authorization"] { headers[name] = .credentials }
        headers["host"] = .host
        headers["user-agent"] = .agent
        headers["content-length"] = .length
        return headers
    }()

    /// Field lines; `length` is what the body's length was said to be and what it is now.
    func redacted(
        _ lines: [FieldLine], length: (old: UInt64, new: UInt64)? = nil
    ) -> [FieldLine] {
        lines.map { line in
            let value = redacted(line.value, of: line.name, length: length)
            return FieldLine(redacted(name: line.name), value)
        }
    }

    private func redacted(name: String) -> String {
        TextRedactor.isName(Bytes(name.utf8)) ? name : text.redacted(name, .free)
    }

    private func redacted(
        _ value: String, of name: String, length: (old: UInt64, new: UInt64)?
    ) -> String {
        let name = name.lowercased()
        let kind = Self.headers[name] ?? .free
        let other: String
        switch kind {
        case .kept: other = text.redacted(value, .named)
        case .length:
            guard let length, UInt64(value) == length.old else { return value }
            return String(length.new)
        case .date:
            guard let seconds = HTTPDate.parse(value) else {
                other = text.redacted(value, .free)
                break
            }
            other = HTTPDate.format(
                secondsSince1970: seconds + text.pseudonyms.key.days * 86_400)
        case .host:
            other = String(
                decoding: text.redacted(hostAndPort: Bytes(value.utf8)), as: UTF8.self)
        case .url:
            other =
                value.hasPrefix("/")
                ? redacted(target: value)
                : value.contains("://") || value.contains(":")
                    ? String(decoding: text.redacted(url: Bytes(value.utf8)), as: UTF8.self)
                    : value == "null" || value.isEmpty ? value : text.redacted(value, .free)
        case .agent: other = redacted(agent: value)
        case .credentials:
            let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
            other =
                parts.count == 2
                ? "\(parts[0]) \(text.redacted(parts[1], .free))" : text.redacted(value, .free)
        case .free:
            let isPlain = value.utf8.count <= 3 && value.utf8.allSatisfy(TextRedactor.isDigit)
            other =
                isPlain || fields.words.contains(Bytes(value.utf8))
                ? value : text.redacted(value, .free)
        }
        if other != value {
            text.manifest.count(
                kind == .date ? .instant : .none,
                "header \(TextRedactor.isName(Bytes(name.utf8)) ? name : "*")")
        }
        return other
    }

    /// Products with their versions stay, and names of systems.
    private func redacted(agent value: String) -> String {
        var output = ""
        for part in value.split(separator: " ", omittingEmptySubsequences: false) {
            if part.startIndex > value.startIndex { output += " " }
            let bare = part.filter { !"();,".contains($0) }
            let isProduct =
                bare.utf8.allSatisfy { $0 < 0x7f && $0 != UInt8(ascii: "@") }
                && (bare.contains("/")
                    || bare.utf8.allSatisfy {
                        !TextRedactor.isWordByte($0) || TextRedactor.isDigit($0)
                    }
                    || ProtocolWords.products.contains(bare.lowercased()))
            output += isProduct ? String(part) : text.redacted(String(part), .free)
        }
        return output
    }

    // MARK: Odd heads

    /// The exact bytes of a head, with the same values replaced as in its field lines; nil where
    /// that cannot be done, and then its canonical form stands.
    func redacted(
        raw: Bytes, role: HTTPDecoder.Role, length: (old: UInt64, new: UInt64)?
    ) -> HTTPHead? {
        var output: Bytes = []
        var start = 0
        var isFirst = true
        var name = ""
        while start < raw.count {
            let end = (raw[start...].firstIndex(of: 0x0a) ?? raw.count - 1) + 1
            let line = Bytes(raw[start..<end])
            start = end
            let content = line.prefix { $0 != 0x0d && $0 != 0x0a }
            guard content.count + 2 >= line.count, isValidUTF8(Bytes(content).span) else {
                return nil
            }
            if isFirst, !content.isEmpty {
                isFirst = false
                guard let changed = startLine(Bytes(content), role) else { return nil }
                output += changed
            } else if let first = content.first, first == 0x20 || first == 0x09 {
                output += text.redacted(
                    Bytes(content), Self.headers[name] == .kept ? .named : .free)
            } else if let colon = content.firstIndex(of: UInt8(ascii: ":")) {
                name = String(decoding: content[..<colon], as: UTF8.self)
                    .filter { $0 != " " && $0 != "\t" }.lowercased()
                output += Bytes(
                    redacted(name: String(decoding: content[..<colon], as: UTF8.self)).utf8)
                let value = content[(colon + 1)...]
                let from = value.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? value.endIndex
                let to = (value[from...].lastIndex { $0 != 0x20 && $0 != 0x09 } ?? from - 1) + 1
                output += content[colon..<from]
                output += Bytes(
                    redacted(
                        String(decoding: value[from..<max(from, to)], as: UTF8.self), of: name,
                        length: length
                    ).utf8)
                output += value[max(from, to)...]
            } else {
                output += text.redacted(Bytes(content), .free)
            }
            output += line[content.count...]
        }
        var decoder = HTTPDecoder(role)
        var position = 0
        guard case .head(let head, _)? = decoder.next(output.span, at: &position),
            position == output.count
        else { return nil }
        text.manifest.rebuiltHeads += 1
        return head
    }

    /// A start line with its target or its reason replaced.
    private func startLine(_ line: Bytes, _ role: HTTPDecoder.Role) -> Bytes? {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count >= 2 else { return line }
        switch role {
        case .requests:
            let last = parts[parts.count - 1]
            let hasVersion = parts.count > 2 && last.starts(with: Bytes("HTTP/".utf8))
            let from = parts[1].startIndex
            let to = hasVersion ? last.startIndex - 1 : line.count
            guard from <= to else { return nil }
            let target = String(decoding: line[from..<to], as: UTF8.self)
            return line[..<from] + Bytes(redacted(target: target).utf8) + line[to...]
        case .responses:
            let words = line.split(separator: 0x20)
            guard words.count > 2 else { return line }
            let from = words[2].startIndex
            let reason = String(decoding: line[from...], as: UTF8.self)
            return line[..<from] + Bytes(redacted(reason: reason).utf8)
        }
    }

    /// The reason of a status line; phrases that are registered tell nothing.
    func redacted(reason: String) -> String {
        HTTPStatus.isRegistered(reason) ? reason : text.redacted(reason, .sentence)
    }

    // MARK: Bodies

    /// What becomes of a whole body.
    ///
    /// - Parameter isResponse: whether text that is no JSON is the board's, which tells of errors.
    func redacted(
        body: Bytes, headers: [FieldLine], isWhole: Bool, isResponse: Bool,
        _ json: inout JSONRedactor
    ) -> Bytes {
        guard !body.isEmpty else { return body }
        let coding = headers.first("Content-Encoding")?.lowercased() ?? "identity"
        guard coding == "identity", isValidUTF8(body.span) else {
            text.manifest.filler += UInt64(body.count)
            return Bytes(repeating: 0xff, count: body.count)
        }
        guard isWhole else {
            text.manifest.filler += UInt64(body.count)
            return TextRedactor.filler(body)
        }
        if let other = json.redacted(body, text) { return other }
        let type = headers.first("Content-Type")?.lowercased() ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return text.redacted(query: body)
        }
        return text.redacted(body, isResponse ? .sentence : .free)
    }

    /// A body in which so many bytes stand now: announced lengths and chunks follow.
    func reframed(_ body: Event.Body, as content: Bytes, from old: Int) -> Event.Body {
        var body = body
        body.content = .whole(content)
        body.trailers = redacted(body.trailers)
        if body.rawTrailers != nil { body.rawTrailers = nil }
        if case .length(let announced) = body.framing {
            body.framing = .length(Self.length(announced, old: old, new: content.count))
        }
        if let chunks = body.chunks {
            body.chunks = Self.rechunked(
                chunks, total: content.count, isChanged: content.count != old)
        }
        return body
    }

    /// An announced length of which so much was there and is there now.
    static func length(_ announced: UInt64, old: Int, new: Int) -> UInt64 {
        let rest = announced.subtractingReportingOverflow(UInt64(old))
        guard !rest.overflow else { return UInt64(new) }
        let sum = UInt64(new).addingReportingOverflow(rest.partialValue)
        return sum.overflow ? announced : sum.partialValue
    }

    /// Chunks of about the same shape around another number of bytes.
    static func rechunked(_ chunks: Event.Chunks, total: Int, isChanged: Bool) -> Event.Chunks {
        var result = chunks
        result.lines = chunks.lines.map { $0.map { blanked(extension: $0) } }
        guard isChanged else { return result }
        var left = UInt64(total)
        result.sizes = []
        for (index, size) in chunks.sizes.enumerated() where left > 0 {
            let taken = index == chunks.sizes.count - 1 ? left : min(size, left)
            result.sizes.append(taken)
            left -= taken
        }
        // Where chunks are gone, canonical lines stand around the others.
        result.lines = result.lines.flatMap { lines in
            guard result.sizes.count == chunks.sizes.count, lines.count >= result.sizes.count
            else { return nil }
            return lines.enumerated().map { index, line in
                index < result.sizes.count ? Self.line(line, size: result.sizes[index]) : line
            }
        }
        return result
    }

    /// A chunk's line with another size, written as the old one was.
    private static func line(_ line: Bytes, size: UInt64) -> Bytes {
        guard let first = line.firstIndex(where: { hexDigitValue($0) != nil }) else { return line }
        let end = line[first...].firstIndex { hexDigitValue($0) == nil } ?? line.count
        let old = line[first..<end]
        let isUpper = old.contains { (0x41...0x46).contains($0) }
        var digits = Bytes(String(size, radix: 16, uppercase: isUpper).utf8)
        if old.first == UInt8(ascii: "0"), digits.count < old.count {
            digits = Bytes(repeating: UInt8(ascii: "0"), count: old.count - digits.count) + digits
        }
        return line[..<first] + digits + line[end...]
    }

    /// A chunk's line without what its extension says, as long as before.
    private static func blanked(extension line: Bytes) -> Bytes {
        guard let semicolon = line.firstIndex(of: UInt8(ascii: ";")) else { return line }
        var line = line
        for index in line[(semicolon + 1)...].indices where TextRedactor.isWordByte(line[index]) {
            line[index] = UInt8(ascii: "x")
        }
        return line
    }
}

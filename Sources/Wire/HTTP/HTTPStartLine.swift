/// A start line, read from one line of bytes (RFC 9112 §3, §4).
///
/// Sloppy forms are taken where one reading suggests itself: white space of any amount, small
/// letters in `HTTP`, any text as the version, a target with spaces or none, the `GET target`
/// of HTTP/0.9.
struct HTTPStartLine: Sendable {
    var startLine: StartLine
    var version: String
    /// Whether the canonical encoding gives back the line, its end not counted.
    var isCanonical: Bool

    /// Reads `METHOD target HTTP/version`; nil when the line has no such shape.
    init?(request bytes: Span<UInt8>, _ line: Range<Int>) {
        let end = Self.endOfText(bytes, line)
        var methodEnd = line.lowerBound
        while methodEnd < end, HTTPByte.isToken(bytes[methodEnd]) { methodEnd += 1 }
        guard methodEnd > line.lowerBound, methodEnd < end,
            HTTPByte.isWhiteSpace(bytes[methodEnd])
        else { return nil }
        let targetStart = Self.skipWhiteSpace(bytes, methodEnd..<end)
        var wordStart = end
        while wordStart > targetStart, !HTTPByte.isWhiteSpace(bytes[wordStart - 1]) {
            wordStart -= 1
        }
        let method = bytes.text(line.lowerBound..<methodEnd).text
        guard let versionStart = Self.skipProtocolName(bytes, wordStart..<end) else {
            // The whole of HTTP/0.9: no version, no other method.
            guard wordStart == targetStart, method == "GET" else { return nil }
            startLine = .request(method: method, target: bytes.text(targetStart..<end).text)
            version = "0.9"
            isCanonical = false
            return
        }
        let targetEnd = Self.endOfText(bytes, targetStart..<wordStart)
        let (target, targetIsExact) = bytes.text(targetStart..<targetEnd)
        let (version, versionIsExact) = bytes.text(versionStart..<end)
        startLine = .request(method: method, target: target)
        self.version = version
        let hasSingleSpaces =
            target.isEmpty
            ? wordStart == methodEnd + 2 && bytes[methodEnd] == HTTPByte.space
                && bytes[methodEnd + 1] == HTTPByte.space
            : targetStart == methodEnd + 1 && bytes[methodEnd] == HTTPByte.space
                && wordStart == targetEnd + 1 && bytes[targetEnd] == HTTPByte.space
        isCanonical =
            hasSingleSpaces && targetIsExact && versionIsExact && end == line.upperBound
            && Self.isCapital(bytes, wordStart)
    }

    /// Reads `HTTP/version code reason`; nil when the line has no such shape.
    ///
    /// The code is one to nine digits. All behind the white space character after it is the
    /// reason.
    init?(status bytes: Span<UInt8>, _ line: Range<Int>) {
        guard let versionStart = Self.skipProtocolName(bytes, line) else { return nil }
        var versionEnd = versionStart
        while versionEnd < line.upperBound, !HTTPByte.isWhiteSpace(bytes[versionEnd]) {
            versionEnd += 1
        }
        let codeStart = Self.skipWhiteSpace(bytes, versionEnd..<line.upperBound)
        var codeEnd = codeStart
        var code = 0
        while codeEnd < line.upperBound, codeEnd - codeStart < 9,
            bytes[codeEnd] >= 0x30, bytes[codeEnd] <= 0x39
        {
            code = code * 10 + Int(bytes[codeEnd] - 0x30)
            codeEnd += 1
        }
        guard codeEnd > codeStart, codeStart > versionEnd else { return nil }
        let (version, versionIsExact) = bytes.text(versionStart..<versionEnd)
        self.version = version
        let hasExactCode =
            codeStart == versionEnd + 1 && bytes[versionEnd] == HTTPByte.space
            && (codeEnd == codeStart + 3 || (codeEnd > codeStart + 3 && bytes[codeStart] != 0x30))
        guard codeEnd < line.upperBound else {
            startLine = .status(code: code, reason: "")
            isCanonical = false
            return
        }
        guard HTTPByte.isWhiteSpace(bytes[codeEnd]) else { return nil }
        let (reason, reasonIsExact) = bytes.text((codeEnd + 1)..<line.upperBound)
        startLine = .status(code: code, reason: reason)
        isCanonical =
            hasExactCode && bytes[codeEnd] == HTTPByte.space && versionIsExact && reasonIsExact
            && Self.isCapital(bytes, line.lowerBound)
    }

    /// The bytes that every version begins with.
    private static let protocolName: [5 of UInt8] = [0x48, 0x54, 0x54, 0x50, 0x2f]

    /// Whether `byte` is the one at `offset` of `HTTP/`, in either case.
    static func isProtocolName(_ byte: UInt8, at offset: Int) -> Bool {
        HTTPByte.lowercased(byte) == HTTPByte.lowercased(protocolName[offset])
    }

    /// The offset behind `HTTP/`, in either case, at the start of `range`.
    private static func skipProtocolName(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard range.count >= protocolName.count else { return nil }
        for offset in protocolName.indices
        where !isProtocolName(bytes[range.lowerBound + offset], at: offset) {
            return nil
        }
        return range.lowerBound + protocolName.count
    }

    /// Whether the letters of `HTTP/` at `start` are capitals.
    private static func isCapital(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
        for offset in protocolName.indices where bytes[start + offset] != protocolName[offset] {
            return false
        }
        return true
    }

    private static func skipWhiteSpace(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var start = range.lowerBound
        while start < range.upperBound, HTTPByte.isWhiteSpace(bytes[start]) { start += 1 }
        return start
    }

    private static func endOfText(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int {
        var end = range.upperBound
        while end > range.lowerBound, HTTPByte.isWhiteSpace(bytes[end - 1]) { end -= 1 }
        return end
    }
}

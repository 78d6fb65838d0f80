/// Reads a head, from the empty lines before it to the empty line behind it (RFC 9112 §2.2).
///
/// Bytes that cannot begin a head are told at the first byte that shows it, or a few behind it
/// where these tell what they are instead.
///
///     emptyLines --> firstWord --> startLine --> fields --> complete
///         '-------------'--------------'--> impossible
struct HTTPHeadParser: Sendable, HTTPSectionParser {
    private enum Phase {
        case emptyLines
        case firstWord
        case startLine
        case fields
    }

    private let role: HTTPDecoder.Role
    private let maximumMethod: Int
    private var phase = Phase.emptyLines
    /// Bytes of the section before the current line, and before what has to be looked at.
    private var lineStart = 0
    private var scanned = 0
    private var startLine: HTTPStartLine?
    private var isCanonical = true
    private var fields = HTTPFieldSection()

    init(_ role: HTTPDecoder.Role, maximumMethod: Int) {
        self.role = role
        self.maximumMethod = maximumMethod
    }

    mutating func scan(_ bytes: Span<UInt8>, in range: Range<Int>) -> HTTPSectionScan {
        if phase == .emptyLines {
            if let result = skipEmptyLines(bytes, range) { return result }
            phase = .firstWord
        }
        if phase == .firstWord {
            if let result = scanFirstWord(bytes, range) { return result }
            phase = .startLine
        }
        if phase == .startLine {
            if let result = scanStartLine(bytes, range) { return result }
            phase = .fields
        }
        return fields.scan(bytes, in: range)
    }

    mutating func take(_ bytes: Span<UInt8>, section: Range<Int>) -> HTTPHead? {
        guard let line = startLine else { return nil }
        let head = HTTPHead(
            startLine: line.startLine, version: line.version, fieldLines: fields.lines,
            raw: isCanonical && fields.isCanonical ? nil : bytes.bytes(section))
        self = HTTPHeadParser(role, maximumMethod: maximumMethod)
        return head
    }

    private mutating func skipEmptyLines(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) -> HTTPSectionScan? {
        while true {
            let start = range.lowerBound + lineStart
            guard start < range.upperBound else { return .more }
            switch bytes[start] {
            case HTTPByte.lineFeed:
                lineStart += 1
            case HTTPByte.carriageReturn:
                guard start + 1 < range.upperBound else { return .more }
                guard bytes[start + 1] == HTTPByte.lineFeed else {
                    return .impossible(why: "a carriage return where a line must begin")
                }
                lineStart += 2
            default:
                scanned = lineStart
                return nil
            }
            isCanonical = false
        }
    }

    private mutating func scanFirstWord(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) -> HTTPSectionScan? {
        let start = range.lowerBound + lineStart
        var offset = range.lowerBound + scanned
        while offset < range.upperBound {
            let length = offset - start
            let byte = bytes[offset]
            switch role {
            case .requests:
                if length > 0, HTTPByte.isWhiteSpace(byte) { return nil }
                guard HTTPByte.isToken(byte) else {
                    return refuse(bytes, start..<range.upperBound, at: length)
                }
                guard length < maximumMethod else {
                    return .impossible(why: "a word of over \(maximumMethod) bytes, not a method")
                }
            case .responses:
                if length == 5 { return nil }
                guard HTTPStartLine.isProtocolName(byte, at: length) else {
                    return refuse(bytes, start..<range.upperBound, at: length)
                }
            }
            offset += 1
            scanned = offset - range.lowerBound
        }
        return .more
    }

    private func refuse(
        _ bytes: Span<UInt8>, _ line: Range<Int>, at length: Int
    ) -> HTTPSectionScan {
        guard line.count >= NotHTTP.bytesToTell(first: bytes[line.lowerBound]) else { return .more }
        return .impossible(why: NotHTTP.name(bytes, line, refusedAt: length, role))
    }

    private mutating func scanStartLine(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) -> HTTPSectionScan? {
        let from = range.lowerBound + scanned
        guard let lineFeed = bytes.firstOffset(of: HTTPByte.lineFeed, in: from..<range.upperBound)
        else {
            scanned = range.count
            return .more
        }
        let start = range.lowerBound + lineStart
        let hasReturn = lineFeed > start && bytes[lineFeed - 1] == HTTPByte.carriageReturn
        let text = start..<(hasReturn ? lineFeed - 1 : lineFeed)
        let line =
            switch role {
            case .requests: HTTPStartLine(request: bytes, text)
            case .responses: HTTPStartLine(status: bytes, text)
            }
        guard let line else { return .impossible(why: NotHTTP.name(bytes, line: text, role)) }
        if case .request(method: "PRI", target: "*") = line.startLine, line.version == "2.0" {
            return .impossible(why: "an HTTP/2 preface")
        }
        if !(hasReturn && line.isCanonical) { isCanonical = false }
        startLine = line
        fields = HTTPFieldSection(offset: lineFeed + 1 - range.lowerBound)
        return nil
    }
}

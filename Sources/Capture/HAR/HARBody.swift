import Wire

/// The body of a request or response from a HAR, and the head's fields made to agree with it.
///
/// A session's bytes have to be HTTP: whoever reads them again finds the body's end by the
/// fields. A HAR has the fields as they crossed, and the body as the page got it.
struct HARBody {
    var fields: [FieldLine]
    /// What the HAR has; nil for nothing.
    var content: HARContent?
    /// Bytes that crossed, if that is known.
    var size: Int64?
    var framing = BodyFraming.none
    /// There was a body, which the HAR does not have.
    private(set) var isMissing = false
    private(set) var wasUnpacked = false
    /// Fields that were changed, added or left out.
    private(set) var changes = 0
    /// The HAR says that there was one.
    private let isDeclared: Bool

    init(_ fields: [FieldLine], declares isDeclared: Bool) {
        self.fields = fields
        self.isDeclared = isDeclared
    }

    /// Takes Content-Encoding away where the content is not encoded any more.
    mutating func unpack(isPacked: Bool) {
        guard let content, fields.has("Content-Encoding"), !isPacked, !Self.looksPacked(content)
        else { return }
        fields.removeAll { $0.isNamed("Content-Encoding") }
        wasUnpacked = true
    }

    /// Whether the content begins as gzip or Zstandard does; browsers write those in base64.
    private static func looksPacked(_ content: HARContent) -> Bool {
        content.isBase64
            && (content.start.starts(with: [0x1f, 0x8b])
                || content.start.starts(with: [0x28, 0xb5, 0x2f, 0xfd]))
    }

    /// Finds how the body's end is found, and changes the fields that contradict it.
    mutating func fit(isRequest: Bool) {
        let isChunked = fields.has("Transfer-Encoding")
        let declared = fields.values(of: "Content-Length").compactMap { UInt64($0) }.first
        let count = UInt64(content?.count ?? 0)
        isMissing = content == nil && (isDeclared || (declared ?? 0) > 0)
        if isChunked, content != nil || !isMissing {
            if fields.has(token: "chunked", in: "Transfer-Encoding"), declared == nil {
                framing = .chunked
                return
            }
            // With other codings nobody can say where the body ends, and with both lengths it
            // depends on who reads.
            fields.removeAll { $0.isNamed("Transfer-Encoding") }
            changes += 1
        } else if isChunked {
            framing = .chunked
            return
        }
        guard !isMissing else {
            framing = .length(declared ?? UInt64(max(0, size ?? 0)))
            return
        }
        if count == 0, declared == nil {
            // A response without a length would last until the connection's end.
            if !isRequest { setLength(0) }
            framing = isRequest ? .none : .length(0)
            return
        }
        if fields.values(of: "Content-Length") != [String(count)] { setLength(count) }
        framing = .length(count)
    }

    private mutating func setLength(_ count: UInt64) {
        let index = fields.firstIndex { $0.isNamed("Content-Length") }
        fields.removeAll { $0.isNamed("Content-Length") }
        let line = FieldLine("Content-Length", String(count))
        if let index {
            fields.insert(line, at: min(index, fields.count))
        } else {
            fields.append(line)
        }
        changes += 1
    }

    /// How much of a missing body crossed, if that is known.
    var missingLength: UInt64? {
        if case .length(let length) = framing, length > 0 { return length }
        return size.flatMap { $0 > 0 ? UInt64($0) : nil }
    }
}

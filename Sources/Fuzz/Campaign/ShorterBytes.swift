import Wire

/// Contents with fewer bytes: halves, quarters and, where there are few, all but one.
enum ShorterBytes {
    /// So many variants of one content are tried at most.
    private static let maximumVariants = 32

    static func variants(of action: FuzzAction) -> [FuzzAction] {
        switch action {
        case .text(let link, let content) where !isJSON(content):
            return shorter(content).map { .text(link, $0) }
        case .binary(let link, let content) where !isJSON(content):
            return shorter(content).map { .binary(link, $0) }
        case .bytes(let link, let bytes): return shorter(bytes).map { .bytes(link, $0) }
        case .frame(let link, let frame):
            return shorter(frame.payload).map { payload in
                var frame = frame
                frame.payload = payload
                return .frame(link, frame)
            }
        case .enqueue(let name, let json) where !isJSON(json):
            return shorter(json).map { .enqueue(name, $0) }
        case .request(let request) where !isJSON(request.body):
            return shorter(request.body).map { body in
                var request = request
                request.body = body
                return .request(request)
            }
        case .raw(let parts):
            return parts.indices.flatMap { index -> [FuzzAction] in
                guard case .bytes(let bytes) = parts[index] else { return [] }
                return shorter(bytes).map { bytes in
                    var parts = parts
                    parts[index] = .bytes(bytes)
                    return .raw(parts)
                }
            }
        default: return []
        }
    }

    /// Whether fields were simplified already.
    private static func isJSON(_ bytes: Bytes) -> Bool {
        bytes.first == UInt8(ascii: "{") && bytes.count <= 65_536
            && (try? JSON(parsing: bytes)) != nil
    }

    private static func shorter(_ bytes: Bytes) -> [Bytes] {
        guard !bytes.isEmpty else { return [] }
        var variants: [Bytes] = []
        var size = (bytes.count + 1) / 2
        while variants.count < maximumVariants {
            var end = bytes.count
            while end > 0, variants.count < maximumVariants {
                let start = max(0, end - size)
                variants.append(Bytes(bytes[..<start] + bytes[end...]))
                end = start
            }
            guard size > 1 else { break }
            size /= 2
        }
        return variants
    }
}

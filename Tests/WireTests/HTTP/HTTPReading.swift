import Wire

/// What a decoder makes of bytes, however they are cut; parts of bodies and of undecodable
/// bytes are joined.
struct HTTPReading: Equatable {
    var steps: [HTTPDecoder.Step] = []
    /// What `finish` said.
    var last: HTTPDecoder.Step?
    var isIdle = false

    /// Feeds `bytes` cut before each of the offsets in `cuts`.
    init(
        _ bytes: Bytes, _ role: HTTPDecoder.Role, cuts: [Int] = [],
        expecting methods: [String] = [],
        limits: HTTPLimits = .init()
    ) {
        var decoder = HTTPDecoder(role, limits: limits)
        for method in methods { decoder.expectResponse(to: method) }
        var start = 0
        for end in cuts + [bytes.count] where end >= start {
            let part = Bytes(bytes[start..<end])
            var position = 0
            while let step = decoder.next(part.span, at: &position) { add(step) }
            precondition(position == part.count, "all is taken in")
            start = end
        }
        isIdle = decoder.isIdle
        last = decoder.finish()
    }

    /// The bytes that the steps stand for.
    var encoded: Bytes {
        var bytes = Bytes()
        for step in steps { HTTPEncoder.encode(step, into: &bytes) }
        if let last { HTTPEncoder.encode(last, into: &bytes) }
        return bytes
    }

    /// The steps in few words, for tables.
    var summary: String {
        (steps.map(Self.summary) + [last.map { "| " + Self.summary($0) } ?? ""])
            .filter { !$0.isEmpty }.joined(separator: " ")
    }

    private mutating func add(_ step: HTTPDecoder.Step) {
        switch (steps.last, step) {
        case (.body(let before)?, .body(let part)):
            steps[steps.count - 1] = .body(before + part)
        case (.undecodable(let before, let why)?, .undecodable(let part, why: let next))
        where why == next:
            steps[steps.count - 1] = .undecodable(before + part, why: why)
        default:
            steps.append(step)
        }
    }

    private static func summary(_ step: HTTPDecoder.Step) -> String {
        switch step {
        case .head(let head, let framing):
            let start =
                switch head.startLine {
                case .request(let method, let target): "\(method)(\(target))"
                case .status(let code, let reason): "\(code)(\(reason))"
                }
            return "\(start)\(head.version)\(head.raw == nil ? "" : "*")[\(framing)]"
        case .body(let part): return "\"\(String(decoding: part, as: UTF8.self))\""
        case .chunk(let size, _): return "chunk\(size)"
        case .trailers(let lines, let raw):
            let names = lines.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
            return "trailers(\(names))\(raw == nil ? "" : "*")"
        case .end: return "end"
        case .undecodable(let part, let why): return "undecodable(\(part.count): \(why))"
        }
    }
}

/// The bytes of a text, in which `\n` stands for CRLF and a bare line feed is written `\u{b}`.
func wire(_ text: String) -> Bytes {
    var bytes = Bytes()
    for byte in text.utf8 {
        switch byte {
        case 0x0a: bytes += [0x0d, 0x0a]
        case 0x0b: bytes.append(0x0a)
        default: bytes.append(byte)
        }
    }
    return bytes
}

/// SplitMix64: the same numbers from the same seed on any machine.
struct HTTPTestRandom: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// A head of a request with these field lines, for tests of what only reads heads.
func requestHead(
    _ method: String = "GET", _ target: String = "/", version: String = "1.1",
    _ fieldLines: [(String, String)] = [("Host", "a")]
) -> HTTPHead {
    HTTPHead(
        startLine: .request(method: method, target: target), version: version,
        fieldLines: fieldLines.map { FieldLine($0.0, $0.1) })
}

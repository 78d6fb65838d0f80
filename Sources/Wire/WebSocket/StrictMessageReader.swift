/// Why an endpoint fails a connection.
package enum EndpointFailure: Error, Hashable, Sendable {
    case violation(FrameViolation)
    /// A message is longer than the limit, in bytes after decompression.
    case messageTooBig(limit: Int)

    /// The code of the close frame that says so.
    package var closeCode: CloseCode {
        switch self {
        case .violation(let violation): violation.closeCode
        case .messageTooBig: .messageTooBig
        }
    }

    /// The reason of that close frame; for a long message in the board's words (board facts,
    /// "WebSocket frames").
    package var text: String {
        switch self {
        case .violation(let violation): violation.text
        case .messageTooBig(let limit): "read limited at \(limit &+ 1) bytes"
        }
    }
}

/// Puts messages together for an endpoint, and stops at the first byte that is wrong.
struct StrictMessageReader {
    private let maximumMessage: Int
    private let inflater: Inflater?

    private var opcode = Opcode.continuation
    private var isCompressed = false
    private var content = Bytes()
    private var validator = UTF8Validator()
    /// Whether a message has begun and not ended.
    private(set) var isWithinMessage = false

    init(sender: WebSocketRole, deflate: PerMessageDeflate?, maximumMessage: Int) {
        self.maximumMessage = max(0, min(maximumMessage, Int.max - 1))
        inflater = deflate?.makeInflater(for: sender)
    }

    /// Begins a message with its first frame.
    mutating func begin(_ header: FrameHeader) {
        opcode = header.opcode
        isCompressed = header.rsv & 4 != 0
        validator = UTF8Validator()
        isWithinMessage = true
    }

    /// Takes a part of a frame's payload.
    mutating func take(_ part: Bytes) throws(EndpointFailure) {
        guard isCompressed else {
            guard part.count <= maximumMessage - content.count else {
                throw .messageTooBig(limit: maximumMessage)
            }
            let start = content.count
            if content.isEmpty { content = part } else { content += part }
            try check(from: start)
            return
        }
        var position = 0
        try inflate { inflater, content, limit in
            inflater.inflate(part.span, at: &position, into: &content, limit: limit)
        }
    }

    /// Ends the message with its last frame, and gives its content.
    mutating func end() throws(EndpointFailure) -> (Opcode, Bytes) {
        if isCompressed {
            try inflate { inflater, content, limit in
                inflater.endMessage(into: &content, limit: limit)
            }
        }
        if opcode == .text && !validator.isComplete { throw .violation(.textNotUTF8) }
        isWithinMessage = false
        defer { content = [] }
        return (opcode, content)
    }

    /// Repeats a step of decompression until it has given all, or too much.
    private mutating func inflate(
        _ step: (Inflater, inout Bytes, Int) -> Inflater.Outcome
    ) throws(EndpointFailure) {
        guard let inflater else { throw .violation(.notInflatable(why: "out of memory")) }
        var outcome = Inflater.Outcome.outputFull
        while outcome == .outputFull {
            let start = content.count
            outcome = step(inflater, &content, maximumMessage + 1 - start)
            guard content.count <= maximumMessage else {
                throw .messageTooBig(limit: maximumMessage)
            }
            try check(from: start)
            if case .corrupt(let why) = outcome { throw .violation(.notInflatable(why: why)) }
        }
    }

    private mutating func check(from start: Int) throws(EndpointFailure) {
        guard opcode == .text else { return }
        let content = content
        guard validator.feed(content.span.extracting(start..<content.count)) else {
            throw .violation(.textNotUTF8)
        }
    }
}

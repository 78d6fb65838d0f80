/// Makes the frames in which one end sends its messages.
package struct MessageWriter {
    /// How a message is cut into frames.
    package enum Framing: Hashable, Sendable {
        /// One frame a message.
        case whole
        /// As the board does it: one frame without compression. With compression agreed on,
        /// the content and an empty last frame; what is really compressed has its last four
        /// bytes in a frame of their own between the two (board facts, "WebSocket frames").
        case board
        /// Frames of at most so many bytes, at least 1.
        case fragments(of: Int)
    }

    private let role: WebSocketRole
    private let framing: Framing
    private let compressionThreshold: Int
    private let nextKey: () -> MaskingKey
    private let isCompressionAgreed: Bool
    private let deflater: Deflater?

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - deflate: what was agreed on; nil without compression.
    ///   - compressionThreshold: the size in bytes from which messages are compressed.
    ///   - nextKey: gives the key of each frame of a client; it must be random
    ///     (RFC 6455 §5.3). Servers never call it.
    package init(
        role: WebSocketRole, deflate: PerMessageDeflate?, framing: Framing = .whole,
        compressionThreshold: Int = 0, nextKey: @escaping () -> MaskingKey
    ) {
        self.role = role
        self.framing = framing
        self.compressionThreshold = compressionThreshold
        self.nextKey = nextKey
        isCompressionAgreed = deflate != nil
        deflater = deflate?.makeDeflater(for: role)
    }

    /// Appends the frames of a message.
    package func write(_ opcode: Opcode, _ message: Bytes, into output: inout Bytes) {
        if let deflater, message.count >= compressionThreshold {
            write(opcode, deflater.compress(message.span), isCompressed: true, into: &output)
        } else {
            write(opcode, message, isCompressed: false, into: &output)
        }
    }

    /// Appends a control frame; its payload must have at most 125 bytes (RFC 6455 §5.5).
    package func writeControl(_ opcode: Opcode, _ payload: Bytes, into output: inout Bytes) {
        precondition(opcode.isControl && payload.count <= 125, "not a control frame")
        append(opcode, payload[...], rsv: 0, fin: true, into: &output)
    }

    private func write(
        _ opcode: Opcode, _ payload: Bytes, isCompressed: Bool, into output: inout Bytes
    ) {
        var cuts: [Int] = []
        switch framing {
        case .whole:
            break
        case .board:
            guard isCompressionAgreed else { break }
            if isCompressed && payload.count > 4 { cuts.append(payload.count - 4) }
            cuts.append(payload.count)
        case .fragments(let size):
            cuts = Array(stride(from: max(size, 1), to: payload.count, by: max(size, 1)))
        }
        cuts.append(payload.count)
        var start = 0
        for (index, end) in cuts.enumerated() {
            append(
                index == 0 ? opcode : .continuation, payload[start..<end],
                rsv: index == 0 && isCompressed ? 4 : 0, fin: index == cuts.count - 1,
                into: &output)
            start = end
        }
    }

    private func append(
        _ opcode: Opcode, _ payload: ArraySlice<UInt8>, rsv: UInt8, fin: Bool,
        into output: inout Bytes
    ) {
        let key = role == .client ? nextKey() : nil
        FrameHeader(
            fin: fin, rsv: rsv, opcode: opcode, maskingKey: key,
            payloadLength: UInt64(payload.count)
        ).encode(into: &output)
        let start = output.count
        output += payload
        key?.apply(to: &output, from: start)
    }
}

/// A rule of RFC 6455 or RFC 7692 that a frame or message breaks.
package enum FrameViolation: Hashable, Sendable {
    /// Reserved bits that nothing gave a meaning to, here (0 to 7, RSV1 is the 4).
    case reservedBits(UInt8, Opcode)
    case reservedOpcode(Opcode)
    /// A client's frame without a mask.
    case unmasked
    /// A server's frame with a mask.
    case masked
    /// A control frame with so many bytes, over 125.
    case controlTooLong(Opcode, UInt64)
    case controlFragmented(Opcode)
    /// A longer length form than the length needs.
    case lengthNotMinimal(LengthForm, UInt64)
    /// A 64-bit length with its highest bit set.
    case lengthTopBit(UInt64)
    /// A continuation with nothing to continue.
    case strayContinuation
    /// A new message within a fragmented one.
    case interruptedMessage(Opcode)
    case textNotUTF8
    case closeOfOneByte
    case closeCode(CloseCode)
    case closeReasonNotUTF8
    /// A frame behind the close frame.
    case afterClose(Opcode)
    /// Compressed data that cannot be decompressed.
    case notInflatable(why: String)

    /// Where the rule stands.
    package var section: String {
        switch self {
        case .reservedBits, .reservedOpcode, .lengthNotMinimal, .lengthTopBit: "RFC 6455 §5.2"
        case .unmasked, .masked: "RFC 6455 §5.1"
        case .controlTooLong, .controlFragmented: "RFC 6455 §5.5"
        case .strayContinuation, .interruptedMessage: "RFC 6455 §5.4"
        case .textNotUTF8: "RFC 6455 §8.1"
        case .closeOfOneByte, .closeReasonNotUTF8, .afterClose: "RFC 6455 §5.5.1"
        case .closeCode: "RFC 6455 §7.4"
        case .notInflatable: "RFC 7692 §7.2.2"
        }
    }

    /// What is wrong, in a few words; short enough for a close frame's reason.
    package var text: String {
        switch self {
        case .reservedBits(let bits, let opcode):
            "reserved bits \(bits) are set on a frame with opcode \(opcode.rawValue)"
        case .reservedOpcode(let opcode): "opcode \(opcode.rawValue) is reserved"
        case .unmasked: "a client's frame is not masked"
        case .masked: "a server's frame is masked"
        case .controlTooLong(let opcode, let length):
            "a control frame with opcode \(opcode.rawValue) has \(length) bytes, over 125"
        case .controlFragmented(let opcode):
            "a control frame with opcode \(opcode.rawValue) is fragmented"
        case .lengthNotMinimal(let form, let length):
            "the length \(length) takes \(form == .medium ? 16 : 64) bits, more than it needs"
        case .lengthTopBit: "the highest bit of a 64-bit length is set"
        case .strayContinuation: "a continuation has no message to continue"
        case .interruptedMessage(let opcode):
            "a message with opcode \(opcode.rawValue) begins within another one"
        case .textNotUTF8: "a text message is not UTF-8"
        case .closeOfOneByte: "a close frame has one byte, half a code"
        case .closeCode(let code): "close code \(code.rawValue) is not allowed on the wire"
        case .closeReasonNotUTF8: "a close reason is not UTF-8"
        case .afterClose(let opcode):
            "a frame with opcode \(opcode.rawValue) follows the close frame"
        case .notInflatable(let why): "compressed data cannot be read: \(why)"
        }
    }

    /// The code with which an endpoint fails the connection (RFC 6455 §7.4.1).
    package var closeCode: CloseCode {
        switch self {
        case .textNotUTF8, .closeReasonNotUTF8, .notInflatable: .invalidData
        default: .protocolError
        }
    }

    /// What is wrong with a header, seen by itself and within its message.
    ///
    /// - Parameters:
    ///   - deflate: whether permessage-deflate was agreed on.
    ///   - isWithinMessage: whether the sender has begun a message and not ended it.
    package static func violations(
        of header: FrameHeader, from sender: WebSocketRole, deflate: Bool, isWithinMessage: Bool
    ) -> [FrameViolation] {
        var found: [FrameViolation] = []
        let opcode = header.opcode
        // RSV1 marks the first frame of a compressed message (RFC 7692 §6), and no other.
        let isFirst = opcode == .text || opcode == .binary
        let reserved = deflate && isFirst ? header.rsv & 3 : header.rsv
        if reserved != 0 { found.append(.reservedBits(header.rsv, opcode)) }
        switch opcode {
        case .text, .binary:
            if isWithinMessage { found.append(.interruptedMessage(opcode)) }
        case .continuation:
            if !isWithinMessage { found.append(.strayContinuation) }
        case .close, .ping, .pong:
            break
        default:
            found.append(.reservedOpcode(opcode))
        }
        if opcode.isControl {
            if header.payloadLength > 125 {
                found.append(.controlTooLong(opcode, header.payloadLength))
            }
            if !header.fin { found.append(.controlFragmented(opcode)) }
        }
        switch sender {
        case .client: if header.maskingKey == nil { found.append(.unmasked) }
        case .server: if header.maskingKey != nil { found.append(.masked) }
        }
        if header.payloadLength >> 63 != 0 { found.append(.lengthTopBit(header.payloadLength)) }
        if !header.isMinimal {
            found.append(.lengthNotMinimal(header.lengthForm, header.payloadLength))
        }
        return found
    }
}

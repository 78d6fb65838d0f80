/// What a WebSocket frame is for (RFC 6455 §5.2, §11.8).
///
/// An open set: reserved opcodes cross the link too, and are kept as they came.
package struct Opcode: RawRepresentable, Hashable, Sendable {
    /// The four bits of the wire, 0 to 15.
    package let rawValue: UInt8

    /// Makes an opcode from the low four bits of `rawValue`.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x0f
    }

    package static let continuation = Opcode(rawValue: 0x0)
    package static let text = Opcode(rawValue: 0x1)
    package static let binary = Opcode(rawValue: 0x2)
    // 0x3 to 0x7 are reserved for further data frames.
    package static let close = Opcode(rawValue: 0x8)
    package static let ping = Opcode(rawValue: 0x9)
    package static let pong = Opcode(rawValue: 0xa)
    // 0xb to 0xf are reserved for further control frames.

    /// Whether both are the same bits.
    package static func == (left: Opcode, right: Opcode) -> Bool {
        left.rawValue == right.rawValue
    }

    /// Whether the opcode is one of the control range, 0x8 to 0xf (RFC 6455 §5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The four bytes that a client's payload is masked with (RFC 6455 §5.3).
package struct MaskingKey: RawRepresentable, Hashable, Sendable {
    /// The key as a big-endian number: its first byte on the wire is the highest.
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// How many bytes a frame's header spends on the payload length (RFC 6455 §5.2).
///
/// Peers may use a longer form than needed, which the RFC forbids; it is kept, so that
/// encoding gives back what crossed.
package enum LengthForm: UInt8, Sendable {
    /// In the seven bits of the second byte, 0 to 125.
    case short
    /// 126, then two bytes.
    case medium
    /// 127, then eight bytes.
    case long

    /// The shortest form that can hold `length`.
    package init(minimalFor length: UInt64) {
        self = length <= 125 ? .short : length <= 0xffff ? .medium : .long
    }
}

/// The header of a WebSocket frame, exactly as it crossed, legal or not (RFC 6455 §5.2).
package struct FrameHeader: Hashable, Sendable {
    package var fin: Bool
    /// RSV1 to RSV3 as a number 0 to 7; RSV1 is the 4.
    package var rsv: UInt8
    package var opcode: Opcode
    /// Absent on an unmasked frame.
    package var maskingKey: MaskingKey?
    /// Bytes of payload that the header announces; all 64 bits are kept.
    package var payloadLength: UInt64
    package var lengthForm: LengthForm

    /// Makes a header; the length form is the shortest unless said otherwise.
    package init(
        fin: Bool = true, rsv: UInt8 = 0, opcode: Opcode, maskingKey: MaskingKey? = nil,
        payloadLength: UInt64, lengthForm: LengthForm? = nil
    ) {
        self.fin = fin
        self.rsv = rsv & 7
        self.opcode = opcode
        self.maskingKey = maskingKey
        self.payloadLength = payloadLength
        self.lengthForm = lengthForm ?? LengthForm(minimalFor: payloadLength)
    }

    /// Whether the frame is a whole message as it was sent: final, of text or binary data, no bit
    /// reserved for extensions set.
    package var isWholeMessage: Bool {
        fin && rsv == 0 && (opcode == .text || opcode == .binary)
    }

    /// Whether the header uses the shortest length form (RFC 6455 §5.2: it must).
    package var isMinimal: Bool { lengthForm == LengthForm(minimalFor: payloadLength) }
}

/// A whole WebSocket frame; the payload is unmasked, but otherwise as on the wire.
package struct Frame: Hashable, Sendable {
    package var header: FrameHeader
    /// Unmasked; still compressed where RSV1 says so.
    package var payload: Bytes

    package init(header: FrameHeader, payload: Bytes) {
        self.header = header
        self.payload = payload
    }

    /// Makes a frame whose header fits its payload.
    package init(
        fin: Bool = true, rsv: UInt8 = 0, opcode: Opcode, maskingKey: MaskingKey? = nil,
        payload: Bytes
    ) {
        header = FrameHeader(
            fin: fin, rsv: rsv, opcode: opcode, maskingKey: maskingKey,
            payloadLength: UInt64(payload.count))
        self.payload = payload
    }
}

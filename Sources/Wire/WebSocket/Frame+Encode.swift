extension FrameHeader {
    /// The most bytes that a header takes: two, eight for the length, four for the key.
    package static let maximumSize = 14

    /// How many bytes of the wire the header takes, 2 to 14.
    package var encodedSize: Int {
        var size = 2
        switch encodedForm {
        case .short: break
        case .medium: size += 2
        case .long: size += 8
        }
        return maskingKey == nil ? size : size + 4
    }

    /// The length form, or the shortest possible one where the length does not fit in it.
    private var encodedForm: LengthForm {
        let minimal = LengthForm(minimalFor: payloadLength)
        return lengthForm.rawValue < minimal.rawValue ? minimal : lengthForm
    }

    /// Appends the header's bytes (RFC 6455 §5.2).
    ///
    /// Legal or not, all fields are written as they stand. Only a length form that cannot hold
    /// the length is replaced by the shortest one that can.
    package func encode(into bytes: inout Bytes) {
        bytes.append((fin ? 0x80 : 0) | (rsv & 7) << 4 | opcode.rawValue)
        let masked: UInt8 = maskingKey == nil ? 0 : 0x80
        switch encodedForm {
        case .short:
            bytes.append(masked | UInt8(truncatingIfNeeded: payloadLength))
        case .medium:
            bytes.append(masked | 126)
            bytes.append(UInt8(truncatingIfNeeded: payloadLength >> 8))
            bytes.append(UInt8(truncatingIfNeeded: payloadLength))
        case .long:
            bytes.append(masked | 127)
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: payloadLength >> shift))
            }
        }
        if let key = maskingKey?.rawValue {
            bytes.append(UInt8(truncatingIfNeeded: key >> 24))
            bytes.append(UInt8(truncatingIfNeeded: key >> 16))
            bytes.append(UInt8(truncatingIfNeeded: key >> 8))
            bytes.append(UInt8(truncatingIfNeeded: key))
        }
    }
}

extension Frame {
    /// Appends the frame's bytes: its header as it stands, then its payload, masked if the
    /// header has a key.
    ///
    /// A header that announces another length than the payload's is written all the same.
    package func encode(into bytes: inout Bytes) {
        header.encode(into: &bytes)
        let start = bytes.count
        bytes.append(contentsOf: payload)
        header.maskingKey?.apply(to: &bytes, from: start)
    }

    /// The frame's bytes, alone.
    package func encoded() -> Bytes {
        var bytes = Bytes()
        bytes.reserveCapacity(FrameHeader.maximumSize + payload.count)
        encode(into: &bytes)
        return bytes
    }
}

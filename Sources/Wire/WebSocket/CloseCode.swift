/// Why a WebSocket connection is closed (RFC 6455 §7.4).
///
/// An open set: any number crosses the link.
package struct CloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let normal = CloseCode(rawValue: 1000)
    package static let goingAway = CloseCode(rawValue: 1001)
    package static let protocolError = CloseCode(rawValue: 1002)
    package static let unsupportedData = CloseCode(rawValue: 1003)
    /// Stands for a close frame without a code; never on the wire.
    package static let noStatus = CloseCode(rawValue: 1005)
    /// Stands for a connection that ended without a close frame; never on the wire.
    package static let abnormal = CloseCode(rawValue: 1006)
    package static let invalidData = CloseCode(rawValue: 1007)
    package static let policyViolation = CloseCode(rawValue: 1008)
    package static let messageTooBig = CloseCode(rawValue: 1009)
    package static let mandatoryExtension = CloseCode(rawValue: 1010)
    package static let internalError = CloseCode(rawValue: 1011)

    /// Whether a close frame may carry the code (RFC 6455 §7.4.1, §7.4.2).
    ///
    /// 1000 to 1003 and 1007 to 1014 are registered for that; 3000 to 4999 are free for
    /// libraries and applications. All others are reserved.
    package var isAllowedOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// What the payload of a close frame says (RFC 6455 §5.5.1).
package enum ClosePayload: Hashable, Sendable {
    /// Nothing at all.
    case empty
    /// A single byte, which is half a code.
    case oneByte(UInt8)
    /// A code, allowed or not, and a reason, UTF-8 or not.
    case status(CloseCode, reason: Bytes)

    /// The longest reason that fits into a control frame: 125 bytes less the code.
    package static let maximumReason = 123

    /// Reads a payload; every one says something.
    package init(_ payload: Bytes) {
        switch payload.count {
        case 0: self = .empty
        case 1: self = .oneByte(payload[0])
        default:
            self = .status(
                CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1])),
                reason: Bytes(payload[2...]))
        }
    }

    /// A payload with a code and a reason, which is cut to 123 bytes between characters.
    package init(_ code: CloseCode, _ reason: String = "") {
        var bytes = Bytes()
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar).map(Bytes.init) ?? []
            guard bytes.count + encoded.count <= Self.maximumReason else { break }
            bytes += encoded
        }
        self = .status(code, reason: bytes)
    }

    /// The payload's bytes.
    package var bytes: Bytes {
        switch self {
        case .empty: []
        case .oneByte(let byte): [byte]
        case .status(let code, let reason):
            [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + reason
        }
    }

    /// The code, where there is one.
    package var code: CloseCode? {
        if case .status(let code, _) = self { code } else { nil }
    }

    /// The reason as text, U+FFFD for what is not UTF-8; empty without one.
    package var reason: String {
        if case .status(_, let reason) = self {
            String(decoding: reason, as: UTF8.self)
        } else {
            ""
        }
    }

    /// What is wrong with the payload.
    package var violation: FrameViolation? {
        switch self {
        case .empty: nil
        case .oneByte: .closeOfOneByte
        case .status(let code, let reason):
            if !code.isAllowedOnWire {
                .closeCode(code)
            } else if !isValidUTF8(reason.span) {
                .closeReasonNotUTF8
            } else {
                nil
            }
        }
    }
}

package import Wire

/// The secret by which redaction chooses its stand-ins: who has it can tell whose they are.
///
/// What is equal stays equal under one key and becomes something else under another. Outputs name
/// a key by its `id` only.
package struct RedactionKey: Sendable, Equatable {
    /// Bytes of a key.
    package static let size = 32

    private let bytes: Bytes
    /// Sixteen hexadecimal digits that tell keys apart and nothing about them.
    package let id: String
    /// Days that all instants are moved by: 52 to 571 whole weeks into the past.
    ///
    /// The past, so that what was not due at the time of a session is not due later either.
    let days: Int64

    /// Takes 32 random bytes; nil for another number of them, or where libcrypto refuses.
    package init?(_ bytes: Bytes) {
        guard bytes.count == Self.size,
            let name = hmacSHA256(key: bytes, Bytes("bridgetap key id".utf8)),
            let offset = hmacSHA256(key: bytes, Bytes("bridgetap offset".utf8))
        else { return nil }
        self.bytes = bytes
        var digits: Bytes = []
        appendHex(name.span.extracting(0..<8), to: &digits)
        id = String(decoding: digits, as: UTF8.self)
        let number = offset.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        days = -7 * (52 + number % 520)
    }

    /// Reads the text of a key file: 64 hexadecimal digits, white space around them.
    package init?(text: Bytes) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let digits = Bytes(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        guard let bytes = decodeHex(digits.span) else { return nil }
        self.init(bytes)
    }

    /// The text of a key file.
    package var text: Bytes {
        var text: Bytes = []
        appendHex(bytes.span, to: &text)
        return text + [0x0a]
    }

    /// 32 bytes that look random and depend on the key, the purpose and the message.
    func code(_ purpose: String, _ message: Bytes) -> Bytes {
        let code = hmacSHA256(key: bytes, Bytes(purpose.utf8) + [0] + message)
        // It was there when the key was made. Were it not now, a stand-in still is none of the
        // bytes that it stands for.
        return code ?? Bytes(repeating: 0x55, count: 32)
    }
}

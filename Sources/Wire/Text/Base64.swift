/// Why text is not base64, with the offset of the first wrong character.
package enum Base64Error: Error, Hashable, Sendable {
    /// The character is not of the alphabet, or `=` stands before the end.
    case invalidCharacter(UInt8, at: Int)
    /// The length is not a multiple of four: padding is missing.
    case incomplete(count: Int)
    /// The last character before the padding carries bits that no byte takes (RFC 4648 §3.5).
    case trailingBits(at: Int)
}

/// Appends `bytes` in base64 with padding (RFC 4648 §4).
package func appendBase64(_ bytes: Span<UInt8>, to output: inout Bytes) {
    let count = bytes.count
    guard count > 0 else { return }
    let alphabet = Base64.alphabet
    var position = 0
    output.append(addingCapacity: (count + 2) / 3 * 4) { room in
        unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
            var written = 0
            while position &+ 3 <= count {
                let group =
                    UInt32(bytes[position]) << 16 | UInt32(bytes[position &+ 1]) << 8
                    | UInt32(bytes[position &+ 2])
                unsafe buffer[written] = alphabet[Int(group >> 18)]
                unsafe buffer[written &+ 1] = alphabet[Int(group >> 12 & 63)]
                unsafe buffer[written &+ 2] = alphabet[Int(group >> 6 & 63)]
                unsafe buffer[written &+ 3] = alphabet[Int(group & 63)]
                position &+= 3
                written &+= 4
            }
            initialized += written
        }
    }
    let pad = UInt8(ascii: "=")
    switch count - position {
    case 1:
        let group = UInt32(bytes[position]) << 16
        output += [alphabet[Int(group >> 18)], alphabet[Int(group >> 12 & 63)], pad, pad]
    case 2:
        let group = UInt32(bytes[position]) << 16 | UInt32(bytes[position + 1]) << 8
        output += [
            alphabet[Int(group >> 18)], alphabet[Int(group >> 12 & 63)],
            alphabet[Int(group >> 6 & 63)], pad,
        ]
    default: break
    }
}

/// Appends the bytes of base64 text, strictly: padding, no white space, no stray bits
/// (RFC 4648 §4, §3.5).
///
/// What was decoded before an error has been appended.
package func decodeBase64(
    _ text: Span<UInt8>, into output: inout Bytes
) throws(Base64Error) {
    // Room for nothing would be written to the one empty array that all threads share.
    guard !text.isEmpty else { return }
    let values = Base64.values
    var position = 0
    var length = text.count
    if length.isMultiple(of: 4), length > 0, text[length - 1] == UInt8(ascii: "=") {
        length -= text[length - 2] == UInt8(ascii: "=") ? 2 : 1
    }
    output.append(addingCapacity: (text.count + 3) / 4 * 3) { room in
        unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
            var written = 0
            while position &+ 4 <= length {
                let a = values[Int(text[position])]
                let b = values[Int(text[position &+ 1])]
                let c = values[Int(text[position &+ 2])]
                let d = values[Int(text[position &+ 3])]
                guard (a | b | c | d) & 0x80 == 0 else { break }
                let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
                unsafe buffer[written] = UInt8(truncatingIfNeeded: group >> 16)
                unsafe buffer[written &+ 1] = UInt8(truncatingIfNeeded: group >> 8)
                unsafe buffer[written &+ 2] = UInt8(truncatingIfNeeded: group)
                position &+= 4
                written &+= 3
            }
            initialized += written
        }
    }
    for offset in position..<min(length, position + 4) where values[Int(text[offset])] & 0x80 != 0 {
        throw .invalidCharacter(text[offset], at: offset)
    }
    guard text.count.isMultiple(of: 4) else { throw .incomplete(count: text.count) }
    switch length - position {
    case 2:
        let group =
            UInt32(values[Int(text[position])]) << 6
            | UInt32(values[Int(text[position + 1])])
        guard group & 0xf == 0 else { throw .trailingBits(at: position + 1) }
        output.append(UInt8(truncatingIfNeeded: group >> 4))
    case 3:
        let group =
            UInt32(values[Int(text[position])]) << 12 | UInt32(values[Int(text[position + 1])]) << 6
            | UInt32(values[Int(text[position + 2])])
        guard group & 3 == 0 else { throw .trailingBits(at: position + 2) }
        output.append(UInt8(truncatingIfNeeded: group >> 10))
        output.append(UInt8(truncatingIfNeeded: group >> 2))
    default: break
    }
}

private enum Base64 {
    static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character; 0xff for those outside the alphabet.
    static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, character) in alphabet.enumerated() {
            values[Int(character)] = UInt8(value)
        }
        return values
    }()
}

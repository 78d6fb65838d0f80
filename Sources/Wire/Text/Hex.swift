/// The value of a hexadecimal digit of either case; nil for other bytes.
@inline(__always)
package func hexDigitValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// The digit, in lower case, of the low four bits of `value`.
@inline(__always)
package func hexDigit(_ value: UInt8) -> UInt8 {
    let nibble = value & 0xf
    return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
}

/// Appends two lower-case hexadecimal digits for each byte.
package func appendHex(_ bytes: Span<UInt8>, to output: inout Bytes) {
    output.reserveCapacity(output.count + bytes.count * 2)
    for index in bytes.indices {
        output.append(hexDigit(bytes[index] >> 4))
        output.append(hexDigit(bytes[index]))
    }
}

/// The bytes of hexadecimal text of either case; nil when it has an odd number of digits or
/// anything else in it.
package func decodeHex(_ text: Span<UInt8>) -> Bytes? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes = Bytes()
    bytes.reserveCapacity(text.count / 2)
    var position = 0
    while position < text.count {
        guard let high = hexDigitValue(text[position]), let low = hexDigitValue(text[position + 1])
        else { return nil }
        bytes.append(high << 4 | low)
        position += 2
    }
    return bytes
}

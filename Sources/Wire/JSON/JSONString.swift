/// Appends UTF-8 as a JSON string with its quotes.
///
/// Escapes what RFC 8259 §7 demands and nothing else. `utf8` must be valid UTF-8, or the result
/// is not. About a nanosecond for eight bytes, and two for an escape.
package func appendJSONString(_ utf8: Span<UInt8>, to output: inout Bytes) {
    output.append(UInt8(ascii: "\""))
    // A chunk's worst case is six times its size, so its room is bounded.
    let maximumChunk = 4096
    var start = 0
    while start < utf8.count {
        let end = min(start + maximumChunk, utf8.count)
        appendEscapedChunk(utf8.extracting(start..<end), to: &output)
        start = end
    }
    output.append(UInt8(ascii: "\""))
}

/// Appends text as a JSON string with its quotes.
package func appendJSONString(_ text: String, to output: inout Bytes) {
    appendJSONString(text.utf8.span, to: &output)
}

/// Appends text as a JSON string the way Go's encoder does: `<`, `>`, `&`, U+2028 and U+2029
/// are escaped too (board facts, "HTTP basics").
package func appendMarkupSafeJSONString(_ text: String, to output: inout Bytes) {
    var plain = Bytes()
    appendJSONString(text, to: &plain)
    var position = 0
    while position < plain.count {
        let byte = plain[position]
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"):
            output += [0x5c, 0x75, 0x30, 0x30, hexDigit(byte >> 4), hexDigit(byte)]
        case 0xe2
        where position + 2 < plain.count && plain[position + 1] == 0x80
            && plain[position + 2] & 0xfe == 0xa8:
            output += [0x5c, 0x75, 0x32, 0x30, 0x32, hexDigit(plain[position + 2])]
            position += 2
        default:
            output.append(byte)
        }
        position += 1
    }
}

private func appendEscapedChunk(_ chunk: Span<UInt8>, to output: inout Bytes) {
    let count = chunk.count
    // Six bytes for each byte at worst. A store of a whole word reaches 23 bytes further at most,
    // which the six times eight of that word's own bytes cover.
    output.append(addingCapacity: count * 6 + 8) { room in
        unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
            var written = 0
            var position = 0
            while position < count {
                if position &+ 8 <= count {
                    let word = chunk.word(at: position)
                    var stops = WordScan.allJSONStringStops(word)
                    let target = UnsafeMutableRawBufferPointer(buffer)
                    // Stored whole: what stands behind a stop is written over.
                    unsafe target.storeBytes(
                        of: word.littleEndian, toByteOffset: written, as: UInt64.self)
                    var control = -1
                    while stops != 0 {
                        let index = stops.trailingZeroBitCount >> 3
                        let rest = word >> UInt64(index &* 8)
                        if UInt8(truncatingIfNeeded: rest) < 0x20 {
                            control = index
                            break
                        }
                        // A backslash, and the rest of the word behind it.
                        unsafe target[written &+ index] = UInt8(ascii: "\\")
                        unsafe target.storeBytes(
                            of: rest.littleEndian, toByteOffset: written &+ index &+ 1,
                            as: UInt64.self)
                        written &+= 1
                        stops &= stops &- 1
                    }
                    guard control >= 0 else {
                        position &+= 8
                        written &+= 8
                        continue
                    }
                    position &+= control
                    written &+= control
                }
                let byte = chunk[position]
                position &+= 1
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                else {
                    unsafe buffer[written] = byte
                    written &+= 1
                    continue
                }
                unsafe buffer[written] = UInt8(ascii: "\\")
                let short: UInt8 =
                    switch byte {
                    case 0x08: UInt8(ascii: "b")
                    case 0x09: UInt8(ascii: "t")
                    case 0x0a: UInt8(ascii: "n")
                    case 0x0c: UInt8(ascii: "f")
                    case 0x0d: UInt8(ascii: "r")
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
                    default: 0
                    }
                if short != 0 {
                    unsafe buffer[written &+ 1] = short
                    written &+= 2
                } else {
                    unsafe buffer[written &+ 1] = UInt8(ascii: "u")
                    unsafe buffer[written &+ 2] = UInt8(ascii: "0")
                    unsafe buffer[written &+ 3] = UInt8(ascii: "0")
                    unsafe buffer[written &+ 4] = hexDigit(byte >> 4)
                    unsafe buffer[written &+ 5] = hexDigit(byte)
                    written &+= 6
                }
            }
            initialized += written
        }
    }
}

/// Appends what the content of a JSON string that was scanned without error stands for.
///
/// A surrogate without its other half becomes U+FFFD. Runs without escapes are copied whole.
package func unescapeJSON(_ content: Span<UInt8>, into output: inout Bytes) {
    let count = content.count
    var position = 0
    while position < count {
        let runStart = position
        while position < count, content[position] != UInt8(ascii: "\\") { position &+= 1 }
        if position > runStart {
            unsafe content.extracting(runStart..<position).withUnsafeBufferPointer {
                unsafe output.append(contentsOf: $0)
            }
        }
        guard position + 1 < count else { return }
        let kind = content[position + 1]
        position += 2
        switch kind {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0c)
        case UInt8(ascii: "n"): output.append(0x0a)
        case UInt8(ascii: "r"): output.append(0x0d)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = UInt32(codeUnit(content, at: position))
            position += 4
            if scalar & 0xfc00 == 0xd800, position + 1 < count,
                content[position] == UInt8(ascii: "\\"),
                content[position + 1] == UInt8(ascii: "u")
            {
                let low = UInt32(codeUnit(content, at: position + 2))
                if low & 0xfc00 == 0xdc00 {
                    scalar = 0x10000 + (scalar & 0x3ff) << 10 + low & 0x3ff
                    position += 6
                }
            }
            output += Bytes((Unicode.Scalar(scalar) ?? "\u{fffd}").utf8)
        default: output.append(kind)
        }
    }
}

/// The value of up to four hexadecimal digits at `start`.
private func codeUnit(_ content: Span<UInt8>, at start: Int) -> UInt16 {
    var unit: UInt16 = 0
    for position in start..<min(start + 4, max(start, content.count)) {
        unit = unit << 4 | UInt16(hexDigitValue(content[position]) ?? 0)
    }
    return unit
}

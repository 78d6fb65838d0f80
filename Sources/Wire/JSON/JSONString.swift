/// Appends UTF-8 as a JSON string with its quotes.
///
/// Escapes what RFC 8259 §7 demands and nothing else. `utf8` must be valid UTF-8, or the result
/// is not. Less than a nanosecond for eight bytes, and two for an escape.
package func appendJSONString(_ utf8: Span<UInt8>, to output: inout Bytes) {
    // A chunk's worst case is six times its size, so its room is bounded.
    let maximumChunk = 4096
    guard utf8.count > maximumChunk else {
        output.append(addingCapacity: jsonStringCapacity(utf8.count)) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...])
                initialized += unsafe writeJSONString(utf8, to: free).size
            }
        }
        return
    }
    output.append(UInt8(ascii: "\""))
    var start = 0
    while start < utf8.count {
        let end = min(start + maximumChunk, utf8.count)
        let chunk = utf8.extracting(start..<end)
        output.append(addingCapacity: jsonStringCapacity(chunk.count)) { room in
            unsafe room.withUnsafeMutableBufferPointer { buffer, initialized in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...])
                initialized += unsafe writeEscaped(chunk, to: free).size
            }
        }
        start = end
    }
    output.append(UInt8(ascii: "\""))
}

/// Appends text as a JSON string with its quotes.
package func appendJSONString(_ text: String, to output: inout Bytes) {
    let isWritten: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
        appendJSONString(unsafe Span(_unsafeElements: utf8), to: &output)
    }
    if isWritten == nil { appendJSONString(Bytes(text.utf8).span, to: &output) }
}

/// The room that `writeJSONString` wants for so many bytes of UTF-8.
package func jsonStringCapacity(_ count: Int) -> Int {
    // Six bytes for each byte at worst, the quotes, and sixteen beyond for stores of as many.
    count * 6 + 18
}

/// Writes UTF-8 as a JSON string with its quotes to the beginning of `room`; returns its size,
/// and whether all of it is ASCII, which need not be looked at for being UTF-8.
///
/// - Precondition: `room` has at least `jsonStringCapacity(utf8.count)` bytes.
package func writeJSONString(
    _ utf8: Span<UInt8>, to room: UnsafeMutableRawBufferPointer
) -> (size: Int, isASCII: Bool) {
    precondition(room.count >= jsonStringCapacity(utf8.count), "too little room")
    unsafe room.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    let (size, isASCII) = unsafe writeEscaped(
        utf8, to: UnsafeMutableRawBufferPointer(rebasing: room.dropFirst()))
    unsafe room.storeBytes(of: UInt8(ascii: "\""), toByteOffset: size + 1, as: UInt8.self)
    return (size + 2, isASCII)
}

/// Appends text as a JSON string the way Go's encoder does: `<`, `>`, `&`, U+2028 and U+2029
/// are escaped too (board facts, "HTTP basics").
package func appendMarkupSafeJSONString(_ text: String, to output: inout Bytes) {
    let start = output.count
    appendJSONString(text, to: &output)
    let isSafe = output[start...].allSatisfy { byte in
        byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "&")
            && byte != 0xe2
    }
    guard !isSafe else { return }
    let plain = Bytes(output[start...])
    output.removeLast(plain.count)
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

/// Writes the escaped bytes to the beginning of `room`, which holds six for each and sixteen more.
private func writeEscaped(
    _ source: Span<UInt8>, to room: UnsafeMutableRawBufferPointer
) -> (size: Int, isASCII: Bool) {
    let count = source.count
    precondition(room.count >= count * 6 + 16, "too little room")
    guard let target = room.baseAddress else { return (0, true) }
    var seen = SIMD16<UInt8>()
    var written = 0
    // Sixteen bytes are looked at and up to sixteen more are copied at a step.
    let wide = max(0, (count &- 16) & ~15)
    unsafe writeEscaped(source, count: wide, isWide: true, to: target, &written, &seen)
    if wide < count {
        // The rest has room behind it in a copy.
        let rest = count &- wide
        unsafe withUnsafeTemporaryAllocation(byteCount: 48, alignment: 16) { copy in
            unsafe copy.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe source.extracting(wide..<count).bytes.withUnsafeBytes {
                unsafe copy.copyMemory(from: $0)
            }
            let bytes = unsafe Span<UInt8>(_bytes: copy.bytes)
            unsafe writeEscaped(bytes, count: rest, isWide: false, to: target, &written, &seen)
        }
    }
    let words = WordScan.words(seen)
    return (written, (words[0] | words[1]) & WordScan.highBits == 0)
}

/// Writes the first `count` bytes of `source`, escaped, behind the first `written` of `target`.
///
/// `source` has sixteen bytes more. `seen` gets the bits of all bytes; those behind `count` are
/// zeros where that is no multiple of sixteen, which it is where `isWide`.
@inline(__always)
private func writeEscaped(
    _ source: Span<UInt8>, count: Int, isWide: Bool, to target: UnsafeMutableRawPointer,
    _ written: inout Int, _ seen: inout SIMD16<UInt8>
) {
    var position = 0
    while position < count {
        // Long clean texts: twice sixteen a step.
        while isWide, position &+ 32 <= count {
            let first = source.sixteen(at: position)
            let second = source.sixteen(at: position &+ 16)
            guard WordScan.haveNoJSONStringStop(first, second) else { break }
            unsafe target.storeBytes(of: first, toByteOffset: written, as: SIMD16<UInt8>.self)
            unsafe target.storeBytes(
                of: second, toByteOffset: written &+ 16, as: SIMD16<UInt8>.self)
            seen |= first | second
            position &+= 32
            written &+= 32
        }
        guard position < count else { return }
        let part = source.sixteen(at: position)
        let size = isWide ? 16 : min(count &- position, 16)
        // Stored whole: what stands behind a stop, and behind the end, is written over.
        unsafe target.storeBytes(of: part, toByteOffset: written, as: SIMD16<UInt8>.self)
        seen |= part
        let stops = WordScan.jsonStringStops(part)
        if stops[0] | stops[1] != 0 {
            var rest = WordScan.bits(stops)
            if !isWide, size < 16 { rest &= (1 &<< UInt32(truncatingIfNeeded: size)) &- 1 }
            var start = 0
            while rest != 0 {
                let stop = rest.trailingZeroBitCount
                let byte = source[position &+ stop]
                written &+= stop &- start
                if byte >= 0x20 {
                    unsafe target.storeBytes(
                        of: (UInt16(byte) << 8 | 0x5c).littleEndian, toByteOffset: written,
                        as: UInt16.self)
                    written &+= 2
                } else {
                    written &+= unsafe writeControlEscape(byte, to: target + written)
                }
                start = stop &+ 1
                unsafe target.storeBytes(
                    of: source.sixteen(at: position &+ start), toByteOffset: written,
                    as: SIMD16<UInt8>.self)
                rest &= rest &- 1
            }
            written &-= start
        }
        written &+= size
        position &+= 16
    }
}

/// Writes the escape of a control character, of at most six bytes; returns its size.
private func writeControlEscape(_ byte: UInt8, to target: UnsafeMutableRawPointer) -> Int {
    let short: UInt8 =
        switch byte {
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0a: UInt8(ascii: "n")
        case 0x0c: UInt8(ascii: "f")
        case 0x0d: UInt8(ascii: "r")
        default: 0
        }
    unsafe target.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
    if short != 0 {
        unsafe target.storeBytes(of: short, toByteOffset: 1, as: UInt8.self)
        return 2
    }
    unsafe target.storeBytes(of: UInt8(ascii: "u"), toByteOffset: 1, as: UInt8.self)
    unsafe target.storeBytes(of: UInt8(ascii: "0"), toByteOffset: 2, as: UInt8.self)
    unsafe target.storeBytes(of: UInt8(ascii: "0"), toByteOffset: 3, as: UInt8.self)
    unsafe target.storeBytes(of: hexDigit(byte >> 4), toByteOffset: 4, as: UInt8.self)
    unsafe target.storeBytes(of: hexDigit(byte), toByteOffset: 5, as: UInt8.self)
    return 6
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

import Wire

extension LineScanner {
    /// Marks the high bit of the first byte that ends a run of plain bytes: a quote, a
    /// backslash, a control character.
    ///
    /// Only the lowest mark counts: a subtraction borrows from the bytes above it.
    @inline(__always)
    static func stringStops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = (word ^ (ones &* 0x22)) &- ones
        let backslashes = (word ^ (ones &* 0x5c)) &- ones
        let controls = word &- (ones &* 0x20)
        return (quotes | backslashes | controls) & ~word & 0x8080_8080_8080_8080
    }

    /// Marks the high bit of every byte that ends a run of plain bytes, and no other.
    @inline(__always)
    private static func allStringStops(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low: UInt64 = 0x7f7f_7f7f_7f7f_7f7f
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5c)
        let controls = word & (ones &* 0xe0)
        // A byte is zero where neither its high bit is set nor a carry from its others.
        let others =
            (((quotes & low) &+ low) | quotes) & (((backslashes & low) &+ low) | backslashes)
            & (((controls & low) &+ low) | controls)
        return ~others & ~low
    }

    /// The offset of the next byte from the cursor on that ends a run of plain bytes.
    @inline(__always)
    mutating func skipPlainBytes() throws(LineFault) {
        while position &+ 8 <= count {
            let stops = Self.stringStops(word(at: position))
            if stops != 0 {
                position &+= stops.trailingZeroBitCount >> 3
                return
            }
            position &+= 8
        }
        while position < count {
            let byte = unsafe bytes[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            position &+= 1
        }
        throw unexpected("the end of a string")
    }

    /// A string's value as text.
    mutating func string() throws(LineFault) -> String {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let start = position
        position &+= 1
        try skipPlainBytes()
        guard unsafe bytes[position] == UInt8(ascii: "\"") else {
            position = start
            // Measured first: a line may have thousands of such strings.
            var end = self
            try end.skipString()
            let bytes = try stringBytes(room: end.position &- start)
            return String(decoding: bytes, as: UTF8.self)
        }
        let content = unsafe UnsafeRawBufferPointer(rebasing: bytes[start &+ 1..<position])
        position &+= 1
        return unsafe String(decoding: content, as: UTF8.self)
    }

    mutating func string(_ field: EventField) throws(LineFault) -> String {
        guard current == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "text"))
        }
        return try string()
    }

    /// A string's value as UTF-8.
    ///
    /// No escape is shorter than what it stands for, so the rest of the line is room enough, as is
    /// what the string itself takes.
    mutating func stringBytes(room: Int? = nil) throws(LineFault) -> Bytes {
        var value = Bytes()
        try appendString(to: &value, room: room)
        return value
    }

    /// Appends a string's value as UTF-8.
    mutating func appendString(to value: inout Bytes, room: Int? = nil) throws(LineFault) {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        position &+= 1
        // Sixteen more than the string has, for stores of whole words.
        let room = (room ?? count &- position) &+ 16
        var outcome: LineFault?
        value.append(addingCapacity: room) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                let free = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...])
                do throws(LineFault) {
                    initialized += unsafe try unescape(into: free)
                } catch {
                    outcome = error
                }
            }
        }
        if let outcome { throw outcome }
    }

    /// Writes what the string stands for from the cursor on, to behind its closing quote.
    ///
    /// Gives back how much.
    private mutating func unescape(
        into room: UnsafeMutableRawBufferPointer
    ) throws(LineFault) -> Int {
        var written = 0
        while true {
            if position &+ 8 <= count {
                let word = word(at: position)
                var stops = Self.allStringStops(word)
                // Stored whole: what stands behind a stop is written over. No more was written
                // than was read, so a store reaches 15 bytes beyond the string at most.
                unsafe room.storeBytes(
                    of: word.littleEndian, toByteOffset: written, as: UInt64.self)
                var other = -1
                while stops != 0 {
                    let index = stops.trailingZeroBitCount >> 3
                    // What mostly stands here is an escaped quote: the backslash goes, and the
                    // rest of the word moves up.
                    let rest = (word >> UInt64(index &* 8)) >> 8
                    let escaped = UInt8(truncatingIfNeeded: rest)
                    guard index < 7, unsafe bytes[position &+ index] == UInt8(ascii: "\\"),
                        escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                    else {
                        other = index
                        break
                    }
                    unsafe room.storeBytes(
                        of: rest.littleEndian, toByteOffset: written &+ index, as: UInt64.self)
                    written &-= 1
                    stops &= stops &- 1
                    stops &= stops &- 1
                }
                guard other >= 0 else {
                    position &+= 8
                    written &+= 8
                    continue
                }
                position &+= other
                written &+= other
            }
            guard position < count else { throw unexpected("the end of a string") }
            let byte = unsafe bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position &+= 1
                return written
            case UInt8(ascii: "\\"):
                position &+= 1
                let escaped = current
                if escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") {
                    position &+= 1
                    unsafe room[written] = escaped
                    written &+= 1
                } else {
                    let scalar = try escape()
                    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                        unsafe room[written] = byte
                        written &+= 1
                    }
                }
            case 0..<0x20:
                throw fault(.controlCharacter(byte))
            default:
                unsafe room[written] = byte
                written &+= 1
                position &+= 1
            }
        }
    }

    /// The scalar of the escape behind the backslash, surrogates put together.
    mutating func escape() throws(LineFault) -> Unicode.Scalar {
        let start = position
        let escaped = current
        position &+= 1
        switch escaped {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "u"):
            var value = try hexDigits()
            if value & 0xfc00 == 0xd800, current == UInt8(ascii: "\\") {
                position &+= 1
                guard current == UInt8(ascii: "u") else {
                    throw LineFault(offset: start, reason: .notUTF8)
                }
                position &+= 1
                let low = try hexDigits()
                guard low & 0xfc00 == 0xdc00 else {
                    throw LineFault(offset: start, reason: .notUTF8)
                }
                value = 0x10000 + (value & 0x3ff) << 10 + low & 0x3ff
            }
            // Half a surrogate pair stands for no text.
            guard let scalar = Unicode.Scalar(value) else {
                throw LineFault(offset: start, reason: .notUTF8)
            }
            return scalar
        default:
            position = start
            throw unexpected("an escape")
        }
    }

    private mutating func hexDigits() throws(LineFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = hexDigitValue(current) else { throw unexpected("a hex digit") }
            value = value << 4 | UInt32(digit)
            position &+= 1
        }
        return value
    }

    /// The bytes that a string in base64 stands for.
    mutating func base64(_ field: EventField) throws(LineFault) -> Bytes {
        guard current == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "base64"))
        }
        let start = position &+ 1
        position = start
        try skipPlainBytes()
        guard unsafe bytes[position] == UInt8(ascii: "\"") else {
            throw fault(.badValue(field: field.rawValue, expected: "base64"))
        }
        let text = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<position])
        position &+= 1
        var value = Bytes()
        do {
            try unsafe text.withMemoryRebound(to: UInt8.self) { text throws(Base64Error) in
                try unsafe decodeBase64(text.span, into: &value)
            }
        } catch {
            let offset =
                switch error {
                case .invalidCharacter(_, let offset), .trailingBits(let offset): offset
                case .incomplete(let count): count
                }
            throw LineFault(
                offset: start + offset,
                reason: .badValue(field: field.rawValue, expected: "base64"))
        }
        return value
    }

    /// Eight hex digits.
    @inline(__always)
    mutating func hex32(_ field: EventField) throws(LineFault) -> UInt32 {
        let start = position
        guard current == UInt8(ascii: "\""), start &+ 10 <= count,
            unsafe bytes[start &+ 9] == UInt8(ascii: "\"")
        else { throw fault(.badValue(field: field.rawValue, expected: "eight hex digits")) }
        var value: UInt32 = 0
        for offset in 1...8 {
            guard let digit = unsafe hexDigitValue(bytes[start &+ offset]) else {
                throw fault(.badValue(field: field.rawValue, expected: "eight hex digits"))
            }
            value = value << 4 | UInt32(digit)
        }
        position = start &+ 10
        return value
    }
}

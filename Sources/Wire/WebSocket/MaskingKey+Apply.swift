extension MaskingKey {
    /// The four bytes in the order of the wire, from the one that meets `offset`, twice.
    ///
    /// The number's bytes in memory are the bytes of the key, whatever the machine's order.
    private func pattern(at offset: UInt64) -> UInt64 {
        let turn = UInt32(truncatingIfNeeded: offset & 3) * 8
        let turned = (rawValue << turn | rawValue >> ((32 - turn) & 31))
        let word = UInt64((turn == 0 ? rawValue : turned).bigEndian)
        return word << 32 | word
    }

    /// Masks or unmasks `bytes` from the index `start` on, in place (RFC 6455 §5.3).
    ///
    /// `offset` is the number of payload bytes before the byte at `start`. A `start` behind the
    /// end changes nothing.
    package func apply(to bytes: inout Bytes, from start: Int = 0, offset: UInt64 = 0) {
        precondition(start >= 0, "a start before the bytes")
        guard rawValue != 0, start < bytes.count else { return }
        let pattern = pattern(at: offset)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            let first = unsafe base + start
            unsafe Self.xor(
                UnsafeRawPointer(first), into: first, count: buffer.count - start,
                pattern: pattern)
        }
    }

    /// A masked or unmasked copy of `bytes` (RFC 6455 §5.3).
    ///
    /// `offset` is the number of payload bytes before the first one.
    package func applied(to bytes: Span<UInt8>, offset: UInt64 = 0) -> Bytes {
        // In place in a copy: an array made of uninitialised memory costs more than the second
        // pass, since the standard library looks its type up each time.
        var copy = Bytes(copying: bytes)
        apply(to: &copy, offset: offset)
        return copy
    }

    /// Writes `count` bytes of `source`, each XORed with the pattern, to `target`.
    ///
    /// Both must hold `count` bytes; they may be the same, but not overlap otherwise.
    private static func xor(
        _ source: UnsafeRawPointer, into target: UnsafeMutableRawPointer, count: Int,
        pattern: UInt64
    ) {
        var index = 0
        let wide = SIMD4<UInt64>(repeating: pattern)
        while count - index >= 32 {
            let part = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
            unsafe target.storeBytes(
                of: part ^ wide, toByteOffset: index, as: SIMD4<UInt64>.self)
            index += 32
        }
        while count - index >= 8 {
            let part = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            unsafe target.storeBytes(of: part ^ pattern, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        var rest = pattern.littleEndian
        while index < count {
            let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self)
            unsafe target.storeBytes(
                of: byte ^ UInt8(truncatingIfNeeded: rest), toByteOffset: index, as: UInt8.self)
            rest >>= 8
            index += 1
        }
    }
}

package import Wire

/// Bytes as lines of offset, sixteen bytes in hex, and the printable ones as text.
package func hexDump(_ bytes: Bytes) -> [String] {
    stride(from: 0, to: bytes.count, by: 16).map { start in
        let row = bytes[start..<min(start + 16, bytes.count)]
        var hex = ""
        var text = ""
        for (column, byte) in row.enumerated() {
            hex += (column == 8 ? "  " : column == 0 ? "" : " ") + twoDigits(byte)
            text.unicodeScalars.append(
                byte >= 0x20 && byte < 0x7f ? Unicode.Scalar(byte) : Unicode.Scalar(0x2e))
        }
        let offset = String(start, radix: 16)
        let zeros = String(repeating: "0", count: max(0, 6 - offset.count))
        let gap = String(repeating: " ", count: 48 - hex.count)
        return zeros + offset + "  " + hex + gap + "  " + text
    }
}

/// The first bytes in hex, for the end of a line.
package func hexPreview(_ bytes: Bytes, maximum: Int = 16) -> String {
    bytes.prefix(maximum).map(twoDigits).joined(separator: " ")
        + (bytes.count > maximum ? " …" : "")
}

private func twoDigits(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
}

import PhoneBridge
package import Wire

/// A command's id, or a phone's: equal only to an id of exactly the same bytes.
///
/// `String` would take canonically equal spellings for the same id; the contract does not.
package struct CommandID: Hashable, Sendable {
    /// The id in UTF-8; not valid UTF-8 where a URL carried something else.
    package let bytes: Bytes

    /// The id of those bytes.
    package init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Bytes(bytes)
    }

    /// The id that `text` spells.
    package init(_ text: String) {
        bytes = Bytes(text.utf8)
    }

    /// The id that a part of a URL spells, byte for byte (RFC 3986 §2.1).
    ///
    /// A broken escape stands for itself; `plusIsSpace` as in queries.
    init(percentEncoded text: PercentText, plusIsSpace: Bool = false) {
        let source = Bytes(text.text.utf8)
        var decoded = Bytes()
        var position = 0
        while position < source.count {
            let digits = source[min(position + 1, source.count)..<min(position + 3, source.count)]
            if source[position] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
                digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
            {
                decoded.append(byte)
                position += 3
            } else {
                let isSpace = plusIsSpace && source[position] == UInt8(ascii: "+")
                decoded.append(isSpace ? 0x20 : source[position])
                position += 1
            }
        }
        bytes = decoded
    }

    /// The id as text; what is not UTF-8 shows U+FFFD.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether there is nothing in it.
    package var isEmpty: Bool { bytes.isEmpty }

    /// Whether the id means something else than a command (contract, "Heartbeat" and "AppEvent").
    package var isReserved: Bool { Contract.current.isReserved(text) }

    /// Whether `other` begins with this id.
    func isPrefix(of other: CommandID) -> Bool { other.bytes.starts(with: bytes) }

    /// The id as a careless comparison sees it; what defect B3 compares.
    var folded: CommandID {
        let kept = text.unicodeScalars.filter { $0 != "\u{fffd}" && !$0.properties.isWhitespace }
        return CommandID(String(String.UnicodeScalarView(kept)).lowercased())
    }
}

extension CommandID: CustomStringConvertible {
    package var description: String { text }
}

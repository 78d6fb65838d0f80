extension String {
    /// Whether both are the same sequence of Unicode scalars.
    ///
    /// `==` also takes canonically equivalent texts for equal, which are different ids, names
    /// and contents on the wire.
    package func hasSameScalars(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.span.hasSameBytes(as: other.utf8.span)
    }
}

extension Span<UInt8> {
    /// Whether both hold the same bytes.
    package func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var position = 0
        while position &+ 8 <= count {
            if word(at: position) != other.word(at: position) { return false }
            position &+= 8
        }
        while position < count {
            if self[position] != other[position] { return false }
            position &+= 1
        }
        return true
    }
}

extension Array where Element == UInt8 {
    /// A copy of lent bytes, in one allocation.
    package init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Appends lent bytes.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe append(contentsOf: buffer)
        }
    }
}

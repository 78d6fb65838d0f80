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
    /// Writes lent bytes over those that begin at `start`, of which there have to be as many.
    mutating func overwrite(from start: Int, with bytes: Span<UInt8>) {
        precondition(start >= 0 && bytes.count <= count - start, "nothing to write over there")
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                    .copyMemory(from: source)
            }
        }
    }
}

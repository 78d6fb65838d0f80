/// A run of bytes that somebody owns.
///
/// What is only lent (a read buffer, a part of a packet) travels as `Span<UInt8>` instead.
package typealias Bytes = [UInt8]

extension Array where Element == UInt8 {
    /// Appends the bytes of a literal.
    @inlinable @inline(__always)
    package mutating func append(_ literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}

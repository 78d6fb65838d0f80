/// A run of bytes that somebody owns.
///
/// What is only lent (a read buffer, a part of a packet) travels as `Span<UInt8>` instead.
package typealias Bytes = [UInt8]

import Wire

/// Unpacks a stream of members (gzip) or frames (Zstandard), a bounded part a call.
protocol BatchDecompressor: AnyObject {
    /// Whether the input so far ends within a member or frame.
    var isWithinMember: Bool { get }

    /// Unpacks from `position` on, until the input is used up or `maximum` bytes were appended.
    ///
    /// Gives back why the input is not what it should be, if so; then nothing more comes.
    func expand(
        _ input: borrowing Span<UInt8>, at position: inout Int, into output: inout [UInt8],
        maximum: Int
    ) -> String?
}

package import Wire

/// What one connection may hold in memory while it is decoded.
package struct ConnectionLimits: Sendable {
    /// Bytes of content in one event; what is larger is cut into pieces of this size.
    ///
    /// One MiB (capture format, `piece`).
    package var maximumPiece = 1 << 20
    /// Chunks that may begin in one piece; bounds what a body of one-byte chunks costs.
    package var maximumChunksInPiece = 4096
    /// Bytes in one `data` event.
    ///
    /// It fits into one IP packet, so that a pcap keeps the cuts.
    package var maximumData = 32 << 10
    /// Requests without an answer; more of them are not decoded any further.
    package var maximumPipelined = 4096
    /// Bytes that one message is inflated to; what follows is left compressed in its frames.
    ///
    /// Two thousand times the board's own read limit.
    package var maximumInflated: UInt64 = 64 << 20
    /// Limits of heads and chunk lines.
    package var http = HTTPLimits()

    package init() {}
}

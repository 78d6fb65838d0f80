/// Limits on what an HTTP decoder holds back; what is over one comes out as undecodable bytes.
package struct HTTPLimits: Hashable, Sendable {
    /// Bytes of a head, from the empty lines before it to the empty line behind it.
    ///
    /// 64 KiB: servers stop at 8 KiB (Apache, nginx) to 1 MiB (Go); a head of the contract has
    /// less than one.
    package var maximumHeadSize: Int
    /// Bytes of a chunk line with its extensions and the line end before it.
    ///
    /// 4 KiB: room for any extension that is meant, and as much as Go takes.
    package var maximumChunkLine: Int
    /// Bytes of a trailer section with its closing empty line; as much as a head.
    package var maximumTrailers: Int
    /// Bytes of a request's method.
    ///
    /// 128: the longest registered one has 17. It keeps a text without spaces from being held
    /// back up to the limit of a head.
    package var maximumMethod: Int
    /// Changes between kinds of methods (HEAD, CONNECT, others) among requests that wait for
    /// their responses.
    ///
    /// 4,096: more than any client pipelines. Beyond it a method counts as the one before.
    package var maximumExpectedRuns: Int

    /// Makes limits; values below one count as one.
    package init(
        maximumHeadSize: Int = 64 << 10, maximumChunkLine: Int = 4 << 10,
        maximumTrailers: Int = 64 << 10, maximumMethod: Int = 128,
        maximumExpectedRuns: Int = 4_096
    ) {
        self.maximumHeadSize = max(1, maximumHeadSize)
        self.maximumChunkLine = max(1, maximumChunkLine)
        self.maximumTrailers = max(1, maximumTrailers)
        self.maximumMethod = max(1, maximumMethod)
        self.maximumExpectedRuns = max(1, maximumExpectedRuns)
    }
}

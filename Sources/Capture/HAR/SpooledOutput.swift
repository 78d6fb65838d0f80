/// A session on its way into a spool, to be read from there once it has ended.
package final class SpooledOutput: ByteOutput, SessionInput {
    package let path: String
    private let spool = SpoolFile()

    /// - Parameter name: what messages call it.
    package init(name: String) { path = name }

    package var size: UInt64 { spool.count }

    package func append(_ bytes: borrowing Span<UInt8>) throws(OutputError) {
        try spool.append(copy bytes)
    }

    package func truncate(to size: UInt64) throws(OutputError) { try spool.truncate(to: size) }

    package func close() throws(OutputError) {}

    package var name: String { path }

    /// Begins to read what is there.
    package func open() -> any ByteSource { SpoolSource(spool, name: path) }
}

/// Reads a spool from its beginning.
private final class SpoolSource: ByteSource {
    let name: String
    let mayWait = false
    private let spool: SpoolFile
    private var position: UInt64 = 0

    init(_ spool: SpoolFile, name: String) {
        self.spool = spool
        self.name = name
    }

    func read(into bytes: inout [UInt8], maximum: Int) throws(SourceError) {
        let before = bytes.count
        do throws(OutputError) {
            try spool.read(at: position, count: maximum, into: &bytes)
        } catch {
            throw SourceError(errno: error.errno, call: error.call, name: error.path)
        }
        position += UInt64(bytes.count - before)
    }
}

import Glibc
import Wire

/// Packs batches so that each can be read as soon as it is on file.
///
/// The file is a run of members (gzip) or frames (zstd); a new one begins every MiB, so that
/// damage costs no more than that.
protocol BatchCompressor: AnyObject {
    /// Bytes that the member under way has taken in.
    var memberInput: Int { get }

    /// Appends the packed batch, ending the member with it or only flushing.
    func compress(_ batch: borrowing Span<UInt8>, endsMember: Bool, into output: inout Bytes)

    /// What was packed so far is on file.
    func commit()

    /// Forgets the member under way; the next batch begins another.
    func reset()

    /// What ends a member properly behind the batch that was committed last.
    var memberEnd: Bytes { get }
}

extension SessionCompression {
    /// A compressor of this kind; nil for none.
    func makeCompressor() throws(OutputError) -> (any BatchCompressor)? {
        let compressor: (any BatchCompressor)?
        switch self {
        case .none: return nil
        case .gzip: compressor = GzipCompressor()
        case .zstd: compressor = ZstdCompressor()
        }
        guard let compressor else {
            throw OutputError(errno: ENOMEM, call: "deflateInit", path: "")
        }
        return compressor
    }
}

/// One output file, to which whole batches are appended, or whole records of them, never a part
/// of a record.
///
/// When the disk takes only a part, what it took beyond the last whole record (packed: beyond
/// the last batch) is cut off again, before anything else is written. A member that is given up
/// so is closed properly, so that what follows can be read by any program.
struct BatchFile {
    /// A new member or frame begins behind this many bytes of lines (capture format, promise 2).
    static let maximumMember = 1 << 20

    private let output: any ByteOutput
    private let compressor: (any BatchCompressor)?
    /// How much of the file is known to be good.
    private(set) var goodSize: UInt64
    /// Whether the good part ends within a member.
    private var isWithinMember = false
    /// Whether the member within which it ends has been given up.
    private var isMemberTorn = false
    private var mustCut = false
    private var packed = Bytes()

    /// What became of a batch.
    enum Outcome {
        case written
        /// Only the first `kept` bytes of the batch are on file; they are whole records.
        case failed(OutputError, kept: Int)
    }

    init(_ output: any ByteOutput, compressor: (any BatchCompressor)?) {
        self.output = output
        self.compressor = compressor
        goodSize = output.size
    }

    var path: String { output.path }

    /// Appends a batch.
    ///
    /// - Parameters:
    ///   - isLast: the file is closed behind it.
    ///   - wholeRecords: how many of so many first bytes of the batch are whole records.
    mutating func write(
        _ batch: borrowing Span<UInt8>, isLast: Bool = false, wholeRecords: (Int) -> Int
    ) -> Outcome {
        if mustCut {
            do {
                try output.truncate(to: goodSize)
                mustCut = false
            } catch {
                return .failed(error, kept: 0)
            }
        }
        guard let compressor else { return writePlain(batch, wholeRecords: wholeRecords) }

        packed.removeAll(keepingCapacity: true)
        if isMemberTorn { packed += compressor.memberEnd }
        let endsMember =
            (isLast && (compressor.memberInput > 0 || !batch.isEmpty))
            || compressor.memberInput + batch.count >= Self.maximumMember
        if !batch.isEmpty || endsMember {
            compressor.compress(batch, endsMember: endsMember, into: &packed)
        }
        do {
            try output.append(packed.span)
        } catch {
            cut()
            compressor.reset()
            isMemberTorn = isWithinMember
            return .failed(error, kept: 0)
        }
        goodSize += UInt64(packed.count)
        compressor.commit()
        if isMemberTorn { isWithinMember = false }
        isMemberTorn = false
        isWithinMember = !endsMember && (isWithinMember || !batch.isEmpty)
        // A rare large batch does not hold its memory for the rest of the session.
        if packed.capacity > 4 << 20 { packed = [] }
        return .written
    }

    private mutating func writePlain(
        _ batch: borrowing Span<UInt8>, wholeRecords: (Int) -> Int
    ) -> Outcome {
        do {
            try output.append(batch)
        } catch {
            let kept = wholeRecords(min(max(error.written, 0), batch.count))
            goodSize += UInt64(kept)
            cut()
            return .failed(error, kept: kept)
        }
        goodSize += UInt64(batch.count)
        return .written
    }

    private mutating func cut() {
        do {
            try output.truncate(to: goodSize)
        } catch {
            // Tried again before the next write.
            mustCut = true
        }
    }

    /// Closes the file.
    func close() throws(OutputError) {
        try output.close()
    }
}

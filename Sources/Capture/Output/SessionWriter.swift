import Wire

/// Writes a session as NDJSON, plain or packed, in one file or in parts.
///
/// It numbers the lines itself: `Event.seq`, `Piece.of` and `Note.to` of the events that it is
/// given are numbers of the session (`EventBatch`), 0 for the next one. Events of kind `session`
/// and `end` are ignored; it writes its own. A `t` that falls is raised to the one before, and
/// kept as `t_packet`.
package final class SessionWriter: SessionOutput {
    private var core: SessionWriterCore

    /// Opens the first part.
    ///
    /// - Parameters:
    ///   - session: the first line of the file; `part` is set by the writer.
    ///   - rotation: nil for one file.
    ///   - lossReason: what a `gap` says of events that could not be written.
    ///   - openPart: makes the file of a part, counted from 1; called again for each part.
    package init(
        session: SessionInfo, compression: SessionCompression = .none, rotation: Rotation? = nil,
        lossReason: String = "disk_full",
        openPart: @escaping (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) {
        core = try SessionWriterCore(
            session: session, compression: compression, rotation: rotation,
            lossReason: lossReason, openPart: openPart)
    }

    package func receive(_ event: Event) {
        core.receive(event)
    }

    package func receive(_ batch: borrowing EventBatch) {
        core.receive(batch)
    }

    /// Adds a remark of the writer's owner, which takes no number of the session.
    package func insert(_ note: Event.Note, at time: Int64) {
        core.insert(note, at: time)
    }

    /// Counts events as dropped that this writer was never given.
    package func admit(dropped count: Int) {
        core.admit(dropped: count)
    }

    package func flush(now: Int64) {
        core.flush(now: now)
    }

    package var nextDeadline: Int64? { core.nextDeadline }

    package var status: OutputStatus { core.status }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        core.close(now: now)
        return core.status
    }
}

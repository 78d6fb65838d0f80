import Wire

/// Writes a session as a pcap file while it goes on (see `PcapWriter`).
///
/// After a disk was full, packets are missing in it as they would be in any capture. A new part
/// begins within the connections that are open.
package final class PcapSessionWriter: SessionOutput {
    private enum State {
        case recording
        case paused(retryAt: Int64)
        case closed
    }

    /// The end of an event's packets in the batch.
    private struct Record {
        var end: Int
        var isEvent: Bool
    }

    private let openPart: (Int) throws(OutputError) -> any ByteOutput
    private let rotation: Rotation?
    private var writer: PcapWriter
    private var state = State.recording
    private var file: BatchFile?
    private var batch = Bytes()
    private var records: [Record] = []
    private var hasHeader = false
    private var lastNumber = 0
    private var lastTime: Int64 = 0
    private var partBegan: Int64 = 0
    private var earlierSize: UInt64 = 0
    package private(set) var status = OutputStatus()

    /// Opens the first part; `openPart` makes the file of a part, counted from 1.
    package init(
        startedAt: Int64, rotation: Rotation? = nil,
        openPart: @escaping (Int) throws(OutputError) -> any ByteOutput
    ) throws(OutputError) {
        writer = PcapWriter(startedAt: startedAt)
        self.rotation = rotation
        self.openPart = openPart
        file = BatchFile(try openPart(1), compressor: nil)
        status.parts = 1
        status.path = file?.path ?? ""
    }

    /// What the file cannot hold of the events so far.
    package var losses: PcapWriter.Losses { writer.losses }

    package func receive(_ event: Event) {
        if case .closed = state { return }
        let number = event.seq > lastNumber ? event.seq : lastNumber &+ 1
        lastNumber = number
        lastTime = max(lastTime, event.time)
        if !hasHeader { appendHeader() }
        let before = batch.count
        writer.append(event, number: number, into: &batch)
        if batch.count > before { records.append(Record(end: batch.count, isEvent: true)) }
        if batch.count >= SessionWriterCore.maximumBatch { flush(now: lastTime) }
    }

    private func appendHeader() {
        batch += PcapWriter.fileHeader
        records.append(Record(end: batch.count, isEvent: false))
        hasHeader = true
    }

    package func admit(dropped count: Int) {
        status.dropped &+= count
    }

    package func flush(now: Int64) {
        switch state {
        case .closed:
            return
        case .paused(let retryAt) where now < retryAt:
            lose(from: 0)
            empty()
        case .paused:
            if file == nil {
                do {
                    file = BatchFile(try openPart(status.parts), compressor: nil)
                } catch {
                    pause(error, now: now)
                    lose(from: 0)
                    empty()
                    return
                }
            }
            if !hasHeader, batch.isEmpty { appendHeader() }
            state = .recording
            status.pausedBy = nil
            write(now: now)
        case .recording:
            write(now: now)
        }
        if isPartOver(now: now) { rotate(now: now) }
    }

    private func write(now: Int64) {
        guard !batch.isEmpty, var file else { return }
        self.file = nil
        let outcome: BatchFile.Outcome
        do {
            let ends = records
            outcome = file.write(batch.span) { written in
                ends.last { $0.end <= written }?.end ?? 0
            }
        }
        self.file = file
        switch outcome {
        case .written:
            status.written += records.count { $0.isEvent }
        case .failed(let error, let kept):
            let first = records.firstIndex { $0.end > kept } ?? records.count
            status.written += records[..<first].count { $0.isEvent }
            lose(from: first)
            pause(error, now: now)
        }
        status.size = earlierSize + file.goodSize
        empty()
    }

    private func lose(from first: Int) {
        status.dropped += records[first...].count { $0.isEvent }
        if records[first...].contains(where: { !$0.isEvent }) { hasHeader = false }
    }

    private func empty() {
        batch.removeAll(keepingCapacity: batch.capacity <= 4 * SessionWriterCore.maximumBatch)
        records.removeAll(keepingCapacity: true)
    }

    private func pause(_ error: OutputError, now: Int64) {
        status.pausedBy = error
        status.lastPause = error
        status.pauses += 1
        state = .paused(retryAt: now &+ SessionWriterCore.retryInterval)
    }

    private func isPartOver(now: Int64) -> Bool {
        guard case .recording = state, hasHeader, let rotation, let file else { return false }
        if let size = rotation.maximumSize, file.goodSize >= size { return true }
        guard let duration = rotation.maximumDuration else { return false }
        return now >= partBegan.addingReportingOverflow(duration).partialValue
    }

    private func rotate(now: Int64) {
        earlierSize += file?.goodSize ?? 0
        do { try file?.close() } catch { status.pausedBy = error }
        file = nil
        hasHeader = false
        partBegan = max(now, lastTime)
        status.parts += 1
        do {
            file = BatchFile(try openPart(status.parts), compressor: nil)
            status.path = file?.path ?? status.path
        } catch {
            pause(error, now: now)
        }
    }

    package var nextDeadline: Int64? {
        switch state {
        case .closed: return nil
        case .paused(let retryAt): return retryAt
        case .recording:
            guard hasHeader, let duration = rotation?.maximumDuration else { return nil }
            return partBegan.addingReportingOverflow(duration).partialValue
        }
    }

    @discardableResult
    package func close(now: Int64) -> OutputStatus {
        if case .closed = state { return status }
        if !hasHeader { appendHeader() }
        let before = batch.count
        writer.finish(into: &batch)
        if batch.count > before { records.append(Record(end: batch.count, isEvent: false)) }
        if case .paused = state { state = .paused(retryAt: now) }
        flush(now: now)
        do { try file?.close() } catch { status.pausedBy = status.pausedBy ?? error }
        state = .closed
        return status
    }
}

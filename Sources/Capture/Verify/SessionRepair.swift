import Wire

/// Writes what is good of a damaged session file to another.
package struct SessionRepair: Sendable, Equatable {
    /// Events that were kept.
    package private(set) var kept = 0
    /// Lines that could not be read, one cut short at the end included.
    package private(set) var lost = 0
    /// How the new file stands.
    package private(set) var status = OutputStatus()

    /// Repairs a file.
    ///
    /// The new file has new numbers, a note (`repair`) where a line was lost and at its end, a
    /// `gap` for pieces whose head is lost, and an end line that counts the lost lines as
    /// dropped. It goes to `output`, which must be another file.
    ///
    /// - Throws: `unreadable` and its like for the input. A failing output is in `status`.
    package static func repair(
        _ source: any ByteSource, into output: any ByteOutput,
        compression: SessionCompression = .none
    ) throws(SessionError) -> SessionRepair {
        var repair = SessionRepair()
        var reader = SessionFileReader(source)
        guard case .event(let first)? = try reader.next(), case .session(let info) = first.kind
        else { throw .notASession(name: source.name, what: nil) }
        let writer: SessionWriter
        do {
            writer = try SessionWriter(
                session: info, compression: compression, lossReason: "unreadable"
            ) { _ in output }
        } catch {
            repair.status.pausedBy = error
            return repair
        }
        var lastTime = first.time
        while let item = try reader.next() {
            switch item {
            case .event(let event):
                lastTime = max(lastTime, event.time)
                if case .end(let end) = event.kind {
                    writer.admit(dropped: end.dropped)
                } else {
                    repair.kept += 1
                    writer.receive(event)
                }
            case .remark(let kind):
                repair.lost += 1
                writer.admit(dropped: 1)
                let remark = SessionRemark(position: reader.position, kind: kind)
                writer.insert(
                    Event.Note(
                        code: "repair", text: "line \(reader.position.line): \(remark.text)"),
                    at: lastTime)
            }
            if repair.isStuck(writer) { break }
        }
        writer.insert(
            Event.Note(
                code: "repair",
                text: "repaired: \(repair.kept) events kept, \(repair.lost) lines lost"),
            at: lastTime)
        repair.status = writer.close(now: lastTime)
        return repair
    }

    /// Whether the output has failed; there is no sense in waiting for room here.
    private func isStuck(_ writer: SessionWriter) -> Bool {
        writer.status.pausedBy != nil
    }
}

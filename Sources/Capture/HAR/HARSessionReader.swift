package import Wire

/// Reads a HAR file as a session.
///
/// A HAR has its entries in any order, and the messages of a WebSocket within its entry, so
/// nothing can be given before all of it was read. What was read is put aside and sorted by
/// time: memory is bounded (see `HAREventSorter`), plus about 200 bytes for each connection that
/// the file names, and a disk holds the rest.
package final class HARSessionReader {
    private enum State {
        case unread
        case giving
        case ended
    }

    private let source: any ByteSource
    private var parser: HARParser
    private var entryReader: HAREntryReader
    private var sorter: HAREventSorter
    private var session: HARSession?
    private var state = State.unread
    private var pending: [SessionFileReader.Item] = []
    private var given = 0
    private var events = 0
    private var fault: JSONStream.Fault?

    package var name: String { source.name }

    /// How many events were given, the first line not counted: the order of the file is not
    /// theirs.
    package var position: SessionPosition {
        var position = SessionPosition(line: max(0, events - 1), offset: 0)
        position.isEvent = true
        return position
    }

    /// Whether a file that begins with these bytes is a HAR; nil where more have to be seen.
    package static func recognizes(_ start: Bytes) -> Bool? { HARParser.recognizes(start) }

    /// Makes a reader; `start` is what was taken from the source before.
    ///
    /// - Parameters:
    ///   - ports: only entries of these ports of the board; all if empty.
    ///   - maximumMemory: bytes that are sorted in memory; more go to a temporary file.
    package init(
        _ source: any ByteSource, start: Bytes = [], ports: Set<UInt16> = [],
        maximumMemory: Int = 16 << 20
    ) {
        self.source = source
        parser = HARParser(JSONStream(source, start: start), maximumMemory: maximumMemory / 4)
        entryReader = HAREntryReader(ports: ports)
        sorter = HAREventSorter(maximumMemory: maximumMemory)
    }

    /// The next event or remark; nil at the end.
    package func next() throws(SessionError) -> SessionFileReader.Item? {
        while given == pending.count {
            given = 0
            pending = []
            do {
                switch state {
                case .unread: try readAll()
                case .giving: try give()
                case .ended: return nil
                }
            } catch {
                throw .cannotSpool(error)
            }
            if let failure {
                self.failure = nil
                state = .ended
                throw failure
            }
        }
        given += 1
        if case .event = pending[given - 1] { events += 1 }
        return pending[given - 1]
    }

    private var failure: SessionError?

    /// Reads the file to its end, or to what is wrong with it.
    private func readAll() throws(OutputError) {
        var hash = FNVHash()
        var number = 0
        do throws(HARFailure) {
            while let entry = try parser.next() {
                number += 1
                hash.combine(entry.startedAt ?? 0)
                hash.combine(entry.request.url)
                do {
                    try entryReader.receive(entry, number: number, of: parser, into: &sorter)
                } catch {
                    throw HARFailure.spool(error)
                }
            }
        } catch {
            switch error {
            case .spool(let error): throw error
            case .json(.unreadable(let error)):
                failure = .unreadable(error)
                return
            case .json(.malformed(let fault)):
                guard number > 0 else {
                    failure = .badHAR(name: name, fault)
                    return
                }
                self.fault = fault
            }
        }
        state = .giving
        try begin(id: hash.text)
    }

    private func begin(id: String) throws(OutputError) {
        let first = try sorter.next()
        let start = first?.event.time ?? 0
        var remarks = entryReader.remarks
        remarks.cutValues = parser.cutValues
        var session = HARSession(epoch: start, uses: entryReader.uses, remarks: remarks)
        var labels: [FieldLine] = []
        if !parser.log.creator.isEmpty { labels.append(FieldLine("creator", parser.log.creator)) }
        if !parser.log.browser.isEmpty { labels.append(FieldLine("browser", parser.log.browser)) }
        if !parser.log.comment.isEmpty { labels.append(FieldLine("comment", parser.log.comment)) }
        pending.append(
            .event(
                Event(
                    time: 0,
                    kind: .session(
                        SessionInfo(
                            id: id, startedAt: SessionTime.text(nanoseconds: start),
                            tool: "bridgetap", source: "har", labels: labels)))))
        for sentence in remarks.sentences { session.note(sentence) }
        if let first { session.receive(first) }
        pending += session.take().map { .event($0) }
        self.session = session
    }

    private func give() throws(OutputError) {
        guard var session else { return }
        self.session = nil
        // Enough that the turn costs little, and little enough that it needs no room.
        var size = 0
        var isEnd = false
        while size < 64 << 10, !isEnd {
            if let step = try sorter.next() {
                session.receive(step)
                size += HAREventSorter.size(of: step.event)
            } else {
                isEnd = true
            }
        }
        if isEnd {
            let late = HARRemarks(
                overlapping: session.remarks.overlapping, behindEnd: session.remarks.behindEnd)
            for sentence in late.sentences { session.note(sentence) }
            pending += session.take().map { .event($0) }
            if let fault { pending.append(.remark(.badHAR(fault))) }
            session.finish()
            state = .ended
        }
        pending += session.take().map { .event($0) }
        self.session = session
    }
}

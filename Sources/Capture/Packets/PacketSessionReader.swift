package import Wire

/// Reads a pcap or pcapng file as a session, event by event, as the packets come.
package final class PacketSessionReader {
    private let source: any ByteSource
    /// Whether the next packet may not exist yet: then those before it are given out first.
    private let mayWait: Bool
    private var file: PacketFile
    private let linkName: String
    private var session: PacketSession
    private var batch = EventBatch()
    /// Events of the batch that were given out.
    private var given = 0
    /// The session line, until it was given out.
    private var opening: Event?
    private var isStarted = false
    private var isEnded = false
    /// What was wrong behind the events of a batch; told after them.
    private var fault: PacketFile.Fault?

    package var name: String { source.name }

    /// Packets read so far, counted as lines are.
    package var position: SessionPosition {
        SessionPosition(line: file.packets, offset: 0, isPacket: true)
    }

    /// Begins to read; `start` is what was taken from the source before.
    ///
    /// Only connections with one of `ports` are read, all if there are none.
    package init(
        _ source: any ByteSource, start: Bytes = [], ports: Set<UInt16> = []
    ) throws(SessionError) {
        self.source = source
        mayWait = source.mayWait
        do {
            file = try PacketFile.open(source, start: start)
        } catch {
            throw .badPackets(name: source.name, error)
        }
        linkName = file.linkName
        guard let link = LinkType(number: file.linkNumber) else {
            throw .unknownLinkType(name: source.name, link: file.linkName)
        }
        session = PacketSession(link: link, ports: ports)
    }

    /// The next event or remark; nil at the end.
    package func next() throws(SessionError) -> SessionFileReader.Item? {
        while true {
            if let event = opening.take() { return .event(event) }
            if given < batch.count { break }
            if let fault = fault.take() { return .remark(try end(with: fault)) }
            guard !isEnded else { return nil }
            given = 0
            batch.removeAll()
            batch.gatherFrames(false)
            do {
                if try !readPacket() { finish() }
            } catch {
                return .remark(try end(with: error))
            }
        }
        given += 1
        return .event(batch.events[given - 1])
    }

    /// Puts the next events into an empty batch, or gives a remark; nil at the end.
    package func next(
        into target: inout EventBatch
    ) throws(SessionError) -> SessionFileReader.Portion? {
        while true {
            if let event = opening.take() {
                target.adopt(event)
                return .events
            }
            if given == 0, !batch.isEmpty {
                batch.hand(to: &target)
                return .events
            }
            if given < batch.count {
                for event in batch.events.dropFirst(given) { target.adopt(event) }
                given = batch.count
                return .events
            }
            if let fault = fault.take() { return .remark(try end(with: fault)) }
            guard !isEnded else { return nil }
            given = 0
            batch.removeAll()
            batch.gatherFrames(target.gathersFrames)
            readPackets()
        }
    }

    /// Reads packets for a batch, as many as are there without a wait.
    private func readPackets() {
        do {
            guard isStarted, !mayWait else {
                if try !readPacket() { finish() }
                return
            }
            if try !session.receive(&file, into: &batch) { finish() }
        } catch {
            fault = error
        }
    }

    /// Ends the session where its packets can be read no further; its last events follow.
    private func end(
        with error: PacketFile.Fault
    ) throws(SessionError) -> SessionRemark.Kind {
        if let error = file.sourceError { throw .unreadable(error) }
        let isFirst = !isStarted
        finish()
        if isFirst { throw .badPackets(name: name, error) }
        return .badPackets(error)
    }

    /// Reads one packet; false at the end of the file.
    private func readPacket() throws(PacketFile.Fault) -> Bool {
        let packet: Void? = try file.next { (bytes, record) -> Void in
            if !isStarted { start(at: record.time, bytes) }
            session.receive(bytes, cut: record.cut, at: record.time, into: &batch)
        }
        return packet != nil
    }

    private func finish() {
        let nothing = Bytes()
        if !isStarted { start(at: 0, nothing.span) }
        session.finish(into: &batch)
        isEnded = true
    }

    private func start(at time: Int64, _ bytes: Span<UInt8>) {
        isStarted = true
        // The same file is the same session each time.
        var id = FNVHash()
        id.combine(time)
        for index in bytes.indices { id.combine(bytes[index]) }
        opening = Event(
            time: 0,
            kind: .session(
                SessionInfo(
                    id: id.text, startedAt: Timestamp(wall: time).nanosecondText, tool: "bridgetap",
                    source: "pcap", linkType: linkName)))
    }
}

/// A source of which the first bytes were taken already.
final class ResumedSource: ByteSource {
    private let source: any ByteSource
    private var start: Bytes

    init(_ source: any ByteSource, start: Bytes) {
        self.source = source
        self.start = start
    }

    var name: String { source.name }
    var mayWait: Bool { source.mayWait }

    func read(into bytes: inout [UInt8], maximum: Int) throws(SourceError) {
        guard !start.isEmpty else { return try source.read(into: &bytes, maximum: maximum) }
        bytes += start.prefix(maximum)
        start.removeFirst(min(maximum, start.count))
    }
}

import Wire

/// A file of another kind than NDJSON that is read as a session: packets or a HAR.
protocol ImportedSession: AnyObject {
    /// What people call the file; for messages.
    var name: String { get }

    /// The place in the file of what was read last.
    var position: SessionPosition { get }

    /// The next event or remark; nil at the end.
    func next() throws(SessionError) -> SessionFileReader.Item?

    /// Puts the next events into an empty batch, or gives a remark; nil at the end.
    func next(into batch: inout EventBatch) throws(SessionError) -> SessionFileReader.Portion?
}

extension ImportedSession {
    func next(into batch: inout EventBatch) throws(SessionError) -> SessionFileReader.Portion? {
        switch try next() {
        case .event(let event)?:
            batch.adopt(event)
            return .events
        case .remark(let kind)?: return .remark(kind)
        case nil: return nil
        }
    }
}

extension PacketSessionReader: ImportedSession {}
extension HARSessionReader: ImportedSession {}

/// What a file is, as its first bytes tell.
enum SessionKind: Sendable, Equatable {
    /// NDJSON, packed or not, or what turns out to be no session at all.
    case lines
    case packets
    case har

    /// Looks at a source, and gives back what it took of it: no more than it needs, since a
    /// stream may have no more for now.
    static func look(
        at source: any ByteSource
    ) throws(SessionError) -> (kind: SessionKind, start: Bytes) {
        var start = Bytes()
        while true {
            let before = start.count
            do {
                try source.read(into: &start, maximum: before < 4 ? 4 - before : 1)
            } catch {
                throw .unreadable(error)
            }
            let isAtEnd = start.count == before
            if start.count < 4, !isAtEnd { continue }
            if PacketFile.isPacketFile(start) { return (.packets, start) }
            switch HARSessionReader.recognizes(start) {
            case true?: return (.har, start)
            case false?: return (.lines, start)
            case nil where isAtEnd: return (.lines, start)
            case nil: continue
            }
        }
    }

    /// Begins to read an import; nil for lines.
    func open(
        _ source: any ByteSource, start: Bytes, ports: Set<UInt16>
    ) throws(SessionError) -> (any ImportedSession)? {
        switch self {
        case .lines: nil
        case .packets: try PacketSessionReader(source, start: start, ports: ports)
        case .har: HARSessionReader(source, start: start, ports: ports)
        }
    }
}

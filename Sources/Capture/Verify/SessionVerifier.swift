import Wire

/// Something that is not as it should be in a session file, or that a reader has to know.
package struct SessionFinding: Sendable, Equatable {
    /// How much it matters.
    package enum Severity: String, Sendable, Comparable, CaseIterable {
        /// Told, but all is there.
        case info
        /// The file is honest, but not complete.
        case warning
        /// The file is not what a recorder wrote.
        case error

        package static func < (left: Severity, right: Severity) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    package var severity: Severity
    /// A stable name for scripts, such as `torn_line`.
    package var code: String
    package var position: SessionPosition
    package var text: String
    package var hint: String?
}

/// Holds a session file against the promises of its format, event by event.
///
/// Memory for what is open, and for `maximumFindings`; more are counted.
package struct SessionVerifier {
    /// Findings that are kept in full; a damaged file may have one a line.
    package static let maximumFindings = 1000

    package private(set) var findings: [SessionFinding] = []
    /// How many there are of each severity, kept or not.
    package private(set) var counts: [SessionFinding.Severity: Int] = [:]
    /// Events of the file.
    package private(set) var events = 0
    /// Events that the file admits are missing.
    package private(set) var dropped = 0

    private var rebuild: any SessionRebuild
    private var lengths = WireLengths()
    private var lastSeq = 0
    private var lastTime = Int64.min
    private var open: [Int: Set<Side>] = [:]
    private var highestConn = 0
    private var end: Event.End?
    private var hasGaps = false
    private var hasForeignPieces = false
    private var gapped: Set<Direction> = []
    private var bytesApp: UInt64 = 0
    private var bytesBoard: UInt64 = 0
    /// The file is of packets, or a HAR.
    private var isImport = false
    /// Notes of a reader that say what is not as it crossed.
    private static let lossNotes: Set<String> = [
        "malformed_packets", "fragments_missing", "connection_forgotten",
    ]
    /// Notes of a reader about oddities of a capture, in which nothing is missing.
    private static let oddNotes: Set<String> = [
        "overlap_differs", "early_bytes", "after_close", "reset_data", "har", "har_error",
    ]

    private struct Direction: Hashable {
        var conn: Int
        var from: Side?
    }

    package init(rebuild: any SessionRebuild = RebuildCheck()) {
        self.rebuild = rebuild
    }

    /// Verifies a whole file: of packets and of a HAR, what became of them as a session.
    package static func verify(
        _ source: any ByteSource, rebuild: any SessionRebuild = RebuildCheck()
    ) throws(SessionError) -> SessionVerifier {
        var verifier = SessionVerifier(rebuild: rebuild)
        let (kind, start) = try SessionKind.look(at: source)
        if let imported = try kind.open(source, start: start, ports: []) {
            verifier.isImport = true
            while let item = try imported.next() {
                verifier.receive(item, at: imported.position)
            }
            verifier.finish(at: imported.position)
            return verifier
        }
        var reader = SessionFileReader(
            ResumedSource(source, start: start), readsBridge: false)
        while let item = try reader.next() {
            verifier.receive(item, at: reader.position)
        }
        verifier.finish(at: reader.position)
        return verifier
    }

    /// The worst there is; nil for nothing at all.
    package var worst: SessionFinding.Severity? {
        SessionFinding.Severity.allCases.last { counts[$0, default: 0] > 0 }
    }

    /// Takes the next item of the file.
    package mutating func receive(_ item: SessionFileReader.Item, at position: SessionPosition) {
        switch item {
        case .remark(let kind): receive(kind, at: position)
        case .event(let event): receive(event, at: position)
        }
    }

    /// The file is over.
    package mutating func finish(at position: SessionPosition) {
        guard let end else {
            report(
                .warning, "no_end", position, "the file has no end line",
                hint: "the recorder did not end in good order; all that it wrote is used")
            return
        }
        if end.events != lastSeq - 1, !counts.keys.contains(.error) {
            report(
                .error, "end_events", position,
                "the end line counts \(end.events) events, the file has \(lastSeq - 1)")
        }
        guard !hasGaps, !hasForeignPieces, end.dropped == 0 else { return }
        for (name, said, found) in [
            ("app", end.bytesApp, bytesApp), ("board", end.bytesBoard, bytesBoard),
        ] where said != found && counts[.error, default: 0] == 0 {
            report(
                .error, "end_bytes", position,
                "the end line counts \(said) bytes of the \(name), the events have \(found)")
        }
    }

    private mutating func receive(_ kind: SessionRemark.Kind, at position: SessionPosition) {
        let remark = SessionRemark(position: position, kind: kind)
        switch kind {
        case .tornLine: report(.warning, "torn_line", remark)
        case .damaged, .badPackets, .badHAR: report(.warning, "damaged", remark)
        case .badLine: report(.error, "bad_line", remark)
        case .lineTooLong: report(.error, "long_line", remark)
        case .missingParts: report(.warning, "missing_parts", remark)
        case .unknownEvent(_, let seq):
            report(.info, "unknown_event", remark)
            if let seq { check(seq, at: position) }
        }
    }

    private mutating func receive(_ event: Event, at position: SessionPosition) {
        if case .session = event.kind {
            if position.line > 1, !isImport {
                report(.error, "session_twice", position, "another session begins here")
            }
            lastTime = event.time
            return
        }
        events += 1
        if end != nil {
            report(.error, "after_end", position, "an event stands behind the end line")
        }
        check(event.seq, at: position)
        if event.time < lastTime {
            report(
                .error, "time_falls", position,
                "t is \(event.time), after \(lastTime) in the line before")
        }
        lastTime = max(lastTime, event.time)
        checkConnection(event, at: position)
        checkContent(event, at: position)
    }

    private mutating func check(_ seq: Int, at position: SessionPosition) {
        let expected = lastSeq == .max ? lastSeq : lastSeq + 1
        if seq > expected {
            let missing = seq - expected
            report(
                .error, "seq_missing", position,
                missing == 1
                    ? "the event \(expected) is missing"
                    : "the events \(expected) to \(seq - 1) are missing")
        } else if seq < expected {
            report(
                .error, "seq_twice", position, "seq is \(seq) where \(expected) should stand")
        }
        lastSeq = max(lastSeq, seq)
    }

    private mutating func checkConnection(_ event: Event, at position: SessionPosition) {
        switch event.kind {
        case .open:
            if open[event.conn] != nil || event.conn <= highestConn && isFirstOpening(event) {
                report(
                    .error, "open_twice", position, "connection \(event.conn) is opened again")
            }
            highestConn = max(highestConn, event.conn)
            open[event.conn] = []
        case .close(let close):
            guard var ended = open[event.conn] else {
                unknownConnection(event, at: position)
                return
            }
            ended.formUnion(close.how == .fin ? event.from.map { [$0] } ?? [] : Side.allCases)
            open[event.conn] = ended.count == 2 ? nil : ended
            if ended.count == 2 {
                lengths.forget(conn: event.conn)
                gapped = gapped.filter { $0.conn != event.conn }
            }
        case .request, .response, .frame, .message, .piece, .data, .gap:
            guard let ended = open[event.conn] else {
                unknownConnection(event, at: position)
                return
            }
            if let from = event.from, ended.contains(from) {
                report(
                    .error, "after_close", position,
                    "the \(from.rawValue) of connection \(event.conn) had ended before")
            }
        case .session, .note, .end:
            break
        }
    }

    /// Connections are numbered in order of opening, but those of a file that begins within
    /// them, and those told of behind a gap, come in any order.
    private func isFirstOpening(_ event: Event) -> Bool {
        guard case .open(let open) = event.kind else { return false }
        return open.continued == nil && !hasGaps
    }

    private mutating func unknownConnection(_ event: Event, at position: SessionPosition) {
        report(
            .error, "unknown_connection", position,
            "connection \(event.conn) is not open")
    }

    private mutating func checkContent(_ event: Event, at position: SessionPosition) {
        let length = lengths.length(of: event.kind, number: event.seq, conn: event.conn)
        switch event.from {
        case .app: bytesApp &+= length
        case .board: bytesBoard &+= length
        case nil: break
        }
        let direction = Direction(conn: event.conn, from: event.from)
        switch event.kind {
        case .gap(let gap):
            hasGaps = true
            gapped.insert(direction)
            let length = gap.length.map { "\($0) bytes" } ?? "bytes"
            let side = event.from.map { " of the \($0.rawValue)" } ?? ""
            report(
                .warning, "gap", position,
                "\(length)\(side) on connection \(event.conn) are not in the file (\(gap.why))")
            return
        case .note(let note) where note.code == "recording_gap":
            hasGaps = true
            report(.warning, "recording_gap", position, note.text)
        case .note(let note) where isImport && Self.lossNotes.contains(note.code):
            report(.warning, note.code, position, note.text)
        case .note(let note) where isImport && Self.oddNotes.contains(note.code):
            report(.info, note.code, position, note.text)
        case .end(let end):
            self.end = end
            dropped = end.dropped
            if end.dropped > 0 {
                report(
                    .warning, "dropped", position,
                    "\(end.dropped) events could not be recorded")
            }
        case .piece(let piece) where piece.ofPart != nil:
            // Its head stands in another file.
            hasForeignPieces = true
            return
        default:
            break
        }
        if let why = rebuild.rebuild(event), !gapped.contains(direction) {
            report(
                .error, "not_rebuilt", position, "the bytes cannot be rebuilt: \(why)")
        }
    }

    // MARK: Findings

    private mutating func report(
        _ severity: SessionFinding.Severity, _ code: String, _ remark: SessionRemark
    ) {
        report(severity, code, remark.position, remark.text, hint: remark.hint)
    }

    private mutating func report(
        _ severity: SessionFinding.Severity, _ code: String, _ position: SessionPosition,
        _ text: String, hint: String? = nil
    ) {
        counts[severity, default: 0] += 1
        guard findings.count < Self.maximumFindings else { return }
        findings.append(
            SessionFinding(
                severity: severity, code: code, position: position, text: text, hint: hint))
    }
}

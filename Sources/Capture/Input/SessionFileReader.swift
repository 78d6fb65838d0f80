import Wire

/// Reads one session file, packed or not, event by event, as it stands.
///
/// It holds one line and one read at a time. What is wrong with a line is a remark, and the
/// next line is read; only a first line that is no `session` is an error.
package struct SessionFileReader {
    /// What comes next in the file.
    package enum Item: Sendable, Equatable {
        case event(Event)
        case remark(SessionRemark.Kind)
    }

    /// What comes next where events are read together: some of them, or a remark.
    package enum Portion: Sendable, Equatable {
        case events
        case remark(SessionRemark.Kind)
    }

    private var lines: LineReader
    private let decoder: EventDecoder
    private let isFollowing: Bool
    /// The place of the item that was given out last.
    package private(set) var position = SessionPosition(line: 0, offset: 0)
    /// Bytes of the file that the item given out last took, its line feed included.
    package private(set) var lineSize = 0
    private var isEnded = false

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - follows: an end of the source is not taken for the end of the file; `next` gives nil
    ///     and may be called again.
    package init(_ source: any ByteSource, readsBridge: Bool = true, follows: Bool = false) {
        lines = LineReader(source)
        decoder = EventDecoder(readsBridge: readsBridge)
        isFollowing = follows
    }

    package var name: String { lines.name }

    /// The next event or remark; nil at the end, which for a followed file is for now.
    package mutating func next() throws(SessionError) -> Item? {
        switch try step() {
        case .line(let range, let isTerminated): return try decode(range, isTerminated)
        case .remark(let kind): return .remark(kind)
        case nil: return nil
        }
    }

    /// Adds to `batch` the usual frames that come next, as many as are at hand without a read;
    /// gives the event or remark behind them, if one is; nil and no frames at the end.
    mutating func nextFrames(into batch: inout EventBatch) throws(SessionError) -> Item? {
        repeat {
            switch try step() {
            case .line(let range, let isTerminated):
                guard position.line > 1 else { return try decode(range, isTerminated) }
                let line: EventDecoder.Line?
                do {
                    line = try decoder.decode(lines.text.span.extracting(range), into: &batch)
                } catch {
                    return try item(error, range, isTerminated)
                }
                if let line { return try item(line) }
            case .remark(let kind): return .remark(kind)
            case nil: return nil
            }
        } while !batch.isFull && lines.hasLine()
        return nil
    }

    /// Whether a whole line is at hand without a read.
    mutating func hasLine() -> Bool { lines.hasLine() }

    /// A line's place in the text, or what is there instead of one.
    private enum Step {
        case line(Range<Int>, isTerminated: Bool)
        case remark(SessionRemark.Kind)
    }

    private mutating func step() throws(SessionError) -> Step? {
        guard !isEnded else { return nil }
        let next: LineReader.Next
        do {
            next = try lines.next(isFinal: !isFollowing)
        } catch {
            throw .unreadable(error)
        }
        let range: Range<Int>
        var isTerminated = true
        switch next {
        case .line(let line, let offset):
            range = line
            position = SessionPosition(line: lines.lineCount, offset: offset)
        case .unterminated(let line, let offset):
            range = line
            isTerminated = false
            position = SessionPosition(line: lines.lineCount, offset: offset)
        case .tooLong(let offset):
            position = SessionPosition(line: lines.lineCount, offset: offset)
            guard position.line > 1 else { throw .notASession(name: name, what: nil) }
            return .remark(.lineTooLong(limit: LineReader.maximumLine))
        case .damaged(let what):
            guard lines.lineCount > 0 else { throw .notASession(name: name, what: what) }
            position.line = lines.lineCount
            return .remark(.damaged(what))
        case .end:
            guard !isFollowing else { return nil }
            isEnded = true
            guard lines.lineCount > 0 else { throw .empty(name: name) }
            return nil
        }
        lineSize = range.count + (isTerminated ? 1 : 0)
        return .line(range, isTerminated: isTerminated)
    }

    private func decode(
        _ range: Range<Int>, _ isTerminated: Bool
    ) throws(SessionError) -> Item {
        let line: EventDecoder.Line
        do {
            line = try decoder.decode(lines.text.span.extracting(range))
        } catch {
            return try item(error, range, isTerminated)
        }
        return try item(line)
    }

    private func item(
        _ fault: LineFault, _ range: Range<Int>, _ isTerminated: Bool
    ) throws(SessionError) -> Item {
        if position.line == 1 { throw firstLineError(fault, range, isTerminated) }
        if !isTerminated { return .remark(.tornLine(bytes: range.count)) }
        return .remark(.badLine(fault))
    }

    private func item(_ line: EventDecoder.Line) throws(SessionError) -> Item {
        switch line {
        case .event(let event):
            if position.line == 1 {
                guard case .session = event.kind else {
                    throw .notASession(name: name, what: "without its first line")
                }
            }
            return .event(event)
        case .unknown(let kind, let seq):
            guard position.line > 1 else { throw .notASession(name: name, what: nil) }
            return .remark(.unknownEvent(kind, seq: seq))
        }
    }

    private func firstLineError(
        _ fault: LineFault, _ range: Range<Int>, _ isTerminated: Bool
    ) -> SessionError {
        if case .newerVersion(let version, _) = fault.reason {
            return .newerVersion(name: name, version: version)
        }
        let start = lines.text[range.lowerBound...].prefix(64)
        for (magic, what) in Self.otherKinds where start.starts(with: magic) {
            return .notASession(name: name, what: what)
        }
        return start.starts(with: "{\"event\":\"session\"".utf8)
            ? .badFirstLine(name: name, fault) : .notASession(name: name, what: nil)
    }

    private static let otherKinds: [([UInt8], String)] = [
        ([0xd4, 0xc3, 0xb2, 0xa1], "a pcap file"), ([0xa1, 0xb2, 0xc3, 0xd4], "a pcap file"),
        ([0x4d, 0x3c, 0xb2, 0xa1], "a pcap file"), ([0xa1, 0xb2, 0x3c, 0x4d], "a pcap file"),
        ([0x0a, 0x0d, 0x0d, 0x0a], "a pcapng file"),
        ([0xef, 0xbb, 0xbf], "text with a byte order mark"),
        ([0x50, 0x4b, 0x03, 0x04], "a zip file"),
    ]
}

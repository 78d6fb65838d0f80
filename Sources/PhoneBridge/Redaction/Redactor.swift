package import Capture
import Wire

/// Takes what a session tells about people out of it, event by event, and leaves a valid session:
/// its structure, its order, its links and what is equal in it (docs/redaction.md).
///
/// Events go in one by one and come out in the same order. A message in several frames, or a
/// compressed one, is known at its end only: what came since its first frame waits for that, up
/// to a limit, or until `flush`. Memory is bounded by that, by one piece, and by what is
/// remembered of texts, which has limits too.
///
/// A session that says it was redacted by the same rules under the same key passes unchanged. A
/// class, since it owns the compressors of connections; it belongs to one session.
package final class Redactor {
    /// The number of the rules by which texts are replaced; another one gives other stand-ins.
    package static let rules = 1
    /// Events that wait for the end of a message, and bytes in them.
    static let maximumHeld = 4096
    static let maximumHeldBytes = 4 << 20
    /// Bytes of frames that did not wait which a later frame of the message may hold as well;
    /// boards take messages of half of it.
    static let maximumSpent = 64 << 10

    private let key: RedactionKey
    private let policy: RedactionPolicy
    private let contract: Contract
    let text: TextRedactor
    let fields: RedactionFields
    private let http: HTTPRedactor
    private var json: JSONRedactor
    private var meaning: MeaningReader
    /// Whether the session was redacted before, so that it only passes.
    private var passes = false
    /// Whether a session passes that was redacted under another key.
    private let passesOtherKeys: Bool

    var connections: [Int: RedactedConnection] = [:]
    /// Heads whose pieces are still to come, by their number.
    var heads: [Int: PieceHead] = [:]
    /// What waits for the end of a message, in order.
    var held: [Held] = []
    var heldBytes = 0

    /// An event that may wait.
    struct Held {
        var event: Event
        /// A frame whose message has not ended.
        var isOpen = false
    }

    /// What becomes of the pieces of an event.
    struct PieceHead {
        var conn: Int
        /// The byte that they are filled with; nil where they go with their head.
        var filler: UInt8?
        /// Bytes that are missing at the beginning, since frames that had them were given out
        /// without.
        var shortened: UInt64 = 0
        var removed: UInt64 = 0
        /// Whose message it is, where it is one.
        var side: Side?
    }

    /// Makes a redactor for one session.
    ///
    /// - Parameter passesOtherKeys: a session that says it was redacted by the same rules passes
    ///   whatever the key was; its stand-ins are as good as others.
    package init(
        key: RedactionKey, policy: RedactionPolicy = RedactionPolicy(),
        passesOtherKeys: Bool = false, contract: Contract = .current
    ) {
        self.key = key
        self.passesOtherKeys = passesOtherKeys
        self.policy = policy
        self.contract = contract
        text = TextRedactor(
            pseudonyms: Pseudonyms(key: key, changesAddresses: policy.changesAddresses))
        fields = RedactionFields(contract)
        http = HTTPRedactor(text: text, fields: fields, contract: contract)
        json = JSONRedactor(fields: fields, policy: policy)
        meaning = MeaningReader(contract: contract)
    }

    /// What the key is called.
    package var keyID: String { key.id }

    /// What was touched so far.
    package var manifest: RedactionManifest { text.manifest }

    // MARK: Sessions and texts

    /// What a session's first line says of its redaction.
    private var mark: JSON {
        var members: [JSON.Member] = [
            .init("rules", .integer(Self.rules)), .init("key", .string(key.id)),
        ]
        if let digest = policy.digest { members.append(.init("policy", .string(digest))) }
        return .object(members)
    }

    /// Whether a session with this first line was redacted before, so that it only passes.
    package func hasRedacted(_ session: SessionInfo) -> Bool {
        if session.redacted == mark { return true }
        return passesOtherKeys && session.redacted?["rules"] == .integer(Self.rules)
            && session.redacted?["key"]?.stringValue != nil
    }

    /// The first line of the redacted session; it begins a session here too.
    package func redacted(_ session: SessionInfo) -> SessionInfo {
        passes = hasRedacted(session)
        guard !passes else { return session }
        var session = session
        session.redacted = mark
        let start = Bytes(session.startedAt.utf8)
        session.startedAt = String(decoding: text.moved(start), as: UTF8.self)
        session.listen = session.listen.map { place($0) }
        session.upstream = session.upstream.map { place($0) }
        session.labels = session.labels.map { line in
            guard line.name != "peers" else { return line }
            let value = text.redacted(line.value, .free)
            if value != line.value { text.manifest.count(.none, "labels") }
            return FieldLine(text.redacted(line.name, .sentence), value)
        }
        return session
    }

    /// Free text that belongs to the session and stands beside it, such as a line of a log.
    package func redacted(text line: String) -> String {
        passes ? line : text.redacted(line, .free)
    }

    /// Addresses with spaces between them, as a session has them.
    private func place(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { part in
            String(decoding: self.text.redacted(hostAndPort: Bytes(part.utf8)), as: UTF8.self)
        }.joined(separator: " ")
    }

    // MARK: Events

    /// Takes an event; appends what can be given out.
    package func receive(_ event: Event, into output: inout [Event]) {
        if case .session(let info) = event.kind {
            finish(into: &output)
            var event = event
            event.kind = .session(redacted(info))
            output.append(event)
            return
        }
        guard !passes else {
            output.append(event)
            return
        }
        text.manifest.events += 1
        take(event)
        if held.count > Self.maximumHeld || heldBytes > Self.maximumHeldBytes {
            // The message of a last frame comes right behind it, unless it is not there at all.
            let isFar =
                held.count > 2 * Self.maximumHeld || heldBytes > 2 * Self.maximumHeldBytes
            giveUpWaiting(keepsLast: !isFar)
        }
        drain(into: &output)
    }

    /// Gives out what waits, at the end of a turn: frames whose message has not ended go without
    /// content, which comes with the last one.
    package func flush(into output: inout [Event]) {
        giveUpWaiting(keepsLast: true)
        drain(into: &output)
    }

    /// Gives out all that waits, at the end of the session.
    package func finish(into output: inout [Event]) {
        giveUpWaiting(keepsLast: false)
        drain(into: &output)
    }

    /// Gives out what waits for nothing that stands before it.
    private func drain(into output: inout [Event]) {
        guard !held.isEmpty else { return }
        let count = held.firstIndex { $0.isOpen } ?? held.count
        guard count > 0 else { return }
        for var item in held[..<count] {
            meaning.annotate(&item.event)
            output.append(item.event)
        }
        guard count < held.count else {
            held.removeAll(keepingCapacity: true)
            heldBytes = 0
            return
        }
        held.removeFirst(count)
        for conn in connections.keys { connections[conn]?.shift(by: count) }
    }

    private func hold(_ event: Event, isOpen: Bool = false) {
        held.append(Held(event: event, isOpen: isOpen))
        if case .frame(let frame) = event.kind, case .whole(let bytes) = frame.content {
            heldBytes += bytes.count
        }
        if case .message(let message) = event.kind, case .whole(let bytes) = message.content {
            heldBytes += bytes.count
        }
    }

    private func take(_ event: Event) {
        let before = event.kind
        var event = event
        event.bridge = []
        switch event.kind {
        case .session: return
        case .frame(let frame): return take(frame, event)
        case .message(let message): return take(message, event)
        case .piece(let piece): return take(piece, event)
        case .note(let note): return take(note, event)
        case .open(var open):
            begin(event.conn, open.continued)
            open.app = place(open.app)
            open.board = place(open.board)
            open.via = open.via.map { place($0) }
            event.kind = .open(open)
        case .request(let request): event.kind = .request(redacted(request, event))
        case .response(let response):
            event.kind = .response(redacted(response, event))
            if response.status == 101 { upgraded(event.conn, response.headers) }
        case .data(var data):
            text.manifest.filler += UInt64(data.bytes.count)
            data.bytes = Bytes(repeating: 0xff, count: data.bytes.count)
            event.kind = .data(data)
        case .close(let close):
            if close.how != .fin || connections[event.conn]?.isHalfClosed == true {
                connections[event.conn] = nil
                heads = heads.filter { $0.value.conn != event.conn }
            } else {
                connections[event.conn]?.isHalfClosed = true
            }
        case .gap, .end: break
        }
        if event.kind != before { text.manifest.changedEvents += 1 }
        hold(event)
    }

    private func take(_ note: Event.Note, _ event: Event) {
        var event = event
        var note = note
        if note.code == Event.Note.notInflated || note.code == Event.Note.inflationGivenUp {
            giveUp(event.conn, event.from)
        }
        let before = note.text
        if note.code == "outcome" {
            note.text =
                json.redacted(Bytes(note.text.utf8), text)
                .map { String(decoding: $0, as: UTF8.self) } ?? text.redacted(note.text, .free)
        } else if note.code == "log" {
            note.text = redacted(log: note.text)
        } else if note.code == "mark" {
            note.text = text.redacted(note.text, .free)
        } else if Self.ownNotes.contains(note.code) {
            note.text = redacted(remark: note.text)
        } else {
            note.text = text.redacted(note.text, .sentence)
        }
        if note.text != before {
            text.manifest.count(.note, "notes")
            text.manifest.changedEvents += 1
        }
        event.kind = .note(note)
        hold(event)
    }

    /// Notes whose words are the tool's own; what they quote stands between quotation marks.
    private static let ownNotes: Set<String> = [
        "rule", "fault", "recording_gap", "dropped_packets", "upgrade_refused", "overlap_differs",
        "early_bytes", "after_close", "reset_data", "connection_forgotten", "fragments_missing",
        "malformed_packets", "har", "convert", "same_connection", "repair", "interface_gone",
        "interface_returned", "end", "ring", "trigger", "no_destination", "peer_refused",
        Event.Note.notInflated, Event.Note.inflationGivenUp,
    ]

    /// A line of a log beside the link: the name of the log stands before it.
    private func redacted(log line: String) -> String {
        guard let colon = line.firstRange(of: ": "),
            TextRedactor.isName(Bytes(line[..<colon.lowerBound].utf8))
        else { return text.redacted(line, .free) }
        return line[..<colon.upperBound] + text.redacted(String(line[colon.upperBound...]), .free)
    }

    /// A sentence of the tool's own: what it quotes is a text of the session.
    private func redacted(remark: String) -> String {
        guard remark.utf8.contains(UInt8(ascii: "\"")) else { return remark }
        var output = ""
        for (index, part) in remark.split(
            separator: "\"", omittingEmptySubsequences: false
        ).enumerated() {
            if index > 0 { output += "\"" }
            guard index % 2 == 1 else {
                output += part
                continue
            }
            let quoted = Bytes(part.utf8)
            let isKnown = text.ids[quoted] != nil || fields.words.contains(quoted)
            output +=
                isKnown
                ? text.redacted(String(part), .sentence)
                : String(decoding: text.moved(quoted), as: UTF8.self)
        }
        return output
    }

    // MARK: HTTP

    private func redacted(_ request: Event.Request, _ event: Event) -> Event.Request {
        var request = request
        if !TextRedactor.isName(Bytes(request.method.utf8)) {
            request.method = text.redacted(request.method, .free)
        }
        let (body, length) = redacted(
            request.body, headers: request.headers, isResponse: false, event)
        request.body = body
        let raw = request.raw.flatMap { http.redacted(raw: $0, role: .requests, length: length) }
        if let raw, case .request(let method, let target) = raw.startLine {
            request.method = method
            request.target = target
            request.headers = raw.fieldLines
            request.raw = raw.raw
        } else {
            request.raw = nil
            request.target = http.redacted(target: request.target)
            request.headers = http.redacted(request.headers, length: length)
        }
        return request
    }

    private func redacted(_ response: Event.Response, _ event: Event) -> Event.Response {
        var response = response
        let (body, length) = redacted(
            response.body, headers: response.headers, isResponse: true, event)
        response.body = body
        let raw = response.raw.flatMap { http.redacted(raw: $0, role: .responses, length: length) }
        if let raw, case .status(_, let reason) = raw.startLine {
            response.reason = reason
            response.headers = raw.fieldLines
            response.raw = raw.raw
        } else {
            response.raw = nil
            response.reason = http.redacted(reason: response.reason)
            response.headers = http.redacted(response.headers, length: length)
        }
        return response
    }

    /// A body, and what its length was and is.
    private func redacted(
        _ body: Event.Body, headers: [FieldLine], isResponse: Bool, _ event: Event
    ) -> (Event.Body, (old: UInt64, new: UInt64)?) {
        guard case .whole(let content) = body.content else {
            heads[event.seq] = PieceHead(conn: event.conn, filler: UInt8(ascii: "x"))
            return (body, nil)
        }
        let other = http.redacted(
            body: content, headers: headers, isWhole: !body.incomplete, isResponse: isResponse,
            &json)
        let changed = http.reframed(body, as: other, from: content.count)
        guard case .length(let old) = body.framing, case .length(let new) = changed.framing else {
            return (changed, nil)
        }
        return (changed, (old, new))
    }

    // MARK: Contents

    /// What becomes of a whole message; binary data that is no JSON becomes filler.
    func redacted(message content: Bytes, opcode: Opcode) -> Bytes {
        guard !content.isEmpty else { return content }
        guard isValidUTF8(content.span) else { return filled(content, 0xff) }
        if let other = json.redacted(content, text) { return other }
        guard opcode == .text else { return filled(content, 0xff) }
        return text.redacted(content, .free)
    }

    /// As many bytes, all the same.
    func filled(_ content: Bytes, _ byte: UInt8) -> Bytes {
        text.manifest.filler += UInt64(content.count)
        return Bytes(repeating: byte, count: content.count)
    }

    /// A control frame's payload: a reason is a sentence, and a ping equals its pong.
    func redacted(control payload: Bytes, opcode: Opcode) -> Bytes {
        guard !payload.isEmpty else { return payload }
        guard opcode == .close else { return text.pseudonyms.filler(for: payload) }
        guard payload.count > 2 else { return payload }
        let reason = Bytes(payload[2...])
        guard isValidUTF8(reason.span) else { return payload[..<2] + filled(reason, 0xff) }
        var other = text.redacted(reason, .sentence)
        // A control frame holds 125 bytes (RFC 6455 §5.5).
        while other.count > max(123, reason.count)
            || other.last.map({ $0 >= 0x80 }) == true
                && !isValidUTF8(other.span)
        {
            other.removeLast()
        }
        return payload[..<2] + other
    }

    /// Remembers an event that waits.
    func wait(_ event: Event, isOpen: Bool) { hold(event, isOpen: isOpen) }
}

import Capture
import PhoneBridge
import Wire

/// Holds what takes place in a case against the rules, as it goes on, and notes what was reached.
final class CaseObserver: SessionOutput {
    private var checker: RuleChecker
    private let judged: Side
    private(set) var breaches: [Breach] = []
    private(set) var reached: Set<Sometimes> = []
    private(set) var shapes: Set<UInt64> = []
    private var seq = 0
    private var given: Set<String> = []
    /// Types of commands that were put into the queue.
    private var queuedTypes: Set<String> = []
    /// What was said last to the side under test, as far as its kind goes.
    private var lastSaid = FNVHash()

    /// Breaches that are kept.
    private static let maximumBreaches = 200
    /// Hashes that are kept.
    private static let maximumShapes = 2000

    /// - Parameter checker: a new one; a copy costs less than to make one.
    init(judging side: Side, checker: RuleChecker) {
        judged = side
        self.checker = checker
    }

    func receive(_ event: Event) {
        var event = event
        if case .session = event.kind {
        } else {
            seq += 1
            event.seq = seq
        }
        keep(checker.receive(event))
        look(at: event)
    }

    private func keep(_ found: [Breach]) {
        guard !found.isEmpty else { return }
        breaches += found.filter { $0.side == judged }
            .prefix(max(0, Self.maximumBreaches - breaches.count))
    }

    /// What a campaign wants to have reached, and what is new in what the target shows.
    private func look(at event: Event) {
        if !event.bridge.isEmpty {
            for meaning in event.bridge.values { look(at: meaning, of: event) }
        }
        switch event.kind {
        case .note(let note) where note.code == "outcome" && note.text.contains("bridge_timeout"):
            reached.insert(.expiry)
        case .frame(let frame) where frame.header.opcode == .close:
            let payload = Self.whole(frame.content)
            if event.from == .board, payload.count > 2,
                Self.text(payload.dropFirst(2)).contains("timeout")
            {
                reached.insert(.expiry)
            }
            let code = payload.prefix(2).map { String($0) }.joined(separator: ", ")
            note(event) { $0.combine("close:[" + code + "]") }
        case .response(let response):
            note(event) { $0.combine("response:" + String(response.status)) }
        case .request: note(event) { $0.combine("request") }
        case .close(let close): note(event) { $0.combine("end:" + close.how.rawValue) }
        default: break
        }
    }

    private func look(at meaning: JSON, of event: Event) {
        let kind = meaning["kind"]?.stringValue ?? ""
        switch kind {
        case "command" where meaning["route"]?.stringValue == "queue":
            let id = meaning["id"]?.stringValue ?? ""
            if !given.insert(id).inserted { reached.insert(.redelivery) }
        case "enqueue":
            if let type = Self.commandType(event) { queuedTypes.insert(type) }
        case "query" where Self.isExpired(event): reached.insert(.expiry)
        case "result" where meaning["late"]?.boolValue == true: reached.insert(.lateAnswer)
        case "poll":
            if let state = meaning["app_state"]?.stringValue, state != "active",
                queuedTypes.contains("open_app")
            {
                reached.insert(.filteredPoll)
            }
        default: break
        }
        note(event) { hash in
            hash.combine(kind)
            hash.combine(UInt8(ascii: ":"))
            if let type = meaning["type"]?.stringValue { hash.combine(type) }
        }
    }

    /// Whether the answer to a query says that the command's time is over.
    private static func isExpired(_ event: Event) -> Bool {
        guard case .response(let response) = event.kind else { return false }
        let answer = try? JSON(parsing: whole(response.body.content))
        return answer?["status"]?.stringValue == "expired"
    }

    private static func commandType(_ event: Event) -> String? {
        guard case .request(let request) = event.kind else { return nil }
        return (try? JSON(parsing: whole(request.body.content)))?["command"]?["type"]?.stringValue
    }

    /// Content that is there in one piece; empty where it is not.
    private static func whole(_ content: Event.Content) -> Bytes {
        if case .whole(let bytes) = content { bytes } else { [] }
    }

    private static func text(_ bytes: Bytes.SubSequence) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Takes a note of what is said; `kind` adds it to a hash.
    private func note(_ event: Event, _ kind: (inout FNVHash) -> Void) {
        guard event.from == judged else {
            lastSaid = FNVHash()
            kind(&lastSaid)
            return
        }
        guard shapes.count < Self.maximumShapes else { return }
        var hash = lastSaid
        hash.combine(UInt8(0xff))
        kind(&hash)
        shapes.insert(UInt64(bitPattern: Int64(hash.number)))
    }

    func flush(now: Int64) {}
    func admit(dropped count: Int) {}
    var nextDeadline: Int64? { nil }
    var status: OutputStatus { OutputStatus() }

    @discardableResult
    func close(now: Int64) -> OutputStatus {
        keep(checker.advance(to: now))
        keep(checker.finish())
        return OutputStatus()
    }
}

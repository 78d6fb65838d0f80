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
    /// What the shapes are, where somebody wants to know.
    private(set) var shapeNames: [UInt64: String] = [:]
    private let namesShapes: Bool
    private var seq = 0
    private var given: Set<String> = []
    /// Types of commands that were put into the queue.
    private var queuedTypes: Set<String> = []
    /// What was said last to the side under test, as far as its kind goes.
    private var lastSaid = FNVHash()
    /// The same in words, where they are wanted.
    private var lastWords = ""

    /// Breaches that are kept.
    private static let maximumBreaches = 200
    /// Ids of commands of the queue that are remembered.
    private static let maximumGiven = 10_000
    /// Hashes that are kept.
    private static let maximumShapes = 2000

    /// - Parameters:
    ///   - checker: a new one; a copy costs less than to make one.
    ///   - namesShapes: whether shapes are told in words as well.
    init(judging side: Side, checker: RuleChecker, namesShapes: Bool = false) {
        judged = side
        self.checker = checker
        self.namesShapes = namesShapes
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

    /// Nothing came until `time`: what was due has not come.
    func advance(to time: Int64) {
        keep(checker.advance(to: time))
    }

    /// The breaches since the last call, for a session that has no end in sight.
    func takeBreaches() -> [Breach] {
        defer { breaches = [] }
        return breaches
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
            note(event, "close \(Self.closeCode(payload))") {
                $0.combine("close:[" + code + "]")
            }
        case .response(let response):
            note(event, "response \(response.status)") {
                $0.combine("response:" + String(response.status))
            }
        case .request: note(event, "request") { $0.combine("request") }
        case .close(let close):
            note(event, "end \(close.how.rawValue)") { $0.combine("end:" + close.how.rawValue) }
        default: break
        }
    }

    private func look(at meaning: JSON, of event: Event) {
        let kind = meaning["kind"]?.stringValue ?? ""
        switch kind {
        case "command" where meaning["route"]?.stringValue == "queue":
            let id = meaning["id"]?.stringValue ?? ""
            if given.count >= Self.maximumGiven { given = [] }
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
        let type = meaning["type"]?.stringValue
        note(event, type.map { "\(kind) \($0)" } ?? kind) { hash in
            hash.combine(kind)
            hash.combine(UInt8(ascii: ":"))
            if let type { hash.combine(type) }
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

    private static func closeCode(_ payload: Bytes) -> String {
        payload.count > 1 ? "\(Int(payload[0]) << 8 | Int(payload[1]))" : "without a code"
    }

    /// Takes a note of what is said; `kind` adds it to a hash.
    private func note(
        _ event: Event, _ words: @autoclosure () -> String, _ kind: (inout FNVHash) -> Void
    ) {
        guard event.from == judged else {
            lastSaid = FNVHash()
            kind(&lastSaid)
            if namesShapes { lastWords = words() }
            return
        }
        guard shapes.count < Self.maximumShapes else { return }
        var hash = lastSaid
        hash.combine(UInt8(0xff))
        kind(&hash)
        let shape = UInt64(bitPattern: Int64(hash.number))
        shapes.insert(shape)
        guard namesShapes else { return }
        shapeNames[shape] = lastWords.isEmpty ? words() : "\(words()) behind \(lastWords)"
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

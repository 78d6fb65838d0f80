import Capture
import Report
import Testing

/// Sketches of sessions, compared in a line.
struct DiffProbe {
    var pairing: SessionPairing?
    var rules: ComparisonRules

    init(_ pairing: SessionPairing? = nil, rules: ComparisonRules = ComparisonRules()) {
        self.pairing = pairing
        self.rules = rules
    }

    /// A session with one WebSocket connection.
    static func session(
        platform: String = "ios", _ body: (inout SessionSketch) -> Void
    ) -> SessionSketch {
        var sketch = SessionSketch()
        sketch.session()
        sketch.open(0, 1)
        sketch.add(
            1, 1, .app,
            .request(
                Event.Request(
                    exchange: 1, method: "GET",
                    target: "/api/phone-bridge?platform=\(platform)")))
        sketch.add(
            2, 1, .board,
            .response(Event.Response(exchange: 1, status: 101, reason: "Switching Protocols")))
        body(&sketch)
        return sketch
    }

    static func read(_ sketch: SessionSketch, _ name: String) throws -> DiffSession {
        var reader = DiffReader(name: "\(name).ndjson")
        for event in sketch.events { try reader.receive(event) }
        return reader.session
    }

    func diff(_ first: SessionSketch, _ second: SessionSketch) throws -> SessionDiff {
        try SessionDiff(
            Self.read(first, "a"), Self.read(second, "b"), rules: rules, pairing: pairing)
    }

    func commands(
        _ first: SessionSketch, _ second: SessionSketch
    ) throws -> [SessionDiff.CommandPair] {
        var diff = try diff(first, second)
        var pairs: [SessionDiff.CommandPair] = []
        while let pair = try diff.nextCommand() { pairs.append(pair) }
        return pairs
    }

    /// What became of each command, in order: type, ordinal and outcome.
    func outcomes(_ first: SessionSketch, _ second: SessionSketch) throws -> [String] {
        try commands(first, second).map { "\($0.type) \($0.ordinal) \($0.outcome.rawValue)" }
    }

    func exchanges(
        _ first: SessionSketch, _ second: SessionSketch
    ) throws -> [SessionDiff.ExchangePair] {
        var diff = try diff(first, second)
        var pairs: [SessionDiff.ExchangePair] = []
        while let pair = try diff.nextExchange() { pairs.append(pair) }
        return pairs
    }

    /// Whether anything counts.
    func isDifferent(_ first: SessionSketch, _ second: SessionSketch) throws -> Bool {
        var diff = try diff(first, second)
        while try diff.nextCommand() != nil {}
        while try diff.nextExchange() != nil {}
        while try diff.nextEvent() != nil {}
        return diff.isDifferent
    }

    /// All that people are told.
    func text(
        _ first: SessionSketch, _ second: SessionSketch, showsSame: Bool = false
    ) throws -> String {
        var diff = try diff(first, second)
        let layout = DiffText(isColoured: false, showsSame: showsSame)
        var text = ""
        while let pair = try diff.nextCommand() { text += layout.text(pair) }
        while let pair = try diff.nextExchange() { text += layout.text(pair) }
        while let pair = try diff.nextEvent() { text += layout.text(pair) }
        return text + layout.end(diff)
    }

    static func paths(_ differences: [FieldDifference]?) -> [String] {
        (differences ?? []).map { "\($0.path) \($0.kind.rawValue)" }
    }
}

extension SessionSketch {
    /// A request and its response.
    mutating func exchange(
        _ milliseconds: Int64, _ conn: Int, _ number: Int, _ request: String, body: String = "",
        _ status: Int?, _ answer: String = ""
    ) {
        let words = request.split(separator: " ").map(String.init)
        add(
            milliseconds, conn, .app,
            .request(
                Event.Request(
                    exchange: number, method: words[0], target: "/api/phone-bridge" + words[1],
                    body: Event.Body(content: .whole(Array(body.utf8))))))
        guard let status else { return }
        add(
            milliseconds + 1, conn, .board,
            .response(
                Event.Response(
                    exchange: number, status: status, reason: "",
                    body: Event.Body(content: .whole(Array(answer.utf8))))))
    }

    /// What the board's own side got for a command.
    mutating func outcome(_ milliseconds: Int64, _ text: String, to seq: Int? = nil) {
        add(milliseconds, 0, nil, .note(Event.Note(code: "outcome", text: text, to: seq)))
    }
}

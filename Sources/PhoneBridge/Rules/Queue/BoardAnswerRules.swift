import Capture
import Wire

/// The rules for what the board answers over HTTP: well-formed bodies, whole documents, times, and
/// the status codes that the observed board gives.
struct BoardAnswerRules: RuleGroup {
    static let rules: [Rule] = [
        json, errorJSON, times, enqueueAnswer, pollAnswer, resultAnswer, queryAnswer, refusesBad,
        codes,
    ]

    static let json = Rule(
        "board-json", .sure, .board, section: "RFC 9110 §8.3",
        "A body that is said to be JSON is JSON")
    static let errorJSON = Rule(
        "board-error-json", .likely, .board, section: #"board facts, "HTTP basics""#,
        "The text of an error that looks like JSON is JSON")
    static let times = Rule(
        "board-times", .sure, .board, section: #"contract, "Time Format""#,
        "Each time in the board's answers is RFC 3339 with an offset")
    static let enqueueAnswer = Rule(
        "enqueue-answer", .likely, .board, section: #"board facts, "JSON""#,
        "An accepted command is answered with its id, status queued and a time")
    static let pollAnswer = Rule(
        "poll-answer", .likely, .board, section: #"board facts, "JSON""#,
        "A poll is answered with a list of commands, or null, and a time")
    static let resultAnswer = Rule(
        "result-answer", .likely, .board, section: #"board facts, "JSON""#,
        "An accepted result is answered with status acknowledged")
    static let queryAnswer = Rule(
        "query-answer", .likely, .board, section: #"board facts, "JSON""#,
        "A query is answered with the id, a known status, and the result of what is completed")
    static let refusesBad = Rule(
        "board-refuses-bad-body", .likely, .board, section: #"board facts, "Status codes""#,
        "A command or result that is no JSON object, or has no id, is refused")
    static let codes = Rule(
        "board-status-codes", .likely, .board, section: #"board facts, "Status codes""#,
        "A request in order is answered with the status code of its route")

    static let interests: RuleInterests = [.exchange]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        guard case .exchange(let exchange) = fact.kind, let request = exchange.request,
            let route = request.route, exchange.response.status != 101,
            case .whole(let body) = exchange.response.body.content,
            request.request.method != "HEAD"
        else { return }
        let judged = Judged(
            exchange: exchange, request: request, conn: fact.conn,
            events: [request.seq, fact.seq])
        judgeJSON(body, judged, &context)
        switch route {
        case .enqueue: judgeEnqueue(judged, &context)
        case .poll: judgePoll(judged, &context)
        case .result: judgeResult(judged, &context)
        case .query(let id): judgeQuery(id, judged, &context)
        case .status:
            judgeTimes(
                ["last_heartbeat_at", "fgs_bridge_updated_at", "environment_updated_at"], judged,
                &context)
        case .connect: break
        }
    }

    private struct Judged {
        var exchange: ExchangeFact
        var request: RequestFact
        var conn: Int
        var events: [Int]

        var status: Int { exchange.response.status }
        var answer: JSONView? { exchange.json?.root }
    }

    private func report(
        _ rule: Rule, _ judged: Judged, _ context: inout RuleContext, _ text: String
    ) {
        context.report(rule, by: .board, conn: judged.conn, events: judged.events, text)
    }

    // MARK: - Bodies

    private func judgeJSON(_ body: Bytes, _ judged: Judged, _ context: inout RuleContext) {
        let headers = judged.exchange.response.headers
        guard !body.isEmpty, !headers.has("Content-Encoding"),
            let type = headers.first("Content-Type")?.lowercased()
        else { return }
        let isJSON = type.hasPrefix("application/json")
        let mayBeJSON = type.hasPrefix("text/plain") && body.first == UInt8(ascii: "{")
        guard isJSON || mayBeJSON else { return }
        let rule = isJSON ? Self.json : Self.errorJSON
        context.exercise(rule)
        guard let error = judged.exchange.jsonFault, !error.isLimit else { return }
        report(rule, judged, &context, "\(error)")
    }

    private func judgeTimes(
        _ names: [String], _ judged: Judged, _ context: inout RuleContext
    ) {
        guard judged.status / 100 == 2, let answer = judged.answer else { return }
        for name in names {
            guard let value = answer.member(name), value.kind != .null else { continue }
            context.exercise(Self.times)
            guard value.string.flatMap({ Timestamp($0) }) == nil else { continue }
            report(
                Self.times, judged, &context,
                "\(name) is \(value.string.map { "\"\($0)\"" } ?? "no text")")
        }
    }

    // MARK: - Routes

    private func judgeEnqueue(_ judged: Judged, _ context: inout RuleContext) {
        let command = judged.request.json?.root[folding: "command"]
        let id = command?[folding: "id"]?.string
        judgeBad(id, isWhole: judged.request.isWhole, judged, &context)
        judgeTimes(["queued_at"], judged, &context)
        guard let id, !id.isEmpty, judged.request.isPlain(command, context.contract) else { return }
        judgeCode([202, 409], judged, &context)
        guard judged.status == 202 else { return }
        context.exercise(Self.enqueueAnswer)
        guard let answer = judged.answer, answer["command_id"]?.string == id,
            answer["status"]?.string == "queued", answer["queued_at"]?.string != nil
        else {
            return report(
                Self.enqueueAnswer, judged, &context,
                "the answer to the command \"\(id)\" lacks command_id, status or queued_at")
        }
    }

    private func judgePoll(_ judged: Judged, _ context: inout RuleContext) {
        judgeTimes(["server_time"], judged, &context)
        guard judged.request.poll(context.contract.poll).platform != nil else {
            return
        }
        judgeCode([200], judged, &context)
        guard judged.status == 200 else { return }
        context.exercise(Self.pollAnswer)
        guard judged.exchange.commands != nil else {
            return report(
                Self.pollAnswer, judged, &context, "the answer to a poll has no list of commands")
        }
    }

    private func judgeResult(_ judged: Judged, _ context: inout RuleContext) {
        let result = judged.request.json?.root
        let id = result?[folding: "id"]?.string
        judgeBad(id, isWhole: judged.request.isWhole, judged, &context)
        guard let id, !id.isEmpty, judged.request.isPlain(result, context.contract) else { return }
        judgeCode([200, 404], judged, &context)
        guard judged.status == 200 else { return }
        context.exercise(Self.resultAnswer)
        guard judged.answer?["status"]?.string == "acknowledged" else {
            return report(
                Self.resultAnswer, judged, &context,
                "the answer to a result does not say status acknowledged")
        }
    }

    private static let states = ["queued", "in_flight", "completed", "expired"]

    private func judgeQuery(_ id: String, _ judged: Judged, _ context: inout RuleContext) {
        judgeTimes(["completed_at"], judged, &context)
        guard !id.isEmpty else { return }
        judgeCode([200], judged, &context)
        guard judged.status == 200 else { return }
        context.exercise(Self.queryAnswer)
        guard let answer = judged.answer, let shown = answer["command_id"]?.string,
            let status = answer["status"]?.string, Self.states.contains(status)
        else {
            return report(
                Self.queryAnswer, judged, &context,
                "the answer to a query lacks command_id or a known status")
        }
        let isText = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        if isText, shown != id {
            report(
                Self.queryAnswer, judged, &context, "a query for \"\(id)\" got \"\(shown)\"")
        } else if status == "completed", answer["result"]?.kind != .object {
            report(
                Self.queryAnswer, judged, &context,
                "the command \"\(id)\" is completed and has no result")
        }
    }

    private func judgeBad(
        _ id: String?, isWhole: Bool, _ judged: Judged, _ context: inout RuleContext
    ) {
        guard isWhole, id?.isEmpty ?? true else { return }
        context.exercise(Self.refusesBad)
        guard judged.status / 100 == 2 else { return }
        report(
            Self.refusesBad, judged, &context,
            "a body without an id is answered with \(judged.status)")
    }

    private func judgeCode(
        _ expected: [Int], _ judged: Judged, _ context: inout RuleContext
    ) {
        // Pages of other origins, boards in trouble and their limits are another matter.
        guard !judged.request.request.headers.has("Origin"), judged.status < 500,
            ![401, 403, 413, 429].contains(judged.status),
            // The board redirects a path that is not clean.
            Self.isClean(judged.request.target.path)
        else { return }
        context.exercise(Self.codes)
        guard !expected.contains(judged.status) else { return }
        report(
            Self.codes, judged, &context,
            "the answer is \(judged.status), expected "
                + expected.map(String.init).joined(separator: " or "))
    }

    /// Whether no slash of a path has another one, or a dot, behind it.
    private static func isClean(_ path: String) -> Bool {
        var isBehindSlash = false
        for byte in path.utf8 {
            if isBehindSlash, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") {
                return false
            }
            isBehindSlash = byte == UInt8(ascii: "/")
        }
        return true
    }
}

extension RequestFact {
    /// Whether all of the body is in the event, so that what is not in it was not sent.
    var isWhole: Bool {
        if case .whole = request.body.content { !request.body.incomplete } else { false }
    }

    /// Whether the body is in order for every board: an object whose known fields have their
    /// types, and whose id is nobody else's.
    func isPlain(_ object: JSONView?, _ contract: Contract) -> Bool {
        guard let object, object.kind == .object, json?.root.kind == .object else { return false }
        // A server may refuse a length beside a coding (RFC 9112 §6.1).
        guard !request.headers.has("Content-Length") || !request.headers.has("Transfer-Encoding")
        else { return false }
        let types: [(String, JSONKind)] = [
            ("id", .string), ("type", .string), ("phone_id", .string), ("app", .string),
            ("name", .string), ("url", .string), ("method", .string), ("timeout_ms", .number),
            ("error", .object),
        ]
        var seen: Set<String> = []
        for (name, value) in object.members {
            let lower = name.string?.lowercased() ?? ""
            guard seen.insert(lower).inserted else { return false }
            if let type = types.first(where: { $0.0 == lower }), value.kind != type.1 {
                return false
            }
            if lower == "timeout_ms", value.integer == nil { return false }
            // An error's texts and details too.
            if lower == "error", !Self.isPlain(error: value) { return false }
        }
        guard let id = object["id"]?.string else { return false }
        return id.utf8.count <= 256 && !contract.isReserved(id)
    }

    private static func isPlain(error: JSONView) -> Bool {
        error.members.allSatisfy { name, value in
            switch name.string?.lowercased() ?? "" {
            case "category", "code", "message": value.kind == .string
            case "details": value.kind == .object
            default: true
            }
        }
    }
}

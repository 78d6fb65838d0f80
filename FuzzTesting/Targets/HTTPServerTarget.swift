import Wire

/// Whatever a client sends, the server gives out the same requests however the bytes arrive, one at
/// a time, answers each of them and nothing else in HTTP that can be read, and is silent once closed.
///
/// Behind the options and the seed, an input is the client's bytes.
func checkHTTPServer(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)
    var first: ServerRun?
    for (name, cuts) in Cuts.all(seed: seed) {
        var cuts = cuts
        var run = ServerRun(options)
        for part in cuts.parts(of: bytes) { try run.receive(part) }
        try run.end()
        if let first {
            try expectEqual(run.requests, first.requests, "\(name), the requests")
            try expectEqual(run.sent, first.sent, "\(name), what is sent")
            try expectEqual(run.switched, first.switched, "\(name), what follows the upgrade")
        } else {
            first = run
        }
        try run.readAnswers()
    }
}

/// A server whose host answers at once.
private struct ServerRun {
    private var machine: HTTPServerMachine
    private let options: UInt8
    private var isClosed = false
    private var isSwitched = false
    private(set) var requests: [HTTPMessage] = []
    private(set) var sent = Bytes()
    private(set) var switched = Bytes()

    init(_ options: UInt8) {
        self.options = options
        var limits = HTTPServerMachine.Limits()
        if options & 1 != 0 {
            limits.http = HTTPLimits(
                maximumHeadSize: 256, maximumChunkLine: 24, maximumTrailers: 48, maximumMethod: 8)
            limits.maximumBody = 64
            limits.maximumPlainBody = 4
        }
        machine = HTTPServerMachine(limits: limits, now: 0)
    }

    mutating func receive(_ part: Bytes) throws(BrokenInvariant) {
        if isSwitched {
            switched += part
            return
        }
        try take(machine.receive(part.span, now: 1_000))
    }

    mutating func end() throws(BrokenInvariant) {
        if !isSwitched {
            try take(machine.peerEnded(now: 2_000))
            try take(machine.deadlineReached(now: .max))
        }
        try expect(machine.deadline == nil, "something is waited for behind the end")
        try expect(!machine.wantsInput, "more is wanted behind the end")
    }

    private mutating func take(_ actions: [HTTPServerMachine.Action]) throws(BrokenInvariant) {
        var waiting: HTTPMessage?
        for action in actions {
            try expect(!isClosed && waiting == nil, "\(action) behind the end, or a request")
            switch action {
            case .request(let request): waiting = request
            case .send(let bytes): sent += bytes
            case .switched(let bytes):
                isSwitched = true
                switched += bytes
            case .close: isClosed = true
            }
        }
        guard let waiting else { return }
        requests.append(waiting)
        try take(answer(waiting))
    }

    private mutating func answer(_ request: HTTPMessage) -> [HTTPServerMachine.Action] {
        if options & 2 != 0, request.head.isUpgradeToWebSocket {
            return machine.switchProtocols(
                HTTPHead(
                    startLine: .status(code: 101, reason: "Switching Protocols"),
                    fieldLines: [FieldLine("Upgrade", "websocket")]))
        }
        let body = Bytes(repeating: 0x78, count: Int(options >> 2 & 7))
        let head = HTTPHead(startLine: .status(code: 200, reason: "OK"))
        return machine.respond(HTTPMessage(head: head, body: body), now: 1_500)
    }

    /// As many answers as there were requests, and at most one refusal.
    func readAnswers() throws(BrokenInvariant) {
        var decoder = HTTPDecoder(.responses)
        for request in requests { decoder.expectResponse(to: request.head.method ?? "") }
        var position = 0
        var answers = 0
        while let step = decoder.next(sent.span, at: &position) {
            switch step {
            case .head(let head, _) where head.status != 100: answers += 1
            case .undecodable(_, let why): throw BrokenInvariant("an answer is not HTTP: \(why)")
            default: break
            }
        }
        try expect(
            (requests.count...requests.count + 1).contains(answers),
            "\(answers) answers to \(requests.count) requests")
        try expect(decoder.tail.isEmpty, "an answer is cut short")
    }
}

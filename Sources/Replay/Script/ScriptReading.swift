import Capture
import PhoneBridge
import Wire

/// What both roles' scripts are made with: links, exchanges and commands by what names them.
struct ScriptReading {
    let contract: Contract
    let session: RecordedSession
    /// What the peer made of broken frames of the side that is played.
    let reactions: FrameReactions
    var script: ReplayScript
    /// Links by connection.
    private(set) var linkOfConn: [Int: Int] = [:]
    /// Exchanges by connection and number.
    private var exchangeOf: [Int: [Int: Int]] = [:]
    private(set) var commandOfID: [String: Int] = [:]
    private var commandOfSeq: [Int: Int] = [:]

    init(_ session: RecordedSession, role: Side, contract: Contract) {
        self.session = session
        self.contract = contract
        reactions = FrameReactions(session, to: role)
        script = ReplayScript(role: role)
    }

    /// Adds a step and gives its number; its time is the item's where none is given.
    @discardableResult
    mutating func add(
        _ kind: ReplayScript.Kind, _ item: RecordedSession.Item, at time: Int64? = nil,
        needs: ReplayScript.Needs = .everythingBefore, wait: ReplayScript.Wait? = nil,
        allowance: Int64 = 0, holdsOthers: Bool = true
    ) -> Int {
        var step = ReplayScript.Step(kind, seq: item.seq, time: time ?? item.time)
        step.needs = needs
        step.wait = wait
        step.allowance = allowance
        step.holdsOthers = holdsOthers
        script.steps.append(step)
        return script.steps.count - 1
    }

    func link(_ conn: Int) -> Int? { linkOfConn[conn] }

    /// Adds what plays a broken frame, and looks a while later whether the peer has kept the
    /// connection, where it had; gives the step of the frame.
    @discardableResult
    mutating func brokenFrame(
        _ frame: Frame, on link: Int, _ item: RecordedSession.Item
    ) -> Int {
        let step = add(.frame(link: link, frame.encoded()), item)
        if let time = reactions.time(keptBehind: item.seq) {
            add(
                .kept(link: link), item,
                wait: ReplayScript.Wait(
                    after: step, duration: time,
                    why: "what a peer makes of a broken frame shows in a moment"))
        }
        return step
    }

    // MARK: HTTP

    /// Notes a request; gives its exchange.
    mutating func request(_ request: Event.Request, _ item: RecordedSession.Item) -> Int {
        script.exchanges.append(
            ReplayScript.Exchange(
                conn: item.conn, seq: item.seq, request: request,
                route: HTTPRoute(
                    method: request.method, target: request.target, paths: contract.paths)))
        exchangeOf[item.conn, default: [:]][request.exchange] = script.exchanges.count - 1
        return script.exchanges.count - 1
    }

    /// Notes a response; gives its exchange, nil where its request is not in the session.
    mutating func response(_ response: Event.Response, _ item: RecordedSession.Item) -> Int? {
        guard let index = exchangeOf[item.conn]?.removeValue(forKey: response.exchange) else {
            return nil
        }
        script.exchanges[index].response = response
        return index
    }

    /// Notes a request that asks for a WebSocket; gives its link.
    mutating func handshake(_ request: Event.Request, _ item: RecordedSession.Item) -> Int {
        script.links.append(
            ReplayScript.Link(conn: item.conn, seq: item.seq, request: request))
        linkOfConn[item.conn] = script.links.count - 1
        return script.links.count - 1
    }

    // MARK: Commands

    /// Notes that a command was sent; gives its number.
    mutating func command(
        _ meaning: JSON, _ content: Bytes, _ item: RecordedSession.Item
    ) -> Int? {
        guard let id = meaning["id"]?.stringValue, let type = meaning["type"]?.stringValue,
            !contract.isReserved(id)
        else { return nil }
        if let known = commandOfID[id] {
            commandOfSeq[item.seq] = known
            return known
        }
        let milliseconds =
            meaning["timeout_ms"]?.integerValue ?? contract.timing.defaultTimeoutMilliseconds
        script.commands.append(
            ReplayScript.Command(
                id: id, type: type, seq: item.seq, content: content,
                route: meaning["route"]?.stringValue == Route.queue.rawValue ? .queue : .websocket,
                timeout: max(0, min(milliseconds, 86_400_000)) * 1_000_000))
        commandOfID[id] = script.commands.count - 1
        commandOfSeq[item.seq] = script.commands.count - 1
        return script.commands.count - 1
    }

    /// Notes a command that a tool put into the queue.
    mutating func enqueued(_ request: Event.Request, _ item: RecordedSession.Item) -> Int? {
        guard case .whole(let body) = request.body.content, let value = try? JSON(parsing: body),
            let command = value["command"], let id = command["id"]?.stringValue,
            let type = command["type"]?.stringValue
        else { return nil }
        var members: [JSON.Member] = [
            .init("id", .string(id)), .init("type", .string(type)), .init("route", "queue"),
        ]
        if let timeout = command["timeout_ms"] { members.append(.init("timeout_ms", timeout)) }
        let number = self.command(.object(members), command.encoded, item)
        if let number { script.commands[number].isEnqueued = true }
        return number
    }

    func command(at seq: Int) -> Int? { commandOfSeq[seq] }

    /// The commands in a poll's answer, with their texts as they were sent.
    func handedOut(_ item: RecordedSession.Item, _ response: Event.Response) -> [(JSON, Bytes)] {
        let meanings = item.meaning.filter { $0["kind"]?.stringValue == "command" }
        guard !meanings.isEmpty, case .whole(let body) = response.body.content,
            let document = try? JSONDocument(body)
        else { return [] }
        let list =
            document.root.kind == .array ? document.root : document.root["commands"]
        let elements = (list?.elements ?? []).filter {
            !($0["id"]?.string ?? "").isEmpty && $0["type"]?.string != nil
        }
        return zip(meanings, elements).map { ($0, $1.rawBytes) }
    }

    // MARK: What the contract knows

    func meaning(_ kind: String, _ item: RecordedSession.Item) -> JSON? {
        item.meaning.first { $0["kind"]?.stringValue == kind }
    }

    /// The state of the app that a poll tells, as a word.
    func state(ofPoll target: String) -> String? { Self.state(ofPoll: target, contract) }

    /// The state of the app that a poll tells, as a word.
    static func state(ofPoll target: String, _ contract: Contract) -> String? {
        let target = PhoneBridge.RequestTarget(target)
        func flag(_ name: String) -> Bool? {
            guard let text = target[name]?.lowercased() else { return nil }
            if contract.poll.trueTexts.contains(text) { return true }
            return contract.poll.falseTexts.contains(text) ? false : nil
        }
        return PhoneStateWord(
            PollState(
                platform: target[contract.poll.platform] ?? "",
                appState: target[contract.poll.appState],
                pipEnabled: flag(contract.poll.pipEnabled),
                fgsEnabled: flag(contract.poll.fgsEnabled)), reportedBy: .poll)?.text
    }
}

extension Event.Request {
    /// The body; empty where it came in pieces.
    var wholeBody: Bytes {
        if case .whole(let body) = body.content { body } else { [] }
    }
}

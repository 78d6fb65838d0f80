package import Capture
import Network
package import PhoneBridge
package import Replay
import Simulator
import Wire

extension FuzzScript {
    /// The script of a recorded session: what the played side did in it, with the recorded pauses.
    ///
    /// Heartbeats that follow each other at their pace are one step. Ids of commands and of things
    /// become places, so that the live ones go in. Nil where the session has nothing to play.
    package init?(
        playing side: Side, of session: RecordedSession, contract: Contract = .current
    ) {
        var maker = CorpusScript(side, session, contract)
        for item in session.items { maker.take(item) }
        guard maker.isWorthwhile else { return nil }
        self = maker.script
    }
}

/// Makes a script out of a recorded session, item by item.
private struct CorpusScript {
    private(set) var script: FuzzScript
    private let contract: Contract
    private let side: Side
    /// Names of links by connection, of those whose handshake was accepted.
    private var links: [Int: String] = [:]
    private let accepted: Set<Int>
    private var beating: Set<Int> = []
    /// Names of commands by id.
    private var names: [String: String] = [:]
    /// Ids of commands that are left out, with their answers.
    private var leftOut: Set<String> = []
    /// Places such as `$(c1.event_id)` by the value that a recorded answer had.
    private var things: [String: String] = [:]
    /// The type of each command, by its name.
    private var types: [String: Contract.CommandType] = [:]
    private var lastTime: Int64?
    private var appState: String?

    init(_ side: Side, _ session: RecordedSession, _ contract: Contract) {
        self.side = side
        self.contract = contract
        let isAndroid = session.items.contains { item in
            if case .request(let request) = item.kind {
                request.target.contains("platform=android")
            } else {
                false
            }
        }
        script = FuzzScript(as: side, to: side == .board && isAndroid ? .android : .ios)
        accepted = Set(
            session.items.compactMap { item in
                if case .response(let response) = item.kind, response.status == 101 {
                    item.conn
                } else {
                    nil
                }
            })
    }

    /// Whether there is more than a connection.
    var isWorthwhile: Bool { script.steps.count > 2 }

    mutating func take(_ item: RecordedSession.Item) {
        switch item.kind {
        case .request(let request): take(request, item)
        case .response: if side == .board { handedOut(item) }
        case .message(let from, _, let content, _): take(content, from, item)
        case .closeFrame(let from, let payload): close(payload.bytes, from, item)
        case .brokenFrame(let from, let frame, _) where frame.header.opcode == .close:
            close(frame.payload, from, item)
        case .ended(let from, let how):
            guard from == side, let link = links[item.conn] else { return }
            add(how == .reset ? .reset(link) : .fin(link), item)
            links[item.conn] = nil
        case .ping(let from, let payload):
            guard from == side, let link = links[item.conn] else { return }
            add(.frame(link, FuzzFrame(.ping, payload)), item)
        // What breaks the RFC is a matter of mutations.
        case .brokenFrame, .outcome, .unplayable: break
        }
    }

    private mutating func close(_ payload: Bytes, _ from: Side, _ item: RecordedSession.Item) {
        guard from == side, let link = links[item.conn] else { return }
        let code = payload.count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1])
        add(.close(link, code: code, reason: Bytes(payload.dropFirst(2))), item)
        links[item.conn] = nil
    }

    /// Adds a step, with the pause before it where that is more than the peer's doing.
    private mutating func add(_ action: FuzzAction, _ item: RecordedSession.Item) {
        let tenth = 100 * nanosecondsPerMillisecond
        if let lastTime, item.time - lastTime > 5 * tenth {
            let pause = (item.time - lastTime) / tenth * tenth
            script.steps.append(FuzzStep(.wait(min(pause, 600 * nanosecondsPerSecond))))
        }
        lastTime = item.time
        script.steps.append(FuzzStep(action))
    }

    private func isLeftOut(_ message: Bytes) -> Bool {
        guard !leftOut.isEmpty else { return false }
        return JSONEdit.view(message, ["id"])?.string.map(leftOut.contains) ?? false
    }

    private func kind(_ item: RecordedSession.Item) -> Set<String> {
        Set(item.meaning.compactMap { $0["kind"]?.stringValue })
    }

    // MARK: Requests

    private mutating func take(_ request: Event.Request, _ item: RecordedSession.Item) {
        let route = HTTPRoute(
            method: request.method, target: request.target, paths: contract.paths)
        let parts = request.target.split(separator: "?", maxSplits: 1)
        if accepted.contains(item.conn) {
            let name = "l\(links.count + script.steps.count)"
            links[item.conn] = name
            switch side {
            case .app:
                add(
                    .connect(name, FuzzDial(query: parts.count > 1 ? String(parts[1]) : "")),
                    item)
            case .board: add(.accept(name, 15 * nanosecondsPerSecond), item)
            }
            return
        }
        guard case .whole(let body) = request.body.content, !request.body.incomplete else { return }
        if side == .board {
            if case .result = route { answered(body) }
            if case .poll = route { pollState(request.target, item) }
            return
        }
        if case .enqueue = route, let command = JSONEdit.view(body, ["command"])?.rawBytes {
            if let name = name(of: command, "q") {
                add(.enqueue(name, command), item)
                return
            }
            if isLeftOut(command) { return }
        }
        if isLeftOut(body) { return }
        let base = contract.paths.base + "/"
        var target = request.target
        if target.hasPrefix(base) { target = String(target.dropFirst(base.count)) }
        if target.hasPrefix("results/"),
            let name = names[String(target.dropFirst("results/".count))]
        {
            target = "results/$(\(name))"
        }
        add(.request(FuzzRequest(request.method, target, placed(body))), item)
    }

    // MARK: Messages

    private mutating func take(
        _ content: Bytes, _ from: Side, _ item: RecordedSession.Item
    ) {
        let kinds = kind(item)
        switch (side, from) {
        case (.app, .board):
            guard kinds.contains("command"), let name = name(of: content, "c") else { return }
            add(.stimulate(name, content), item)
            add(.await(name, 5 * nanosecondsPerSecond), item)
        case (.app, .app):
            guard let link = links[item.conn] else { return }
            if kinds.contains("heartbeat") {
                guard JSONEdit.view(content, ["id"])?.string == contract.heartbeatIDs.first,
                    JSONEdit.names(content, []).count == 1
                else { return add(.text(link, content), item) }
                if beating.insert(item.conn).inserted {
                    let interval = contract.timing.heartbeatIntervalMilliseconds
                    add(.beats(link, interval * nanosecondsPerMillisecond), item)
                }
                return
            }
            guard !isLeftOut(content) else { return }
            add(.text(link, placed(content)), item)
        case (.board, .board):
            guard kinds.contains("command"), let name = name(of: content, "c") else { return }
            add(.command(name, placed(content, isCommand: true)), item)
            add(.await(name, 10 * nanosecondsPerSecond), item)
        case (.board, .app): answered(content)
        }
    }

    /// Commands that the recorded board gave to a poll.
    private mutating func handedOut(_ item: RecordedSession.Item) {
        guard case .response(let response) = item.kind,
            case .whole(let body) = response.body.content,
            let list = JSONEdit.view(body, ["commands"])
        else { return }
        for view in list.elements {
            let command = view.rawBytes
            guard let name = name(of: command, "q") else { continue }
            add(.enqueue(name, placed(command, isCommand: true)), item)
            add(.await(name, 15 * nanosecondsPerSecond), item)
        }
    }

    /// The app is brought to where it was when it polled.
    private mutating func pollState(_ target: String, _ item: RecordedSession.Item) {
        let state = contract.pollState(PhoneBridge.RequestTarget(target))
        guard let word = PhoneStateWord(state, reportedBy: .poll)?.text, word != appState else {
            return
        }
        let isFirst = appState == nil && word == PhoneStateWord.active.text
        appState = word
        if !isFirst { add(.state(word), item) }
    }

    // MARK: Names

    private mutating func name(of command: Bytes, _ letter: String) -> String? {
        guard let id = JSONEdit.view(command, ["id"])?.string, !contract.isReserved(id),
            let typeName = JSONEdit.view(command, ["type"])?.string
        else { return nil }
        if let known = names[id] { return known }
        // A board passes on what its own side wrote; as the app only what is in order is asked for.
        guard side == .board || isInOrder(command, contract.command(named: typeName)) else {
            leftOut.insert(id)
            return nil
        }
        let name = letter + "\(names.count + 1)"
        names[id] = name
        types[name] = contract.command(named: typeName)
        return name
    }

    /// Whether a command is what the contract allows, as far as a board can be blamed for it.
    private func isInOrder(_ command: Bytes, _ type: Contract.CommandType?) -> Bool {
        guard let type else { return false }
        if type.needsOneField {
            let given = type.fields.filter { JSONEdit.view(command, [$0.name]) != nil }
            guard given.count == 1 else { return false }
        }
        return isInOrder(type.fields, command, []) && isInOrder(type.payload, command, ["payload"])
    }

    private func isInOrder(
        _ fields: [Contract.Field], _ command: Bytes, _ path: [String]
    ) -> Bool {
        fields.allSatisfy { field in
            guard let value = JSONEdit.view(command, path + [field.name]) else {
                return !field.isRequired
            }
            switch field.type {
            case .instant: return value.string.flatMap { Timestamp($0) } != nil
            case .url(let schemes):
                let scheme = value.string?.split(separator: ":").first?.lowercased()
                return scheme.map(schemes.contains) ?? false
            default: return true
            }
        }
    }

    /// Notes which things a recorded answer gave their ids.
    private mutating func answered(_ answer: Bytes) {
        guard let id = JSONEdit.view(answer, ["id"])?.string, let name = names[id],
            let field = types[name]?.bornID,
            let thing = JSONEdit.view(answer, ["data", field])?.string
        else { return }
        things[thing] = "$(\(name).\(field))"
    }

    /// A message with places for the ids in it: that of a command, or those of things.
    private func placed(_ text: Bytes, isCommand: Bool = false) -> Bytes {
        if isCommand {
            guard let typeName = JSONEdit.view(text, ["type"])?.string,
                let field = contract.command(named: typeName)?.usedID,
                let thing = JSONEdit.view(text, ["payload", field])?.string,
                let place = things[thing]
            else { return text }
            return JSONEdit.replacing(text, ["payload", field], by: JSONEdit.quoted(place)) ?? text
        }
        guard let id = JSONEdit.view(text, ["id"])?.string, let name = names[id] else {
            return text
        }
        return JSONEdit.replacing(text, ["id"], by: JSONEdit.quoted("$(\(name))")) ?? text
    }
}

import Capture
package import PhoneBridge
import Wire

extension ReplayScript {
    /// Makes the script by which the app's side of a session is played against a board.
    ///
    /// - Parameter canStimulate: whether the board can be made to send a command over the
    ///   WebSocket; without it those that it sent on its own are left to chance.
    package static func app(
        _ session: RecordedSession, canStimulate: Bool, contract: Contract = .current
    ) -> ReplayScript {
        var builder = AppScript(
            ScriptReading(session, role: .app, contract: contract), canStimulate: canStimulate)
        builder.build()
        return builder.reading.script
    }
}

/// Makes a script for the app's side.
struct AppScript {
    var reading: ScriptReading
    let canStimulate: Bool

    /// Per link: the last beat or the opening, as a step and a time.
    private var lastBeat: [Int: (step: Int, time: Int64)] = [:]
    /// Links whose end has been decided, by a step or by the other side.
    private var ending: Set<Int> = []
    /// Links with a step for their end.
    private var ended: Set<Int> = []
    /// Connections on which the app spoke on when another one had taken their place.
    private var readLate: Set<Int> = []
    /// Commands whose end at the board's own side is still to come, with when it is due.
    private var open: [(command: Int, due: Int64, sent: Int)] = []
    /// The step that makes the request of an exchange.
    private var askedBy: [Int: Int] = [:]
    /// The step with which a command last arrived.
    private var lastArrival: [Int: Int] = [:]
    /// The step of the last response on each connection.
    private var lastResponse: [Int: Int] = [:]
    /// Things that were known about an id of the queue: the step that last had to do with it.
    private var lastOfQueued: [Int: Int] = [:]

    /// Heartbeats that are further apart than this are a silence that means something: two and a
    /// half intervals (contract, "Heartbeat").
    static let silence: Int64 = 12_500_000_000

    init(_ reading: ScriptReading, canStimulate: Bool) {
        self.reading = reading
        self.canStimulate = canStimulate
    }

    mutating func build() {
        readLate = Self.connectionsReadLate(reading.session.items, reading.contract)
        for item in reading.session.items {
            settleOutcomes(before: item.time, item)
            add(item)
        }
        if let last = reading.session.items.last {
            settleOutcomes(before: reading.session.end, last)
        }
        StepSpacing.apply(to: &reading.script)
    }

    /// The connections with messages of the app behind a close frame of the board that followed
    /// the handshake of another one.
    private static func connectionsReadLate(
        _ items: [RecordedSession.Item], _ contract: Contract
    ) -> Set<Int> {
        var newest: Int?
        var closing: Set<Int> = []
        var found: Set<Int> = []
        for item in items {
            switch item.kind {
            case .request(let request):
                let route = HTTPRoute(
                    method: request.method, target: request.target, paths: contract.paths)
                if route == .connect { newest = item.conn }
            case .closeFrame(.board, _) where newest != item.conn: closing.insert(item.conn)
            case .closeFrame(.app, _), .ended: closing.remove(item.conn)
            case .message(.app, _, _, _) where closing.contains(item.conn):
                found.insert(item.conn)
            default: break
            }
        }
        return found
    }

    // MARK: What the board's own side gets

    /// Puts the ends of commands whose time was over before `time` where they belong.
    private mutating func settleOutcomes(before time: Int64, _ item: RecordedSession.Item) {
        while let index = open.indices.filter({ open[$0].due < time })
            .min(by: { open[$0].due < open[$1].due })
        {
            outcome(open.remove(at: index), item)
        }
    }

    private mutating func outcome(
        _ entry: (command: Int, due: Int64, sent: Int), _ item: RecordedSession.Item
    ) {
        guard canStimulate else { return }
        reading.add(
            .outcome(command: entry.command), item, at: min(entry.due, item.time),
            allowance: reading.script.commands[entry.command].timeout)
    }

    private mutating func closeOutcome(of command: Int, _ item: RecordedSession.Item) {
        guard let index = open.firstIndex(where: { $0.command == command }) else { return }
        outcome(open.remove(at: index), item)
    }

    // MARK: Items

    private mutating func add(_ item: RecordedSession.Item) {
        switch item.kind {
        case .request(let request): add(request, item)
        case .response(let response): add(response, item)
        case .message(.app, let opcode, let content, let framing):
            if framing != .whole, let link = reading.link(item.conn) {
                reading.script.links[link].framing = framing
            }
            appMessage(opcode, content, item)
        case .message(.board, _, let content, _): boardMessage(content, item)
        case .ping(.app, let payload):
            guard let link = reading.link(item.conn) else { return }
            reading.add(.ping(link: link, payload), item)
        case .ping(.board, _): break
        case .brokenFrame(.app, let frame, _):
            guard let link = reading.link(item.conn) else { return }
            reading.brokenFrame(frame, on: link, item)
        case .brokenFrame(.board, let frame, _):
            guard frame.header.opcode == .close else { return }
            closed(by: .board, .frame(ClosePayload(frame.payload)), item)
        case .closeFrame(let side, let payload): closed(by: side, .frame(payload), item)
        case .ended(let side, let how):
            closed(by: side, how == .fin ? .fin : .reset, item)
        case .outcome(let seq):
            guard let command = reading.command(at: seq) else { return }
            closeOutcome(of: command, item)
        case .unplayable(let side, let why):
            // A heartbeat may be in it: nobody can tell how long the app was silent.
            if side != .board, let link = reading.link(item.conn) { lastBeat[link] = nil }
            if side != .board { reading.script.unplayable.append((item.seq, why)) }
        }
    }

    private mutating func add(_ request: Event.Request, _ item: RecordedSession.Item) {
        let route = HTTPRoute(
            method: request.method, target: request.target, paths: reading.contract.paths)
        let upgrades = request.headers.contains {
            $0.isNamed("Upgrade") && $0.value.lowercased() == "websocket"
        }
        if route == .connect, upgrades {
            let link = reading.handshake(request, item)
            reading.script.links[link].isReadLate = readLate.contains(item.conn)
            _ = reading.request(request, item)
            reading.add(.connect(link: link), item)
            return
        }
        let exchange = reading.request(request, item)
        if route == .enqueue, !request.body.incomplete,
            let command = reading.enqueued(request, item)
        {
            let step = reading.add(.request(exchange: exchange), item)
            askedBy[exchange] = step
            lastOfQueued[command] = step
            return
        }
        if route == .result, !request.body.incomplete, let result = reading.meaning("result", item),
            let id = result["id"]?.stringValue, let command = reading.commandOfID[id]
        {
            reading.script.commands[command].answers.append(request.wholeBody)
            let step = reading.add(
                .post(exchange: exchange, command: command), item,
                needs: needs(command, on: item.conn),
                wait: lateness(of: command, result))
            askedBy[exchange] = step
            lastOfQueued[command] = step
            return
        }
        askedBy[exchange] = reading.add(.request(exchange: exchange), item)
    }

    /// An answer needs its command, if that was sent at all.
    private func needs(_ command: Int, on conn: Int? = nil) -> ReplayScript.Needs {
        guard let arrival = lastArrival[command] else { return .everythingBefore }
        // Behind what the app had done before, too: that is its own order. A connection has one
        // request at a time.
        let own = reading.script.steps.lastIndex { $0.kind.isOurs }
        let response = conn.flatMap { lastResponse[$0] }
        return .cause(arrival, behind: [own, response].compactMap { $0 }.max())
    }

    /// A late answer stays late.
    private func lateness(of command: Int, _ result: JSON) -> ReplayScript.Wait? {
        guard result["late"]?.boolValue ?? false, let arrival = lastArrival[command],
            let milliseconds = result["latency_ms"]?.numberText.flatMap({ Double($0) }),
            milliseconds > 0, milliseconds < 1e9
        else { return nil }
        return ReplayScript.Wait(
            after: arrival, duration: Int64(milliseconds * 1e6), why: "a late answer stays late")
    }

    private mutating func add(_ response: Event.Response, _ item: RecordedSession.Item) {
        guard let exchange = reading.response(response, item) else { return }
        if let link = reading.link(item.conn),
            reading.script.links[link].seq == reading.script.exchanges[exchange].seq
        {
            reading.script.links[link].response = response
            reading.script.links[link].beginSeq = item.seq
            let step = reading.add(.opened(link: link), item)
            lastBeat[link] = (step, item.time)
            return
        }
        // The live one gets as long as the recorded one took, if that was long.
        let answered = reading.add(
            .response(exchange: exchange), item,
            needs: askedBy[exchange].map { .cause($0, behind: nil) } ?? .everythingBefore,
            allowance: gap(item.time, from: reading.script.exchanges[exchange].seq))
        lastResponse[item.conn] = answered
        keepExpiry(of: exchange, response, answered)
        for (meaning, content) in reading.handedOut(item, response) {
            guard let command = reading.command(meaning, content, item) else { continue }
            reading.script.exchanges[exchange].handsOut.append(command)
            handedOut(command, exchange, item)
        }
    }

    private func gap(_ time: Int64, from seq: Int) -> Int64 {
        guard let start = reading.script.steps.last(where: { $0.seq == seq })?.time else {
            return 0
        }
        return max(0, time - start)
    }

    /// A poll handed a command out.
    private mutating func handedOut(
        _ command: Int, _ exchange: Int, _ item: RecordedSession.Item
    ) {
        let poll = reading.script.steps.lastIndex {
            if case .request(exchange) = $0.kind { true } else { false }
        }
        if let earlier = lastArrival[command], let poll {
            // It came back because no result came in time: the wait for that is kept.
            let duration = reading.script.steps[poll].time - reading.script.steps[earlier].time
            if duration > 0 {
                reading.script.steps[poll].wait = ReplayScript.Wait(
                    after: earlier, duration: duration,
                    why: "the queue hands a command out again once its time is over")
            }
        } else if !reading.script.commands[command].isEnqueued {
            // Nobody is seen to have put it into the queue, so we do that before the poll.
            reading.script.exchanges[exchange].enqueuesFirst.append(command)
        }
        let step = reading.add(.arrival(command: command), item)
        reading.script.commands[command].arrivals.append(step)
        lastArrival[command] = step
        lastOfQueued[command] = step
    }

    /// A query that says `expired` of a command that was there waits as long as it did.
    private mutating func keepExpiry(
        of exchange: Int, _ response: Event.Response, _ answered: Int
    ) {
        guard case .query(let id)? = reading.script.exchanges[exchange].route,
            let command = reading.commandOfID[id], let last = lastOfQueued[command],
            case .whole(let body) = response.body.content,
            let value = try? JSON(parsing: body), value["status"]?.stringValue == "expired",
            let asked = reading.script.steps.lastIndex(where: {
                if case .request(exchange) = $0.kind { true } else { false }
            })
        else { return }
        let duration = reading.script.steps[asked].time - reading.script.steps[last].time
        guard duration > 0, last < asked else { return }
        reading.script.steps[asked].wait = ReplayScript.Wait(
            after: last, duration: duration, why: "the queue forgets a command in its time")
    }

    // MARK: Messages

    private mutating func appMessage(
        _ opcode: Opcode, _ content: Bytes, _ item: RecordedSession.Item
    ) {
        guard let link = reading.link(item.conn) else { return }
        if reading.meaning("heartbeat", item) != nil {
            let last = lastBeat[link]
            var wait: ReplayScript.Wait?
            if let last, item.time - last.time > Self.silence {
                wait = ReplayScript.Wait(
                    after: last.step, duration: item.time - last.time,
                    why: "a missing heartbeat stays missing")
            }
            let step = reading.add(.beat(link: link, content), item, wait: wait)
            lastBeat[link] = (step, item.time)
            return
        }
        if let result = reading.meaning("result", item), let id = result["id"]?.stringValue,
            let command = reading.commandOfID[id], lastArrival[command] != nil
        {
            reading.script.commands[command].answers.append(content)
            reading.add(
                .answer(command: command, link: link, content), item, needs: needs(command),
                wait: lateness(of: command, result))
            if !(result["late"]?.boolValue ?? false) { closeOutcome(of: command, item) }
            return
        }
        reading.add(.send(link: link, opcode, content), item)
    }

    private mutating func boardMessage(_ content: Bytes, _ item: RecordedSession.Item) {
        guard let link = reading.link(item.conn) else { return }
        if let meaning = reading.meaning("command", item),
            let command = reading.command(meaning, content, item)
        {
            reading.add(.stimulate(command: command), item)
            // Without a stimulus it comes, or does not: nothing waits for it.
            let step = reading.add(
                .arrival(command: command), item, holdsOthers: canStimulate)
            reading.script.commands[command].arrivals.append(step)
            lastArrival[command] = step
            open.append(
                (command, item.time + reading.script.commands[command].timeout, step))
            return
        }
        if reading.meaning("heartbeat", item) != nil { reading.add(.echo(link: link), item) }
    }

    // MARK: Ends

    private mutating func closed(
        by side: Side, _ how: ReplayScript.Ending, _ item: RecordedSession.Item
    ) {
        guard let link = reading.link(item.conn), reading.script.links[link].isAccepted else {
            return
        }
        if case .frame = how, side == .board, readLate.contains(item.conn), !ending.contains(link) {
            // Our side does not see it yet.
            return endOutcomes(on: link, item)
        }
        if side == .app {
            guard ending.insert(link).inserted else { return }
            silenceBeforeEnd(link, item)
            reading.script.links[link].hasEnd = true
            reading.add(.end(link: link, how), item)
            endOutcomes(on: link, item)
        } else if case .frame = how, !ending.contains(link) {
            ended(link, item)
        } else if how != .fin || reading.reactions.ends(item.conn),
            ending.insert(link).inserted
        {
            ended(link, item)
        }
        if case .fin = how, side == .board, ending.contains(link),
            ended.insert(link).inserted
        {
            reading.add(.ended(link: link), item)
        }
    }

    /// The board ended the link.
    private mutating func ended(_ link: Int, _ item: RecordedSession.Item) {
        ending.insert(link)
        ended.insert(link)
        reading.script.links[link].hasEnd = true
        var wait: ReplayScript.Wait?
        if let last = lastBeat[link], item.time - last.time > Self.silence {
            wait = ReplayScript.Wait(
                after: last.step, duration: item.time - last.time,
                why: "a connection that was silent stays silent")
        }
        // It waited for heartbeats until its limit was over, and looks only now and then.
        reading.add(
            .ended(link: link), item, wait: wait,
            allowance: wait.map { $0.duration + 16_000_000_000 } ?? 0)
        endOutcomes(on: link, item)
    }

    /// A connection that ends takes its commands along.
    private mutating func endOutcomes(on link: Int, _ item: RecordedSession.Item) {
        for entry in open { outcome(entry, item) }
        open = []
    }

    /// A connection that lay still before its end does so again.
    private mutating func silenceBeforeEnd(_ link: Int, _ item: RecordedSession.Item) {
        guard let last = lastBeat[link], item.time - last.time > Self.silence else { return }
        reading.add(
            .pause, item,
            wait: ReplayScript.Wait(
                after: last.step, duration: item.time - last.time,
                why: "a connection that was silent stays silent"))
    }
}

import Capture
import Wire

/// Requests and responses.
extension Timeline {
    /// Requests of one connection that wait for their response; pipelining clients have a few.
    private var maximumExchanges: Int { 256 }

    mutating func request(_ request: Event.Request, _ event: Event) {
        let meaning = event.bridge.first
        let isPoll = meaning?["kind"]?.stringValue == "poll"
        if var connection = connections[event.conn] {
            if connection.exchanges.count >= maximumExchanges { connection.exchanges = [:] }
            connection.exchanges[request.exchange] = Exchange(time: event.time, isPoll: isPoll)
            connections[event.conn] = connection
        }
        guard wantsLines || meaning != nil else { return }

        let line = addressText(request)
        if let meaning, !request.body.incomplete {
            switch meaning["kind"]?.stringValue {
            case "poll":
                hold(httpLine(event, "poll", pollText(meaning)))
                return
            case "result":
                result(meaning, event, content: request.body.json)
                return
            case "enqueue":
                let command = request.body.json?["command"]
                let type = command?["type"]?.stringValue ?? ""
                var text = [Styled(word(type) + " ", .strong), Styled(idText(meaning))]
                text += arguments(command)
                show(httpLine(event, "enqueue", text))
                return
            case "query", "status":
                show(httpLine(event, meaning["kind"]?.stringValue ?? "", line))
                return
            default: break
            }
        }
        let isUpgrade = request.headers.contains {
            $0.name.lowercased() == "upgrade" && $0.value.lowercased() == "websocket"
        }
        show(
            httpLine(
                event, isUpgrade ? "upgrade" : "request",
                line + bodyText(request.body, skipsEmpty: true),
                isBroken: request.body.incomplete))
    }

    mutating func response(_ response: Event.Response, _ event: Event) {
        let isInterim = response.status < 200 && response.status != 101
        var exchange: Exchange?
        if isInterim {
            exchange = connections[event.conn]?.exchanges[response.exchange]
        } else {
            exchange = connections[event.conn]?.exchanges.removeValue(forKey: response.exchange)
        }
        let extensions = response.headers.filter {
            $0.name.lowercased() == "sec-websocket-extensions"
        }.map(\.value)
        if response.status == 101 { upgraded(event.conn, extensions: extensions) }
        guard wantsLines || !event.bridge.isEmpty else { return }

        let commands = event.bridge.filter { $0["kind"]?.stringValue == "command" }
        if exchange?.isPoll == true, response.status == 200, !response.body.incomplete,
            commands.isEmpty
        {
            if isHeld(event.conn) {
                quiet(.emptyPoll, event, absorbing: true)
            } else {
                show(
                    httpLine(event, "polled", [Styled("nothing", .dim)] + latency(exchange, event)))
            }
            return
        }

        let status = "\(response.status) \(visible(response.reason))"
        // What went as it should is not what people look for.
        let style: Styled.Style =
            response.status >= 400 ? .bad : response.status == 101 ? .good : .dim
        var text = [Styled(status, style)]
        if response.status == 101 {
            text += extensions.map { Styled(" · " + visible($0)) }
        } else if !commands.isEmpty {
            text.append(Styled(" · " + counted(commands.count, "command")))
        } else if let json = response.body.json, json.members != nil {
            text.append(
                Styled(
                    " · " + fieldText(json), style == .dim ? .dim : .plain, isValue: true))
        } else {
            text += bodyText(response.body, skipsEmpty: true)
        }
        show(
            httpLine(
                event,
                response.status == 101 ? "upgraded" : commands.isEmpty ? "response" : "polled",
                text + latency(exchange, event), isBroken: response.body.incomplete))
        let contents = response.body.json?["commands"]?.elements
        for (index, meaning) in commands.enumerated() {
            let content = contents.flatMap { index < $0.count ? $0[index] : nil }
            command(meaning, event, content: content)
        }
    }

    private func httpLine(
        _ event: Event, _ label: String, _ text: [Styled], isBroken: Bool = false
    ) -> TimelineLine {
        TimelineLine(
            isBroken: isBroken, time: event.time, conn: event.conn, direction: event.direction,
            label: Styled(label), text: text)
    }

    private func pollText(_ meaning: JSON) -> [Styled] {
        let known = ["platform", "app_state"].compactMap {
            meaning[$0]?.stringValue.map { visible($0) }
        }
        let text = Styled(known.joined(separator: " "))
        guard let phone = meaning["phone_id"]?.stringValue else { return [text] }
        return [text, Styled((known.isEmpty ? "" : " ") + visible(phone), isValue: true)]
    }

    /// The method and what it is about; what is asked for behind a `?` is a value.
    private func addressText(_ request: Event.Request) -> [Styled] {
        let parts = request.target.split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let start = Styled(visible("\(request.method) \(parts.first ?? "")"))
        guard parts.count > 1 else { return [start] }
        return [start, Styled("?" + visible(String(parts[1])), isValue: true)]
    }

    private func latency(_ exchange: Exchange?, _ event: Event) -> [Styled] {
        guard let exchange else { return [] }
        return [Styled(" · " + timeSpan(span(from: exchange.time, to: event.time)), .dim)]
    }

    private func bodyText(_ body: Event.Body, skipsEmpty: Bool) -> [Styled] {
        let cutOff = body.incomplete ? [Styled(" · cut off", .bad)] : []
        switch body.content {
        case .pieces: return [Styled(" · a body in pieces", .dim)] + cutOff
        case .whole(let bytes):
            if bytes.isEmpty, skipsEmpty { return cutOff }
            let size = [Styled(" · " + byteCount(bytes.count), .dim)]
            return size + [Styled(" · " + contentPreview(bytes), .dim, isValue: true)] + cutOff
        }
    }
}

extension Event.Body {
    /// The body as JSON, where it is that and is not too long for a line.
    var json: JSON? {
        guard case .whole(let bytes) = content else { return nil }
        return shortJSON(bytes)
    }
}

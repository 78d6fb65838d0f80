import Wire

/// The board's WebSocket: handshake, end, and what is asked of a request's origin
/// (board-http-facts, "Handshake").
extension Board {
    mutating func upgrade(
        _ request: HTTPHead, _ target: RequestTarget, _ exchange: ExchangeID, at now: Moment
    ) -> [BoardAction] {
        if let refusal = HandshakeRefusal(of: request) {
            return [.respond(exchange, .refusal(refusal))]
        }
        let deflate = WebSocketHandshake.deflate(for: request, policy: .board)
        let head = WebSocketHandshake.response(
            key: request.fieldLines.first("Sec-WebSocket-Key") ?? "", deflate: deflate,
            more: [Self.dateLine(at: now)])
        guard let head else {
            return [.respond(exchange, .error(500, "SHA-1 cannot be had on this machine"))]
        }
        var actions: [BoardAction] = []
        if let old = link {
            actions.append(.close(old.id, code: 1001, reason: "new connection"))
            actions += disconnect(keepsEnvironment: false, at: now)
        }
        let platform = target.queryValue("platform") ?? ""
        let phoneID = CommandID(Self.trimmed(Self.phoneID(in: target).bytes))
        let id = LinkID(rawValue: exchange.rawValue)
        link = BoardLink(id: id, platform: platform, at: now, scale: options.timeScale)
        if !platform.isEmpty { phone.platform = platform }
        phone.phoneID = phoneID
        actions.append(
            .accept(
                BoardAction.Accept(exchange: exchange, link: id, head: head, deflate: deflate)))
        return actions
    }

    /// The actions with a `Date` in each response.
    func dated(_ actions: [BoardAction], at now: Moment) -> [BoardAction] {
        actions.map { action in
            guard case .respond(let exchange, var response) = action else { return action }
            response.head.fieldLines.append(Self.dateLine(at: now))
            return .respond(exchange, response)
        }
    }

    static func dateLine(at now: Moment) -> FieldLine {
        let seconds = Timestamp(wall: now.wall).seconds
        return FieldLine("Date", HTTPDate.format(secondsSince1970: seconds))
    }

    /// The refusal of a request that another site's page makes; nil for all others.
    ///
    /// The observed board asks this of the WebSocket only. A page that must not open it should
    /// not reach the queue either.
    static func foreignOrigin(_ request: HTTPHead) -> HTTPMessage? {
        guard request.fieldLines.has("Origin") else { return nil }
        // The handshake's judge answers for the origin once all else is in order.
        let handshake = WebSocketHandshake.request(
            target: "/", host: request.fieldLines.first("Host") ?? "",
            key: WebSocketHandshake.key(from: Bytes(repeating: 0, count: 16)),
            more: [FieldLine("Origin", request.fieldLines.first("Origin") ?? "")])
        return HandshakeRefusal(of: handshake).map { .refusal($0) }
    }

    /// Forgets the connection, and what is only true while connected (contract, "AppEvent").
    mutating func disconnect(keepsEnvironment: Bool, at now: Moment) -> [BoardAction] {
        link = nil
        phone.phoneID = CommandID("")
        return forget(keepsEnvironment: keepsEnvironment, at: now)
    }

    /// Forgets the phone's environment, and ends the commands that wait for its answers.
    mutating func forget(keepsEnvironment: Bool, at now: Moment) -> [BoardAction] {
        if !keepsEnvironment { environment = nil }
        return pending.takeAll().flatMap { entry in
            // An id that the queue has already is there once.
            if options.defects.contains(.b5) { try? queue.enqueue(entry.command, at: now) }
            return end(entry) { id in
                CommandResponse(
                    id: id,
                    failure: .init(
                        "transient", "bridge_connection_closed",
                        "the connection to the phone ended first"))
            }
        }
    }

    static func trimmed(_ bytes: Bytes) -> Bytes {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return Bytes(rest)
    }
}

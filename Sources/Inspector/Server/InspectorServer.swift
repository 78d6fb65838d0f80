package import Network
package import Wire

/// What comes of the wish to see two sessions side by side.
package enum ComparisonAnswer: Sendable {
    case page(Bytes)
    /// They cannot be compared.
    case none
    /// Something went wrong, in words.
    case failed(String)
}

/// Serves the page of some sessions to browsers of this machine, and goes on as they grow.
///
/// What may be seen is `PageAccess`'s to say; nothing can be changed. It runs on the loop of whoever
/// records or reads, and a slow browser is waited for by its own connection alone.
package final class InspectorServer {
    /// Makes the page that compares two sessions, and gives it whenever it is there.
    package var comparison:
        (
            (_ first: Int, _ second: Int, _ answer: @escaping (ComparisonAnswer) -> Void) -> Void
        )?

    /// Gives the figures in Prometheus' text format; nil where there are none.
    package var metrics: (() -> Bytes)?

    private let loop: any EventLoop
    private let server: HTTPServer
    private let access: PageAccess
    private let names: [String]
    private let logs: [SessionLog]
    /// What is held back at the end of each session, as JSON.
    private let pending: (Int) -> JSON
    private var links: [ObjectIdentifier: LiveLink] = [:]
    private var isTelling = false

    /// More browser windows than a person has open.
    private static let maximumLinks = 64
    /// Nanoseconds between two looks at what came: a browser paints no faster.
    private static let interval: Int64 = 50 * nanosecondsPerMillisecond

    /// Makes a server that does not listen yet.
    ///
    /// - Parameter pending: what a session holds back at the moment.
    package init(
        _ sessions: [(name: String, log: SessionLog)], on loop: any EventLoop,
        pending: @escaping (_ session: Int) -> JSON
    ) {
        self.loop = loop
        self.pending = pending
        names = sessions.map(\.name)
        logs = sessions.map(\.log)
        var token = Bytes()
        // 128 bits, which nobody guesses (RFC 6749 §10.10).
        appendHex(loop.randomBytes(16).span, to: &token)
        access = PageAccess(token: String(decoding: token, as: UTF8.self))
        server = HTTPServer(on: loop)
        server.onRequest = { [weak self] in self?.answer($0) }
        for log in logs { log.onGrowth = { [weak self] in self?.tellSoon() } }
    }

    /// Begins to listen.
    ///
    /// - Parameter allows: who may connect, by the address.
    /// - Returns: the address of the page, with its token.
    package func listen(
        on address: SocketAddress, allows: @escaping (SocketAddress) -> Bool
    ) throws(NetworkError) -> String {
        server.accepts = allows
        let local = try server.listen(on: address)
        return "http://\(local)\(access.path)"
    }

    /// Ends all connections.
    package func close() {
        server.close()
        for link in links.values { link.close() }
        links = [:]
    }

    // MARK: Requests

    private func answer(_ exchange: HTTPExchange) {
        let place: PageAccess.Place
        do {
            place = try access.place(of: exchange.request.head)
        } catch {
            exchange.respond(
                Self.message(error.status, "text/plain", Bytes((error.text + "\n").utf8)))
            return
        }
        switch place {
        case .page:
            let page = InspectorPage(sessions: names, isLive: true)
            exchange.respond(Self.message(200, "text/html", page.whole))
        case .events(let session, let block):
            guard logs.indices.contains(session) else { return Self.refuse(exchange) }
            do {
                guard let lines = try logs[session].lines(ofBlock: block) else {
                    return Self.refuse(exchange)
                }
                exchange.respond(Self.message(200, "application/x-ndjson", lines))
            } catch {
                exchange.respond(Self.message(500, "text/plain", Bytes("\(error)\n".utf8)))
            }
        case .comparison(let first, let second):
            guard first != second, logs.indices.contains(first), logs.indices.contains(second)
            else { return Self.refuse(exchange) }
            guard let comparison else { return Self.refuse(exchange) }
            comparison(first, second) { answer in
                switch answer {
                case .page(let page): exchange.respond(Self.message(200, "text/html", page))
                case .none: Self.refuse(exchange)
                case .failed(let why):
                    exchange.respond(Self.message(500, "text/plain", Bytes("\(why)\n".utf8)))
                }
            }
        case .metrics:
            guard let metrics else { return Self.refuse(exchange) }
            exchange.respond(Self.message(200, "text/plain; version=0.0.4", metrics()))
        case .live(let session, let from):
            guard logs.indices.contains(session) else { return Self.refuse(exchange) }
            upgrade(exchange, session: session, from: from)
        }
    }

    private static func refuse(_ exchange: HTTPExchange) {
        exchange.respond(
            message(404, "text/plain", Bytes("there is no such thing here\n".utf8)))
    }

    private func upgrade(_ exchange: HTTPExchange, session: Int, from: UInt64) {
        if let refusal = HandshakeRefusal(of: exchange.request.head) {
            exchange.respond(
                .response(
                    refusal.status, fieldLines: refusal.fieldLines, body: Bytes(refusal.text.utf8)))
            return
        }
        guard links.count < Self.maximumLinks else {
            exchange.respond(
                Self.message(503, "text/plain", Bytes("too many windows are open\n".utf8)))
            return
        }
        guard let socket = exchange.upgradeToWebSocket() else { return }
        let link = LiveLink(socket, log: logs[session], from: from) { [pending] in
            pending(session)
        }
        let key = ObjectIdentifier(link)
        links[key] = link
        link.onClosed = { [weak self] in self?.links[key] = nil }
        link.send()
    }

    /// What every answer says besides: keep it from other pages, and from the disk.
    private static func message(_ status: Int, _ type: String, _ body: Bytes) -> HTTPMessage {
        var fieldLines = [
            FieldLine("Content-Type", type + "; charset=utf-8"),
            FieldLine("Cache-Control", "no-store"),
            FieldLine("X-Content-Type-Options", "nosniff"),
            FieldLine("X-Frame-Options", "DENY"),
            FieldLine("Referrer-Policy", "no-referrer"),
            FieldLine("Cross-Origin-Opener-Policy", "same-origin"),
            FieldLine("Cross-Origin-Resource-Policy", "same-origin"),
            FieldLine("Content-Security-Policy", InspectorPage.policy),
        ]
        if status == 405 { fieldLines.append(FieldLine("Allow", "GET")) }
        return .response(status, fieldLines: fieldLines, body: body)
    }

    // MARK: Growth

    private func tellSoon() {
        guard !isTelling, !links.isEmpty else { return }
        isTelling = true
        loop.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            isTelling = false
            for link in links.values { link.send() }
        }
    }
}

import BridgeProxy
import Capture
import Network
import PhoneBridge
import Replay
import Report
import Testing
import Wire

/// What one side of a connection does with broken frames of the other one.
private enum Peer: Equatable {
    /// Fails the connection, as RFC 6455 demands.
    case strict
    /// Reads nothing and says nothing.
    case silent
    /// Closes for another reason.
    case closes(CloseCode)

    func take(_ link: WebSocketConnection, on loop: any EventLoop) {
        switch self {
        case .strict: break
        case .silent: link.pause()
        case .closes(let code):
            link.pause()
            loop.schedule(after: 50_000_000) { link.close(code) }
        }
    }
}

/// Broken frames of one side, and whether the other one fails the connection.
private struct Case: CustomTestStringConvertible {
    var name: String
    /// The frames as the board sends them; the app's are masked besides.
    var frames: [Frame]
    var hasWrongMask = false
    /// Whether a strict peer ends the connection.
    var isRefused = true
    /// Whether it is a matter of broken frames what the peer does: a close in good order is answered
    /// as ever.
    var isJudged = true
    /// Whether no frame of them is in good order, which would get a live masking key.
    var areAllBroken = true

    var testDescription: String { name }

    func bytes(from side: Side, key: UInt32 = 0x0102_0304) -> Bytes {
        var bytes = Bytes()
        for var frame in frames {
            let isMasked = (side == .app) != hasWrongMask
            frame.header.maskingKey = isMasked ? MaskingKey(rawValue: key) : nil
            frame.encode(into: &bytes)
        }
        return bytes
    }

    static let all: [Case] = [
        Case(name: "a reserved bit", frames: [Frame(rsv: 2, opcode: .text, payload: text("{}"))]),
        Case(
            name: "a reserved opcode",
            frames: [Frame(opcode: Opcode(rawValue: 3), payload: text("{}"))]),
        Case(
            name: "a reserved opcode of control",
            frames: [Frame(opcode: Opcode(rawValue: 11), payload: [1])]),
        Case(
            name: "a ping that is too long",
            frames: [Frame(opcode: .ping, payload: Bytes(repeating: 7, count: 126))]),
        Case(name: "a ping in parts", frames: [Frame(fin: false, opcode: .ping, payload: [1])]),
        Case(
            name: "a mask on the wrong side", frames: [Frame(opcode: .text, payload: text("{}"))],
            hasWrongMask: true),
        Case(name: "a length that is too long", frames: [longForm]),
        Case(
            name: "a text that is not UTF-8",
            frames: [Frame(opcode: .text, payload: [0x22, 0xc3, 0x28, 0x22])]),
        Case(
            name: "a second part that is not UTF-8",
            frames: [
                Frame(fin: false, opcode: .text, payload: text("{")),
                Frame(fin: false, opcode: .continuation, payload: [0xff]),
                Frame(opcode: .continuation, payload: text("}")),
            ]),
        Case(
            name: "a continuation of nothing",
            frames: [Frame(opcode: .continuation, payload: text("}"))]),
        Case(
            name: "a continuation of nothing that goes on",
            frames: [
                Frame(fin: false, opcode: .continuation, payload: text("{")),
                Frame(opcode: .continuation, payload: text("}")),
            ]),
        Case(
            name: "a message within a message",
            frames: [
                Frame(fin: false, opcode: .text, payload: text("{")),
                Frame(opcode: .text, payload: text("[]")),
                Frame(opcode: .continuation, payload: text("}")),
            ]),
        Case(
            name: "a reserved bit on the third part",
            frames: [
                Frame(fin: false, opcode: .text, payload: text("{")),
                Frame(opcode: .ping, payload: []),
                Frame(fin: false, opcode: .continuation, payload: text(" ")),
                Frame(rsv: 1, opcode: .continuation, payload: text("}")),
            ], areAllBroken: false),
        Case(
            name: "a message without an end",
            frames: [
                Frame(fin: false, opcode: .text, payload: text("{")),
                Frame(fin: false, opcode: .continuation, payload: text(" ")),
            ], isRefused: false),
        Case(name: "half a close code", frames: [Frame(opcode: .close, payload: [3])]),
        Case(
            name: "a close code that is not allowed",
            frames: [Frame(opcode: .close, payload: [3, 0xe7])]),
        Case(
            name: "a close reason that is not UTF-8",
            frames: [Frame(opcode: .close, payload: [3, 0xe8, 0xff])]),
        Case(
            name: "words behind a close",
            frames: [
                Frame(opcode: .close, payload: [3, 0xe8]),
                Frame(opcode: .text, payload: text("{}")),
            ], isJudged: false, areAllBroken: false),
    ]

    private static func text(_ text: String) -> Bytes { Bytes(text.utf8) }

    private static var longForm: Frame {
        var frame = Frame(opcode: .text, payload: text("{}"))
        frame.header.lengthForm = .long
        return frame
    }
}

/// Two hosts: that of the side that is recorded and later played, and that of its peer.
private final class Stage {
    let world = SimulatedWorld(seed: 3)
    let host: SimulatedLoop
    let other: SimulatedLoop
    let role: Side
    private var server: HTTPServer?
    private var links: [WebSocketConnection] = []

    static let target = "/api/phone-bridge?platform=ios&phone_id=p"

    init(_ role: Side) throws {
        self.role = role
        host = try #require(world.addHost("10.0.0.1"))
        other = try #require(world.addHost("10.0.0.2"))
    }

    /// A board at `loop`, where each connection is given to `take`.
    func serve(
        on loop: any EventLoop, at host: SimulatedLoop,
        _ take: @escaping (WebSocketConnection) -> Void
    ) throws -> Endpoint {
        let server = HTTPServer(on: loop)
        self.server = server
        server.onRequest = { [weak self] exchange in
            guard let link = exchange.upgradeToWebSocket() else { return }
            self?.links.append(link)
            take(link)
        }
        return Endpoint(try server.listen(on: SocketAddress(host.ip, port: 8080)))
    }

    /// An app at `loop` that dials once.
    func dial(
        _ endpoint: Endpoint, on loop: any EventLoop,
        _ take: @escaping (WebSocketConnection) -> Void
    ) {
        WebSocketClient.connect(
            to: endpoint, WebSocketRequest(target: Self.target), on: loop
        ) { [weak self] result in
            guard let link = try? result.get() else { return }
            self?.links.append(link)
            take(link)
        }
    }

    func end() {
        server?.close()
        for link in links { link.abort() }
        world.run(for: nanosecondsPerSecond)
    }

    /// The session in which the role's side sends bytes on a connection, as its file.
    static func record(_ bytes: Bytes, from role: Side, to peer: Peer) throws -> Bytes {
        let stage = try Stage(role)
        let memory = SessionMemory()
        let writer = try SessionWriter(
            session: SessionInfo(
                id: "recorded", startedAt: "2026-01-01T00:00:00.000000000Z", tool: "test",
                source: "simulation")
        ) { _ in memory }
        let recorder = Recorder(outputs: [writer], loop: stage.host, contract: .current)
        let loop = TappedLoop(stage.host, recorder: recorder)
        let send = { (link: WebSocketConnection) in
            stage.host.schedule(after: 20_000_000) {
                link.send(raw: bytes)
                // It says nothing to what comes of it.
                link.isSilent = true
            }
            stage.host.schedule(after: 3 * nanosecondsPerSecond) { link.drop() }
        }
        switch role {
        case .app:
            let endpoint = try stage.serve(on: stage.other, at: stage.other) {
                peer.take($0, on: stage.other)
            }
            stage.dial(endpoint, on: loop, send)
        case .board:
            let endpoint = try stage.serve(on: loop, at: stage.host, send)
            stage.dial(endpoint, on: stage.other) { peer.take($0, on: stage.other) }
        }
        stage.world.run(for: 10 * nanosecondsPerSecond)
        _ = recorder.finish()
        stage.end()
        return memory.bytes
    }

    /// Plays a session against a peer.
    static func play(
        _ session: LoadedSession, as role: Side, against peer: Peer,
        gate: EffectGate = EffectGate(level: .all), rawSession: SessionMemory? = nil
    ) throws -> ReplayVerdict {
        let stage = try Stage(role)
        let live = LiveSession(name: "live", contract: .current, profile: .contract)
        var outputs: [any SessionOutput] = [live]
        let info = SessionInfo(
            id: "live", startedAt: "2026-01-01T00:00:00.000000000Z", tool: "test",
            source: "replay")
        if let rawSession {
            outputs.append(try SessionWriter(session: info) { _ in rawSession })
        }
        live.receive(Event(time: 0, kind: .session(info)))
        let recorder = Recorder(outputs: outputs, loop: stage.host, contract: .current)
        let loop = TappedLoop(stage.host, recorder: recorder)
        var isOver = false
        var options = PlayerOptions()
        // A close that is not answered is given up within it.
        options.patience = 8 * nanosecondsPerSecond
        var result: () -> ReplayResult
        switch role {
        case .app:
            let endpoint = try stage.serve(on: stage.other, at: stage.other) {
                peer.take($0, on: stage.other)
            }
            let run = AppRun(
                ReplayScript.app(session.recorded, canStimulate: false), to: endpoint, on: loop,
                driver: nil, options: options)
            run.onEnd = { isOver = true }
            run.start()
            result = { ReplayResult(run.player, live: live, duration: 0) }
        case .board:
            let run = BoardRun(
                ReplayScript.board(session.recorded), on: loop, driver: nil, options: options,
                gate: gate)
            run.onEnd = { isOver = true }
            let address = try run.listen(on: SocketAddress(stage.host.ip, port: 8080))
            run.start()
            stage.dial(Endpoint(address), on: stage.other) { peer.take($0, on: stage.other) }
            result = { ReplayResult(run.player, live: live, duration: 0) }
        }
        #expect(stage.world.run(limit: 600 * nanosecondsPerSecond, until: { isOver }))
        stage.world.run(for: nanosecondsPerSecond)
        _ = recorder.finish()
        let played = result()
        stage.end()
        return try ReplayVerdict(session, played, profile: .contract, contract: .current)
    }

    static func loaded(_ bytes: Bytes) throws -> LoadedSession {
        var reader = SessionReader(MemorySource(bytes))
        return try LoadedSession(
            "recorded", &reader, contract: .current, profile: .contract)
    }

    /// The frames of a side, as they crossed, or with other masking keys.
    static func wire(_ session: Bytes, of side: Side, key: UInt32? = nil) throws -> Bytes {
        var reader = SessionReader(MemorySource(session))
        var bytes = Bytes()
        while let item = try reader.next() {
            guard case .event(let event) = item, event.from == side,
                case .frame(let frame) = event.kind, case .whole(let payload) = frame.content
            else { continue }
            var header = frame.header
            if let key, header.maskingKey != nil { header.maskingKey = MaskingKey(rawValue: key) }
            Frame(header: header, payload: payload).encode(into: &bytes)
        }
        return bytes
    }
}

/// Frames that break RFC 6455 are played to the byte, and what the peer makes of them is judged.
@Suite struct BrokenFramePlayTests {
    @Test(arguments: Case.all, [Side.app, .board])
    fileprivate func `a peer that takes broken frames as the recorded one did is the same`(
        broken: Case, role: Side
    ) throws {
        let bytes = broken.bytes(from: role)
        for peer in [Peer.strict, .silent, .closes(.policyViolation)] {
            let recording = try Stage.record(bytes, from: role, to: peer)
            let session = try Stage.loaded(recording)
            let live = SessionMemory()
            let verdict = try Stage.play(session, as: role, against: peer, rawSession: live)
            let isDifferent = verdict.isDifferent
            #expect(!isDifferent, "\(peer): \(Self.told(verdict))")
            #expect(verdict.unplayable.isEmpty, "\(peer): \(verdict.unplayable)")
            let key: UInt32? = broken.areAllBroken ? nil : 0
            let sent = try Stage.wire(live.bytes, of: role, key: key)
            let expected = key.map { broken.bytes(from: role, key: $0) } ?? bytes
            #expect(
                sent.starts(with: expected), "\(peer): \(sent) in place of \(expected)")
        }
    }

    @Test(arguments: Case.all.filter(\.isJudged), [Side.app, .board])
    fileprivate func `a peer that takes broken frames in another way is different`(
        broken: Case, role: Side
    ) throws {
        let peers = [Peer.strict, .silent, .closes(.policyViolation)]
        for recorded in peers {
            let session = try Stage.loaded(
                Stage.record(broken.bytes(from: role), from: role, to: recorded))
            for peer in peers where peer != recorded {
                // Where nothing is refused, two of them have nothing to say.
                let isClosing = [peer, recorded].contains(.closes(.policyViolation))
                guard broken.isRefused || isClosing else { continue }
                let verdict = try Stage.play(session, as: role, against: peer)
                let isDifferent = verdict.isDifferent
                #expect(isDifferent, "\(recorded) before, now \(peer)")
            }
        }
    }

    @Test func `without leave to do anything on the phone no broken frame goes out, by name`()
        throws
    {
        let bytes = Case.all[0].bytes(from: .board)
        let session = try Stage.loaded(Stage.record(bytes, from: .board, to: .strict))
        let live = SessionMemory()
        let verdict = try Stage.play(
            session, as: .board, against: .strict, gate: EffectGate(level: .own), rawSession: live)
        let isDifferent = verdict.isDifferent
        #expect(!isDifferent, "\(Self.told(verdict))")
        #expect(
            verdict.unplayable.map(\.why) == [
                "a phone may read a broken frame in more than one way"
            ])
        #expect(!(try Stage.wire(live.bytes, of: .board)).starts(with: bytes))
    }

    private static func told(_ verdict: ReplayVerdict) -> String {
        verdict.differences
            .map { "\($0.outcome) \($0.group) \($0.name): \($0.details.joined(separator: "; "))" }
            .joined(separator: "\n")
    }
}

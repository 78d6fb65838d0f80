import Capture
import Wire

/// A session made by chance: connections side by side, whose bytes arrive in parts of any size.
///
/// Legal ones hold what two well-behaved ends say; others illegal frames, odd chunk lines, bytes of
/// no protocol, and every way to end, too.
struct RandomSession {
    private(set) var session: SampleSession
    private var random: SeededRandom
    private let isLegal: Bool
    private var connections: [Connection] = []

    private enum Step {
        case send(Side, Bytes)
        case end(Side, Event.Ending)
    }

    private struct Connection {
        var number: Int
        var isOpen = true
        var isWebSocket = false
        var deflaters: [Side: Deflater] = [:]
        var ended: Set<Side> = []
        var actions: Int
        /// What is still to happen, in order.
        var steps: [Step] = []
    }

    /// Makes the session that `seed` stands for.
    init(seed: UInt64, isLegal: Bool, limits: ConnectionLimits = ConnectionLimits()) {
        session = SampleSession(limits: limits)
        random = SeededRandom(seed &* 2 &+ (isLegal ? 1 : 0))
        self.isLegal = isLegal
        run()
    }

    private mutating func run() {
        let count = number(1...5)
        var opened = 0
        while opened < count || connections.contains(where: \.isOpen) {
            if opened < count, connections.allSatisfy({ !$0.isOpen }) || number(0...9) == 0 {
                opened += 1
                session.open(opened)
                connections.append(Connection(number: opened, actions: number(0...14)))
                if number(0...15) == 0 {
                    connections[opened - 1].steps = [.end(.board, .refused)]
                }
                continue
            }
            let open = connections.indices.filter { connections[$0].isOpen }
            advance(random.pick(open))
        }
        session.flush()
    }

    private mutating func advance(_ index: Int) {
        guard let step = connections[index].steps.first else {
            act(index)
            return
        }
        let number = connections[index].number
        switch step {
        case .send(let side, let bytes):
            let count =
                random.flag()
                ? bytes.count : min(bytes.count, self.number(1...max(1, bytes.count / 2)))
            session.send(number, side, Bytes(bytes[..<count]))
            if count == bytes.count {
                connections[index].steps.removeFirst()
            } else {
                connections[index].steps[0] = .send(side, Bytes(bytes[count...]))
            }
        case .end(let side, let how):
            session.end(number, side, how)
            connections[index].steps.removeFirst()
            connections[index].ended.insert(side)
            if how != .fin || connections[index].ended.count == 2 {
                connections[index].isOpen = false
            }
        }
    }

    /// Decides what happens next on a connection about which nothing is decided.
    private mutating func act(_ index: Int) {
        guard connections[index].actions > 0 else { return finish(index) }
        connections[index].actions -= 1
        let ended = connections[index].ended
        if !ended.isEmpty {
            // The other side may still say something.
            guard let side = Side.allCases.first(where: { !ended.contains($0) }) else { return }
            if connections[index].isWebSocket {
                connections[index].steps = [.send(side, frame(from: side, index))]
            }
            return
        }
        if connections[index].isWebSocket {
            let side: Side = random.pick([.app, .board])
            if number(0...3) == 0 {
                connections[index].steps = fragments(from: side, index)
            } else {
                connections[index].steps = [.send(side, frame(from: side, index))]
            }
        } else if number(0...3) == 0 {
            upgrade(index)
        } else if !isLegal, number(0...9) == 0 {
            connections[index].steps = (0..<number(1...4)).map { _ in
                .send(random.pick([.app, .board]), noise(number(1...5000)))
            }
        } else {
            exchange(index)
        }
        if !isLegal, number(0...19) == 0, connections[index].ended.isEmpty {
            connections[index].steps.append(.end(random.pick([.app, .board]), .fin))
        }
    }

    private mutating func finish(_ index: Int) {
        let ended = connections[index].ended
        if !isLegal, number(0...3) == 0 {
            switch number(0...2) {
            case 0: connections[index].isOpen = false
            case 1:
                // Something is cut short.
                let side = Side.allCases.first { !ended.contains($0) } ?? .app
                connections[index].steps = [
                    .send(side, noise(number(1...40))), .end(side, random.pick([.fin, .reset])),
                ]
            default: connections[index].steps = [.end(random.pick([.app, .board]), .reset)]
            }
            if case .end(let side, _)? = connections[index].steps.last, ended.contains(side) {
                connections[index].isOpen = false
            }
            return
        }
        connections[index].steps = Side.allCases.filter { !ended.contains($0) }.shuffled(
            using: &random
        ).map { .end($0, .fin) }
        if connections[index].steps.isEmpty { connections[index].isOpen = false }
    }

    // MARK: HTTP

    private mutating func exchange(_ index: Int) {
        let method = random.pick(["GET", "POST", "PUT", "DELETE", "HEAD"])
        var steps: [Step] = []
        var request = "\(method) /api/phone-bridge/\(number(0...99)) HTTP/1.1\r\nHost: board\r\n"
        if !isLegal, random.flag() { request += "x-odd :  two  spaces \r\n" }
        let body = method == "POST" || method == "PUT" ? content() : nil
        steps.append(.send(.app, Bytes(request.utf8) + framed(body)))
        if isLegal || number(0...5) > 0 {
            if number(0...5) == 0, body != nil {
                steps.append(.send(.board, Bytes("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
            }
            let status = random.pick(["200 OK", "404 Not Found", "202 Accepted"])
            let answer = "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n"
            if method == "HEAD" {
                steps.append(.send(.board, Bytes("\(answer)Content-Length: 7\r\n\r\n".utf8)))
            } else if !isLegal, number(0...9) == 0 {
                // Its end is that of the connection.
                steps.append(.send(.board, Bytes("\(answer)\r\n".utf8) + content()))
                steps.append(.end(.board, .fin))
            } else {
                steps.append(.send(.board, Bytes(answer.utf8) + framed(content())))
            }
        }
        connections[index].steps = steps
    }

    private mutating func content() -> Bytes {
        let count = random.pick([0, 1, 30, 200, 3000, isLegal ? 9000 : 70_000])
        return Bytes((0..<count).map { UInt8(ascii: "a") + UInt8(($0 * 7 + count) % 26) })
    }

    /// The rest of a head, and a body.
    private mutating func framed(_ body: Bytes?) -> Bytes {
        guard let body else { return Bytes("\r\n".utf8) }
        guard random.flag(), !body.isEmpty else {
            return Bytes("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        var bytes = Bytes("Transfer-Encoding: chunked\r\n\r\n".utf8)
        var rest = body[...]
        while !rest.isEmpty {
            let part = rest.prefix(number(1...max(1, body.count)))
            rest = rest.dropFirst(part.count)
            var line = String(part.count, radix: 16)
            if !isLegal {
                line = random.pick([line, "00" + line, line.uppercased(), line + ";a=b"])
            }
            bytes += Bytes("\(line)\r\n".utf8) + part + Bytes("\r\n".utf8)
        }
        bytes += Bytes((!isLegal && random.flag() ? "000\r\nchecksum: 1\r\n" : "0\r\n").utf8)
        return bytes + Bytes("\r\n".utf8)
    }

    // MARK: WebSocket

    private mutating func upgrade(_ index: Int) {
        let isCompressed = random.flag()
        let offer = isCompressed ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : ""
        connections[index].isWebSocket = true
        if isCompressed {
            for side in Side.allCases { connections[index].deflaters[side] = Deflater() }
        }
        connections[index].steps = [
            .send(
                .app,
                Bytes(
                    ("GET /api/phone-bridge?platform=ios HTTP/1.1\r\nHost: board\r\n"
                        + "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                        + "Sec-WebSocket-Key: \(SampleSession.upgradeKey)\r\n"
                        + "Sec-WebSocket-Version: 13\r\n\(offer)\r\n").utf8)),
            .send(
                .board,
                Bytes(
                    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                        + "Connection: Upgrade\r\n"
                        + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\(offer)\r\n")
                        .utf8)),
        ]
    }

    private mutating func text() -> Bytes {
        let words = ["heartbeat", "contacts_query", "张伟", "🙂", "\"id\"", "{", "}", " "]
        let count = random.pick([1, 5, 30, 300, isLegal ? 500 : 12_000])
        return (0..<count).reduce(into: Bytes()) { bytes, _ in bytes += random.pick(words).utf8 }
    }

    private mutating func frame(from side: Side, _ index: Int) -> Bytes {
        if !isLegal, number(0...2) == 0 { return oddFrame() }
        let key = side == .app ? MaskingKey(rawValue: UInt32(number(0...0xffff_ffff))) : nil
        switch number(0...7) {
        case 0:
            return Frame(opcode: .ping, maskingKey: key, payload: Bytes("are you there".utf8))
                .encoded()
        case 1: return Frame(opcode: .pong, maskingKey: key, payload: []).encoded()
        case 2:
            return Frame(opcode: .binary, maskingKey: key, payload: noise(number(1...400)))
                .encoded()
        default:
            let text = text()
            guard let deflater = connections[index].deflaters[side], number(0...4) > 0 else {
                return Frame(opcode: .text, maskingKey: key, payload: text).encoded()
            }
            return Frame(
                rsv: 4, opcode: .text, maskingKey: key, payload: deflater.compress(text.span)
            ).encoded()
        }
    }

    private mutating func fragments(from side: Side, _ index: Int) -> [Step] {
        var payload = text()
        var rsv: UInt8 = 0
        if !isLegal, let deflater = connections[index].deflaters[side], random.flag() {
            payload = deflater.compress(payload.span)
            rsv = 4
        }
        let count = number(2...4)
        let size = payload.count / count
        return (0..<count).map { part in
            let isLast = part == count - 1
            let bytes = payload[part * size..<(isLast ? payload.count : (part + 1) * size)]
            return .send(
                side,
                Frame(
                    fin: isLast, rsv: part == 0 ? rsv : 0,
                    opcode: part == 0 ? .text : .continuation,
                    maskingKey: side == .app ? MaskingKey(rawValue: 0x0a0b_0c0d) : nil,
                    payload: Bytes(bytes)
                ).encoded())
        }
    }

    /// A frame as no side should send it.
    private mutating func oddFrame() -> Bytes {
        let payload = noise(random.pick([0, 1, 100, 126, 500]))
        var bytes = Bytes()
        FrameHeader(
            fin: random.flag(), rsv: UInt8(number(0...7)),
            opcode: Opcode(rawValue: UInt8(number(0...15))),
            maskingKey: random.maybe(MaskingKey(rawValue: 0x0102_0304)),
            payloadLength: UInt64(payload.count),
            lengthForm: payload.count < 126
                ? random.pick([.short, .medium, .long]) : random.pick([.medium, .long])
        ).encode(into: &bytes)
        return bytes + payload
    }

    private mutating func noise(_ count: Int) -> Bytes {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }
}

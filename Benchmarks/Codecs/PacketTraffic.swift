import Capture
import Wire

/// The messages of `Traffic` as a capture of 32 connections has them: Ethernet, a handshake each,
/// a segment a message, and acknowledgments alone behind some.
struct PacketTraffic {
    private struct Connection {
        var endpoint: IPEndpoint
        /// The next sequence number of the app and of the board.
        var next: [Side: UInt32]
    }

    private static let connectionCount = 32
    /// Destination, source and type of an Ethernet frame.
    private static let link = Bytes(repeating: 0, count: 12) + [8, 0]

    /// Bytes of the file, and messages in it.
    private(set) var size = 0
    private(set) var messages = 0
    private var file = Bytes()
    private var time: Int64 = 1_700_000_000_000_000_000
    private let board: IPEndpoint
    private var connections: [Connection] = []

    /// Writes a file of about `size` bytes to `path`.
    init(path: String, size: Int) throws {
        guard let board = IPEndpoint(parsing: "10.0.0.1:8080") else { throw BadAddress() }
        self.board = board
        let output = try SessionFile(path: path, overwrites: true)
        appendFileHeader()
        for number in 0..<Self.connectionCount { try open(number) }
        let traffic = Traffic(count: 40_000)
        var index = 0
        while self.size + file.count < size {
            let message = traffic.messages[index % traffic.messages.count]
            send(message, on: index / 8 % Self.connectionCount, acknowledges: index % 3 == 0)
            index += 1
            if file.count > 1 << 20 { try flush(into: output) }
        }
        try flush(into: output)
        messages = index
        try output.close()
    }

    private struct BadAddress: Error {}

    private mutating func open(_ number: Int) throws {
        guard let endpoint = IPEndpoint(address: [10, 0, 1, UInt8(number)], port: 40_000) else {
            throw BadAddress()
        }
        let first = UInt32(number) &* 0x9e37_79b1
        connections.append(Connection(endpoint: endpoint, next: [.app: first, .board: ~first]))
        append([.syn], from: .app, number)
        connections[number].next[.app, default: 0] &+= 1
        append([.syn, .ack], from: .board, number)
        connections[number].next[.board, default: 0] &+= 1
        append([.ack], from: .app, number)
        append(
            [.psh, .ack], from: .app, number,
            Bytes(
                ("GET /api/phone-bridge?platform=ios&phone_id=p\(number) HTTP/1.1\r\n"
                    + "Host: 10.0.0.1:8080\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    + "Sec-WebSocket-Version: 13\r\n\r\n").utf8))
        append(
            [.psh, .ack], from: .board, number,
            Bytes(
                ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    + "Connection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n").utf8))
    }

    private mutating func send(_ message: Traffic.Message, on number: Int, acknowledges: Bool) {
        time += 40_000
        let key =
            message.from == .app ? MaskingKey(rawValue: UInt32(truncatingIfNeeded: time)) : nil
        append(
            [.psh, .ack], from: message.from, number,
            Frame(opcode: .text, maskingKey: key, payload: message.payload).encoded())
        if acknowledges { append([.ack], from: message.from.peer, number) }
    }

    private mutating func append(
        _ flags: TCPSegment.Flags, from side: Side, _ number: Int, _ payload: Bytes = []
    ) {
        let connection = connections[number]
        let segment = TCPSegment(
            flags: flags, sequence: connection.next[side] ?? 0,
            acknowledgment: flags.contains(.ack) ? connection.next[side.peer] ?? 0 : 0,
            window: 65535,
            options: flags.contains(.syn) ? [] : [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1],
            payload: payload[...])
        let start = file.count
        appendNumber(UInt32(time / 1_000_000_000))
        appendNumber(UInt32(time % 1_000_000_000))
        file += Bytes(repeating: 0, count: 8) + Self.link
        let (source, target) =
            side == .app ? (connection.endpoint, board) : (board, connection.endpoint)
        segment.encode(from: source, to: target, identification: 0, into: &file)
        let count = UInt32(file.count - start - 16)
        for shift in 0..<4 {
            let byte = UInt8(truncatingIfNeeded: count >> UInt32(8 * shift))
            file[start + 8 + shift] = byte
            file[start + 12 + shift] = byte
        }
        connections[number].next[side, default: 0] &+= UInt32(payload.count)
    }

    /// Magic for nanoseconds, version, snap length, Ethernet.
    private mutating func appendFileHeader() {
        for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 262_144, 1] as [UInt32] { appendNumber(word) }
    }

    private mutating func appendNumber(_ value: UInt32) {
        for shift in stride(from: UInt32(0), through: 24, by: 8) {
            file.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    private mutating func flush(into output: SessionFile) throws {
        try output.append(file.span)
        size += file.count
        file.removeAll(keepingCapacity: true)
    }
}

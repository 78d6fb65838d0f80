import Capture
import Wire

/// A connection of a capture that tests make packet by packet.
struct Wires {
    static let app = IPEndpoint(parsing: "192.168.42.2:49152")
    static let board = IPEndpoint(parsing: "192.168.42.1:8080")
    private(set) var packets: [CapturedPacket] = []

    mutating func send(
        _ from: Side, _ flags: TCPSegment.Flags, _ sequence: UInt32, ack: UInt32 = 0,
        _ payload: Bytes = [], cut: Int = 0, time: Int64? = nil
    ) {
        guard let app = Self.app, let board = Self.board else { return }
        var bytes = Bytes()
        TCPSegment(
            flags: flags, sequence: sequence, acknowledgment: ack, window: 65535,
            payload: payload[...]
        ).encode(
            from: from == .app ? app : board, to: from == .app ? board : app, identification: 1,
            into: &bytes)
        bytes.removeLast(cut)
        packets.append(
            CapturedPacket(bytes: bytes, cut: cut, time: time ?? Int64(packets.count) * 1000))
    }

    mutating func open(app: UInt32 = 100, board: UInt32 = 500) {
        send(.app, [.syn], app)
        send(.board, [.syn, .ack], board, ack: app &+ 1)
        send(.app, [.ack], app &+ 1, ack: board &+ 1)
    }
}

/// A request, and an answer to it.
let request = Bytes("GET /a HTTP/1.1\r\nHost: b\r\n\r\n".utf8)
let answer = Bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)

func frame(_ text: String, key: UInt32? = nil, rsv: UInt8 = 0) -> Bytes {
    var bytes = Bytes()
    Frame(
        rsv: rsv, opcode: .text, maskingKey: key.map(MaskingKey.init(rawValue:)),
        payload: Bytes(text.utf8)
    ).encode(into: &bytes)
    return bytes
}

func line(_ event: Event) -> String? {
    let from = event.from?.rawValue ?? "-"
    return switch event.kind {
    case .open: "\(event.conn) open"
    case .request(let request): "\(from) \(request.method) \(request.target)"
    case .response(let response): "\(from) \(response.status) #\(response.exchange)"
    case .frame(let frame):
        if case .whole(let payload) = frame.content {
            "\(from) frame \(String(decoding: payload, as: UTF8.self))"
                + (frame.incomplete ? " incomplete" : "")
        } else {
            "\(from) long frame"
        }
    case .message(let message):
        if case .whole(let payload) = message.content {
            "\(from) message \(String(decoding: payload, as: UTF8.self))"
        } else {
            "\(from) long message"
        }
    case .data(let data): "\(from) data \(data.bytes.count)"
    case .gap(let gap): "\(from) gap \(gap.length ?? 0) \(gap.why)"
    case .close(let close): "\(event.conn) \(from) \(close.how)"
    case .note(let note): "note \(note.code)"
    case .session, .piece, .end: nil
    }
}

func lines(_ wires: Wires) -> [String] {
    session(wires.packets).compactMap(line)
}

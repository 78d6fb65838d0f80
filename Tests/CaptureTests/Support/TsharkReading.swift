import Capture
import Foundation
import FoundationXML
import Testing
import Wire

/// What is said on a connection, in the words of either program.
enum WireItem: Equatable {
    /// `length` is that of the payload as it crossed; `content` is as it reads: inflated where it
    /// was compressed; nil where nobody says.
    case frame(fin: Bool, rsv: UInt8, opcode: UInt8, length: Int, content: Bytes?)
    /// A fragmented message, behind its last frame.
    case message(Bytes)
    case request(method: String, target: String, body: Bytes)
    case response(status: Int, reason: String, body: Bytes)
}

/// What tshark makes of a capture: a list for each connection and direction.
///
/// From PDML, which has bytes in hex and every frame of a packet apart.
final class TsharkReading: NSObject, XMLParserDelegate {
    private(set) var items: [SampleSession.Key: [WireItem]] = [:]
    private let port: Int

    private struct HTTP {
        var method: String?
        var target = ""
        var status: Int?
        var reason = ""
        var body = Bytes()
    }

    private struct WebSocket {
        var fin = false
        var rsv: UInt8 = 0
        var opcode: UInt8 = 0
        var length = 0
        var content: Bytes?
        var fragments: [Bytes] = []
    }

    private var stream = 0
    private var sourcePort = 0
    private var http: HTTP?
    private var webSocket: WebSocket?

    private init(port: Int) {
        self.port = port
    }

    /// Reads a capture whose board listens on `port`.
    static func read(_ path: String, port: Int) throws -> [SampleSession.Key: [WireItem]] {
        let result = try ToolProcess.run(
            "tshark",
            [
                "-n", "-r", path, "-d", "tcp.port==\(port),http", "-Y", "http || websocket", "-T",
                "pdml", "-o", "tcp.reassemble_out_of_order:TRUE",
            ])
        try #require(result.status == 0, "\(result.errors)")
        let reading = TsharkReading(port: port)
        let parser = XMLParser(data: Data(result.output.utf8))
        parser.delegate = reading
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
        return reading.items
    }

    func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        let name = attributes["name"] ?? ""
        switch element {
        case "proto":
            // What belongs to a protocol may stand behind it, up to the next one.
            if name == "http" || name == "websocket" { endItem() }
            if name == "http" { http = HTTP() }
            if name == "websocket" { webSocket = WebSocket() }
        case "field":
            take(name, attributes["show"] ?? "", Self.bytes(attributes["value"] ?? ""))
        default: break
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        if element == "packet" { endItem() }
    }

    private func endItem() {
        endHTTP()
        endWebSocket()
    }

    private static func bytes(_ hex: String) -> Bytes {
        let digits = Bytes(hex.utf8)
        return decodeHex(digits.span) ?? []
    }

    private func take(_ name: String, _ show: String, _ value: Bytes) {
        switch name {
        case "tcp.stream": stream = Int(show) ?? -1
        case "tcp.srcport": sourcePort = Int(show) ?? -1
        case "http.request.method": http?.method = show
        case "http.request.uri": http?.target = show
        case "http.response.code": http?.status = Int(show)
        case "http.response.phrase": http?.reason = show
        case "http.file_data": http?.body = value
        case "websocket.fin": webSocket?.fin = show == "1"
        case "websocket.rsv": webSocket?.rsv = UInt8(show.dropFirst(2), radix: 16) ?? 0xff
        case "websocket.opcode": webSocket?.opcode = UInt8(show) ?? 0xff
        case "websocket.payload_length":
            webSocket?.length = Int(show) ?? -1
            if webSocket?.length == 0 { webSocket?.content = [] }
        case "websocket.payload_length_ext_16", "websocket.payload_length_ext_64":
            webSocket?.length = Int(show) ?? -1
        case "websocket.payload.close.status_code":
            let code = UInt16(show) ?? 0
            webSocket?.content = [UInt8(code >> 8), UInt8(code & 255)]
        case "websocket.payload.close.reason": webSocket?.content?.append(contentsOf: value)
        case "websocket.payload.text", "websocket.payload.binary", "websocket.payload.ping",
            "websocket.payload.pong", "websocket.payload.continue", "websocket.payload.unknown":
            webSocket?.content = value
        case "websocket.fragment": webSocket?.fragments.append(value)
        default: break
        }
    }

    private var key: SampleSession.Key {
        SampleSession.Key(conn: stream + 1, from: sourcePort == port ? .board : .app)
    }

    private func endHTTP() {
        guard let http else { return }
        self.http = nil
        if let method = http.method {
            items[key, default: []].append(
                .request(method: method, target: http.target, body: http.body))
        } else if let status = http.status {
            items[key, default: []].append(
                .response(status: status, reason: http.reason, body: http.body))
        }
    }

    private func endWebSocket() {
        guard let webSocket else { return }
        self.webSocket = nil
        var item = webSocket
        var message: Bytes?
        if let last = webSocket.fragments.last {
            // The content is that of the message.
            message = webSocket.content ?? Bytes(webSocket.fragments.joined())
            item.content = last
        }
        items[key, default: []].append(
            .frame(
                fin: item.fin, rsv: item.rsv, opcode: item.opcode, length: item.length,
                content: item.content))
        if let message { items[key, default: []].append(.message(message)) }
    }
}

extension [SampleSession.Key: [WireItem]] {
    /// The same of a session's events.
    init(_ events: [Event]) {
        self = [:]
        func whole(_ content: Event.Content) -> Bytes? {
            if case .whole(let bytes) = content { bytes } else { nil }
        }
        for event in events {
            guard let from = event.from else { continue }
            let key = SampleSession.Key(conn: event.conn, from: from)
            switch event.kind {
            case .request(let request):
                self[key, default: []].append(
                    .request(
                        method: request.method, target: request.target,
                        body: whole(request.body.content) ?? []))
            case .response(let response):
                self[key, default: []].append(
                    .response(
                        status: response.status, reason: response.reason,
                        body: whole(response.body.content) ?? []))
            case .frame(let frame):
                self[key, default: []].append(
                    .frame(
                        fin: frame.header.fin, rsv: frame.header.rsv,
                        opcode: frame.header.opcode.rawValue,
                        length: Int(clamping: frame.header.payloadLength),
                        content: whole(frame.content)))
            case .message(let message):
                let content = whole(message.content)
                if message.compressed, let last = self[key]?.popLast(),
                    case .frame(let fin, let rsv, let opcode, let length, _) = last
                {
                    // What tshark shows of a compressed frame is its message, where it is one.
                    let isOne = message.frames == 1
                    self[key, default: []].append(
                        .frame(
                            fin: fin, rsv: rsv, opcode: opcode, length: length,
                            content: isOne ? content : nil))
                }
                if message.frames > 1, let content {
                    self[key, default: []].append(.message(content))
                }
            case .session, .open, .piece, .data, .gap, .close, .note, .end:
                break
            }
        }
    }
}

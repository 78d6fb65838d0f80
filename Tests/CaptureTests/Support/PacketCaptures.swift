import Capture
import Foundation
import Testing
import Wire

/// One packet of a capture, from its IP header on.
struct CapturedPacket {
    var bytes: Bytes
    var cut: Int
    var time: Int64
}

/// The captures of real traffic that lie beside the package, and what their JSON says of them.
struct PacketCapture: CustomTestStringConvertible, Sendable {
    var name: String
    var path: String
    private var json: Data

    var testDescription: String { name }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let all: [PacketCapture] = {
        let folder = root.appending(path: "../shared/captures")
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return files.sorted().compactMap { file in
            guard file.hasSuffix(".pcap") || file.hasSuffix(".pcapng"),
                let dot = file.lastIndex(of: "."),
                let json = FileManager.default.contents(
                    atPath: folder.appending(path: file[..<dot] + ".json").path())
            else { return nil }
            return PacketCapture(
                name: file, path: folder.appending(path: file).path(), json: json)
        }
    }()

    /// Those that have all packets from the start, whole.
    static var complete: [PacketCapture] {
        all.filter { !$0.startsMidConnection && !$0.isTruncated }
    }

    private var description: [String: Any] {
        (try? JSONSerialization.jsonObject(with: json)) as? [String: Any] ?? [:]
    }
    var capture: [String: Any] { description["capture"] as? [String: Any] ?? [:] }
    var expected: [String: Any] { description["expected"] as? [String: Any] ?? [:] }
    var startsMidConnection: Bool { capture["starts_mid_connection"] as? Bool ?? false }
    var isTruncated: Bool { capture["packets_truncated"] as? Bool ?? false }

    func bytes() throws -> Bytes {
        Bytes(try Data(contentsOf: URL(filePath: path)))
    }

    func packets() throws -> [CapturedPacket] {
        try Self.packets(SessionFileSource(path: path))
    }

    static func packets(_ source: any ByteSource) throws -> [CapturedPacket] {
        var file = try PacketFile.open(source)
        let link = try #require(LinkType(number: file.linkNumber))
        var packets: [CapturedPacket] = []
        while let packet = try file.next({ bytes, record in
            let start = link.networkOffset(bytes) ?? 0
            return CapturedPacket(
                bytes: Bytes(copying: bytes.extracting(start..<bytes.count)), cut: record.cut,
                time: record.time)
        }) {
            packets.append(packet)
        }
        return packets
    }
}

/// The packets of a real capture, or of an example session as a pcap.
struct EditablePackets: CustomTestStringConvertible, Sendable {
    var testDescription: String
    private var capture: PacketCapture?

    static let all: [EditablePackets] =
        PacketCapture.complete.map { EditablePackets(testDescription: $0.name, capture: $0) }
        + examples.map { EditablePackets(testDescription: $0, capture: nil) }

    /// The files of `captures/`.
    static let examples = [
        "all-commands", "compressed-android", "errors", "fgs-queue", "pip-queue", "reconnect",
    ].map { "\($0).ndjson" }

    func packets() throws -> [CapturedPacket] {
        if let capture { return try capture.packets() }
        return try pcapPackets(try exampleSession(testDescription))
    }
}

/// The events of a file in `captures/`.
func exampleSession(_ name: String) throws -> [Event] {
    let path = PacketCapture.root.appending(path: "captures/\(name)").path()
    return try readEvents(SessionFileSource(path: path))
}

/// All events of a source, whatever kind of file it is.
func readEvents(_ source: any ByteSource) throws -> [Event] {
    var reader = SessionReader(source)
    var events: [Event] = []
    while let item = try reader.next() {
        if case .event(let event) = item { events.append(event) }
    }
    return events
}

/// A session as a pcap file.
func pcap(_ events: [Event], startedAt: Int64 = 1_772_357_400_000_000_000) throws -> Bytes {
    let output = MemoryOutput("lab.pcap")
    let writer = try PcapSessionWriter(startedAt: startedAt) { _ in output }
    for event in events { writer.receive(event) }
    writer.close(now: events.last?.time ?? 0)
    return output.bytes
}

/// The packets of that file.
func pcapPackets(_ events: [Event]) throws -> [CapturedPacket] {
    try PacketCapture.packets(MemorySource(try pcap(events)))
}

/// Reads packets as a session.
func session(_ packets: [CapturedPacket], limits: PacketSession.Limits = .init()) -> [Event] {
    let session = PacketSession(link: .raw, limits: limits)
    var batch = EventBatch()
    for packet in packets {
        session.receive(packet.bytes.span, cut: packet.cut, at: packet.time, into: &batch)
    }
    session.finish(into: &batch)
    return batch.events
}

/// What people count in a session.
struct SessionTally: Equatable {
    struct Direction: Equatable {
        var text = 0
        var binary = 0
        var ping = 0
        var pong = 0
        var close = 0

        mutating func count(_ opcode: Opcode) {
            switch opcode {
            case .text: text += 1
            case .binary: binary += 1
            case .ping: ping += 1
            case .pong: pong += 1
            case .close: close += 1
            default: break
            }
        }
    }

    struct WebSocket: Equatable {
        var target: String
        var extensions: String?
        var app = Direction()
        var board = Direction()
        var initiator: String?
        var code: Int?
        var reason = ""
    }

    struct Exchange: Equatable {
        var method: String
        var target: String
        var status: Int
    }

    var connections = 0
    var exchanges: [Exchange] = []
    var webSockets: [WebSocket] = []

    init(_ events: [Event]) {
        var requests: [Int: [Int: Event.Request]] = [:]
        var webSocketOf: [Int: Int] = [:]
        for event in events {
            switch event.kind {
            case .open: connections += 1
            case .request(let request):
                requests[event.conn, default: [:]][request.exchange] = request
            case .response(let response):
                let request = requests[event.conn]?[response.exchange]
                if response.status == 101 {
                    webSocketOf[event.conn] = webSockets.count
                    webSockets.append(
                        WebSocket(
                            target: request?.target ?? "",
                            extensions: response.headers.first("Sec-WebSocket-Extensions")))
                } else if response.status >= 200 {
                    exchanges.append(
                        Exchange(
                            method: request?.method ?? "", target: request?.target ?? "",
                            status: response.status))
                }
            case .frame(let frame):
                let isWhole = frame.header.fin && frame.header.rsv & 4 == 0
                if isWhole || frame.header.opcode.isControl {
                    count(frame.header.opcode, event, webSocketOf)
                }
                if frame.header.opcode == .close { close(frame, event, webSocketOf) }
            case .message(let message): count(message.opcode, event, webSocketOf)
            default: break
            }
        }
    }

    private mutating func count(_ opcode: Opcode, _ event: Event, _ of: [Int: Int]) {
        guard let index = of[event.conn] else { return }
        if event.from == .app {
            webSockets[index].app.count(opcode)
        } else {
            webSockets[index].board.count(opcode)
        }
    }

    private mutating func close(_ frame: Event.FrameRecord, _ event: Event, _ of: [Int: Int]) {
        guard let index = of[event.conn], webSockets[index].initiator == nil,
            case .whole(let payload) = frame.content
        else { return }
        webSockets[index].initiator = event.from?.rawValue
        guard payload.count >= 2 else { return }
        webSockets[index].code = Int(payload[0]) << 8 | Int(payload[1])
        webSockets[index].reason = String(decoding: payload.dropFirst(2), as: UTF8.self)
    }

    /// What the JSON beside a capture says.
    init(_ capture: PacketCapture) {
        let expected = capture.expected
        func direction(_ value: Any?) -> Direction {
            let counts = value as? [String: Any] ?? [:]
            func count(_ name: String) -> Int { counts[name] as? Int ?? 0 }
            return Direction(
                text: count("text"), binary: count("binary"), ping: count("ping"),
                pong: count("pong"), close: count("close"))
        }
        connections = expected["tcp_connections"] as? Int ?? 0
        for entry in expected["http"] as? [[String: Any]] ?? [] {
            exchanges.append(
                Exchange(
                    method: entry["method"] as? String ?? "",
                    target: entry["target"] as? String ?? "",
                    status: entry["status"] as? Int ?? 0))
        }
        for entry in expected["websocket_connections"] as? [[String: Any]] ?? [] {
            let close = entry["close"] as? [String: Any] ?? [:]
            webSockets.append(
                WebSocket(
                    target: entry["target"] as? String ?? "",
                    extensions: entry["accepted_extensions"] as? String,
                    app: direction(entry["app_to_board"]),
                    board: direction(entry["board_to_app"]),
                    initiator: close["initiator"] as? String, code: close["code"] as? Int,
                    reason: close["reason"] as? String ?? ""))
        }
    }
}

import Foundation
import Glibc
import Wire

/// Apps that send numbered messages, and boards that send each one back: both ends of a recorder,
/// in the thread of the test.
final class EchoLoad {
    /// Where the boards are.
    let port: UInt16
    private let listener: Int32
    private var ends: [EchoEnd] = []
    /// What is waited for: one for each end, and the listener in front.
    private var waits: [pollfd]
    private var talksAgain = false
    private(set) var apps: [EchoEnd] = []
    private(set) var boards: [EchoEnd] = []
    /// Messages that may be under way on each connection.
    var window = 16
    /// An app sends no more than this many messages.
    var limit = Int.max {
        didSet { talksAgain = true }
    }
    /// The length of what fills message `n`.
    var fill: (Int) -> Int = { $0 % 50 == 49 ? 40_000 : $0 &* 7919 % 600 }

    init() throws {
        listener = try Socket.make()
        port = try Socket.bind(listener)
        waits = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        guard listen(listener, 4096) == 0 else { throw Trouble("listen: errno \(errno)") }
    }

    deinit { close(listener) }

    /// Opens connections through the recorder at `port`.
    func connect(_ count: Int, through port: UInt16) throws {
        for _ in 0..<count {
            let socket = try Socket.connect(to: port)
            let app = EchoEnd(.app, socket, number: apps.count)
            app.send(
                Bytes(
                    """
                    GET /load?number=\(apps.count) HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\n\
                    Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
                    """.utf8))
            apps.append(app)
            add(app)
        }
    }

    /// Lets them talk until the condition holds; what takes too long is trouble.
    func run(within seconds: Double = 30, until condition: () throws -> Bool) throws {
        let deadline = Deadline(seconds)
        while try !condition() {
            guard !deadline.isOver else { throw Trouble("nothing came of it in \(seconds) s") }
            try turn(deadline)
        }
    }

    /// Ends the sending of the apps, and lets them talk until every connection is over.
    func finish() throws {
        limit = 0
        try run { apps.allSatisfy { $0.end != nil || $0.received == $0.sent } }
        for app in apps { app.finishSending() }
        try run { apps.allSatisfy { $0.end != nil } && boards.allSatisfy { $0.end != nil } }
    }

    /// Everything that was wrong with what an end received.
    var faults: [String] { (apps + boards).compactMap(\.fault) }

    /// Messages that boards have received whole.
    var received: Int { boards.reduce(0) { $0 + $1.received } }

    private func turn(_ deadline: Deadline) throws {
        if talksAgain {
            talksAgain = false
            for index in ends.indices where ends[index].role == .app {
                talk(ends[index])
                update(index)
            }
        }
        let milliseconds = min(deadline.milliseconds, 100)
        guard unsafe poll(&waits, UInt(waits.count), milliseconds) >= 0 || errno == EINTR else {
            throw Trouble("poll: errno \(errno)")
        }
        if waits[0].revents != 0, let socket = Socket.accept(listener) {
            let board = EchoEnd(.board, socket, number: -1)
            boards.append(board)
            add(board)
        }
        for index in ends.indices where waits[index + 1].revents != 0 {
            let end = ends[index]
            try end.proceed(fill: fill)
            if end.role == .app { talk(end) }
            update(index)
        }
    }

    /// Sends what an app may send now.
    private func talk(_ app: EchoEnd) {
        guard app.isUpgraded, app.end == nil, !app.isFinished else { return }
        while app.sent < limit, app.sent - app.received < window {
            app.sendMessage(EchoEnd.message(pair: app.number, app.sent, fill: fill(app.sent)))
        }
    }

    private func add(_ end: EchoEnd) {
        ends.append(end)
        waits.append(pollfd(fd: end.socket, events: 0, revents: 0))
        update(ends.count - 1)
    }

    /// Looks out for room to write only where something waits for it, and for nothing at the end.
    private func update(_ index: Int) {
        let end = ends[index]
        waits[index + 1].fd = end.end == nil ? end.socket : -1
        waits[index + 1].events = Int16(POLLIN) | (end.waitsToWrite ? Int16(POLLOUT) : 0)
    }
}

/// One end of a connection of a load.
final class EchoEnd {
    enum Role { case app, board }
    enum Ending { case fin, reset }

    let role: Role
    fileprivate let socket: Int32
    /// The connection's number; a board knows it once it has the request.
    private(set) var number: Int
    private(set) var isUpgraded = false
    /// Whole messages, each the one that was expected.
    private(set) var received = 0
    private(set) var sent = 0
    private(set) var end: Ending?
    private(set) var fault: String?
    fileprivate private(set) var isFinished = false
    private var input = Bytes()
    private var output = Bytes()
    private var written = 0
    private var wasReset = false
    private var decoder = FrameDecoder(maximumPayload: 4 << 20)

    fileprivate init(_ role: Role, _ socket: Int32, number: Int) {
        self.role = role
        self.socket = socket
        self.number = number
    }

    deinit { close(socket) }

    /// Its own port on 127.0.0.1.
    var localPort: UInt16 { Socket.localPort(socket) }

    /// A mebibyte of letters that hardly repeat: what packers cannot make small.
    private static let letters: Bytes = {
        var state: UInt64 = 42
        var letters = Bytes()
        letters.reserveCapacity(1 << 20)
        while letters.count < 1 << 20 {
            // SplitMix64.
            state &+= 0x9e37_79b9_7f4a_7c15
            var bits = state
            bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
            bits ^= bits >> 31
            for _ in 0..<8 {
                letters.append(0x30 + UInt8(truncatingIfNeeded: bits & 0x3f))
                bits >>= 8
            }
        }
        // A backslash would be escaped; all else in the range is plain.
        return letters.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "~") : $0 }
    }()

    /// Message `n` of a connection.
    static func message(pair: Int, _ n: Int, fill: Int) -> Bytes {
        let start = (pair &* 104_729 &+ n &* 30_011) % (letters.count - fill)
        return Bytes("{\"id\":\"load\",\"pair\":\(pair),\"n\":\(n),\"fill\":\"".utf8)
            + letters[start..<start + fill] + Bytes("\"}".utf8)
    }

    fileprivate func send(_ bytes: Bytes) {
        output += bytes
        flush()
    }

    fileprivate func sendMessage(_ payload: Bytes) {
        let key = role == .app ? MaskingKey(rawValue: UInt32(truncatingIfNeeded: sent)) : nil
        sent += 1
        send(Frame(opcode: .text, maskingKey: key, payload: payload).encoded())
    }

    /// Sends a FIN behind what is to be sent.
    func finishSending() {
        isFinished = true
        flush()
    }

    fileprivate var waitsToWrite: Bool { written < output.count }

    fileprivate func proceed(fill: (Int) -> Int) throws {
        flush()
        guard end == nil else { return }
        switch Socket.receive(socket, into: &input) {
        case .bytes: try takeInput(fill)
        case .nothing: break
        case .fin:
            end = wasReset ? .reset : .fin
            // Half a connection is of no use to either end.
            finishSending()
        case .reset: end = .reset
        }
    }

    private func flush() {
        while written < output.count {
            let count = unsafe output.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    socket, buffer.baseAddress?.advanced(by: written), buffer.count - written,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            guard count > 0 else {
                if errno != EAGAIN, errno != EINTR {
                    // What was received before a reset is still read, and then a plain end: the
                    // system tells of a reset once.
                    wasReset = true
                    written = output.count
                }
                break
            }
            written += count
        }
        if written == output.count {
            output.removeAll(keepingCapacity: true)
            written = 0
            if isFinished { shutdown(socket, Int32(SHUT_WR)) }
        }
    }

    private func takeInput(_ fill: (Int) -> Int) throws {
        var position = 0
        if !isUpgraded {
            let head = Bytes("\r\n\r\n".utf8)
            guard let range = input.firstRange(of: head) else { return }
            if role == .board {
                let text = String(decoding: input[..<range.lowerBound], as: UTF8.self)
                number =
                    text.split(separator: "=").dropFirst().first.flatMap {
                        Int($0.prefix { $0.isNumber })
                    } ?? -1
                send(
                    Bytes(
                        """
                        HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\
                        Upgrade: websocket\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
                        """.utf8))
            }
            isUpgraded = true
            position = range.upperBound
        }
        while let step = decoder.next(input.span, at: &position) {
            guard case .frame(let frame) = step else { throw Trouble("an odd frame: \(step)") }
            let expected = Self.message(pair: number, received, fill: fill(received))
            if frame.payload != expected, fault == nil {
                fault = "message \(received) of \(number) to the \(role) is another"
            }
            received += 1
            if role == .board { sendMessage(frame.payload) }
        }
        input.removeAll(keepingCapacity: true)
    }
}

/// The few calls of the system that tests need for sockets on 127.0.0.1.
enum Socket {
    enum Received { case bytes, nothing, fin, reset }

    static func make() throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Trouble("socket: errno \(errno)") }
        return socket
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    /// Takes any free port, and gives it.
    static func bind(_ socket: Int32) throws -> UInt16 {
        var address = address(0)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Trouble("bind: errno \(errno)") }
        return localPort(socket)
    }

    static func localPort(_ socket: Int32) -> UInt16 {
        var address = address(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(socket, $0, &size)
            }
        }
        return address.sin_port.bigEndian
    }

    /// A connection to a port; refusals are trouble.
    static func connect(to port: UInt16) throws -> Int32 {
        let socket = try make()
        var address = address(port)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let number = errno
            close(socket)
            throw Trouble("connect: errno \(number)")
        }
        return socket
    }

    static func accept(_ listener: Int32) -> Int32? {
        let socket = Glibc.accept(listener, nil, nil)
        guard socket >= 0 else { return nil }
        // A program that another test starts must not keep the connection open.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        return socket
    }

    /// Appends what is there, without waiting.
    static func receive(_ socket: Int32, into bytes: inout Bytes) -> Received {
        var buffer = Bytes(repeating: 0, count: 1 << 16)
        let count = unsafe recv(
            socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            bytes += buffer[..<count]
            return .bytes
        }
        if count == 0 { return .fin }
        return errno == EAGAIN || errno == EINTR ? .nothing : .reset
    }

    /// Reads to the end of the connection, and gives how that was; nil where time ran out.
    static func readToEnd(_ socket: Int32, within seconds: Double = 20) throws -> Received? {
        let deadline = Deadline(seconds)
        var bytes = Bytes()
        while try Child.wait(for: socket, POLLIN, until: deadline) {
            switch receive(socket, into: &bytes) {
            case .bytes, .nothing: bytes.removeAll()
            case .fin: return .fin
            case .reset: return .reset
            }
        }
        return nil
    }
}

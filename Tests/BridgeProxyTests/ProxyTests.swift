import BridgeProxy
import Capture
import Network
import Testing
import Wire

@Suite struct ProxyTests {
    private static let request = "GET /api/phone-bridge/status HTTP/1.1\r\nHost: b\r\n\r\n"
    private static let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    @Test func `a request and its answer pass and stand in the file`() throws {
        let lab = try Laboratory()
        let app = try lab.dial()
        app.send(Self.request)
        lab.expect("the board has it") { lab.arrivals.first?.text == Self.request }
        lab.arrivals.first?.send(Self.response)
        lab.expect("the app has it") { app.text == Self.response }
        #expect(lab.lines("open").count == 1)
        #expect(
            lab.lines("open")[0].contains(#""board":"192.168.42.1:8080","via":"10.0.0.9:8080""#))
        #expect(lab.lines("request").count == 1)
        #expect(lab.lines("response").count == 1)
    }

    @Test(arguments: [
        Bytes([0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5]),
        Bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
        Bytes([0, 0xff, 0xfe, 0x80, 0x00]),
        Bytes("GET /\r\n\n\r garbage \u{0}\u{1}".utf8),
    ])
    func `what is illegal passes unaltered and is recorded`(_ bytes: Bytes) throws {
        let lab = try Laboratory()
        let app = try lab.dial()
        app.stream.write(bytes)
        lab.expect("the board has it") { lab.arrivals.first?.received == bytes }
        app.stream.shutdown()
        lab.expect("the board reads the end") { lab.arrivals.first?.hasFin == true }
        #expect(lab.lines("data").count + lab.lines("request").count >= 1)
    }

    @Test func `the file has a frame before the other side has it`() throws {
        let lab = try Laboratory(conditions: { $0.segment = 1...50 })
        let app = try lab.dial()
        app.send(
            "GET / HTTP/1.1\r\nHost: b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        lab.expect("the board is asked") { lab.arrivals.first?.text.hasSuffix("\r\n\r\n") == true }
        let board = try #require(lab.arrivals.first)
        board.send("HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        lab.expect("the app is answered") { app.text.hasSuffix("\r\n\r\n") }
        let before = board.received.count
        var frames = 0
        var sent = 0
        board.stream.onRead = { chunk in
            sent += chunk.count
            frames = lab.lines("frame").count
            // Each frame is 7 bytes long.
            #expect(frames >= sent / 7)
        }
        for number in 0..<200 {
            var bytes: Bytes = []
            Frame(
                opcode: .text, maskingKey: MaskingKey(rawValue: 7),
                payload: [UInt8(ascii: "a") + UInt8(number % 26)]
            ).encode(into: &bytes)
            app.stream.write(bytes)
        }
        lab.expect("all arrived") { sent == 1400 }
        #expect(before > 0 && frames == 200)
    }

    @Test func `each side may end first, and the other goes on`() throws {
        for appFirst in [true, false] {
            let lab = try Laboratory()
            let app = try lab.dial()
            lab.expect("connected") { lab.arrivals.count == 1 }
            let (first, second) = appFirst ? (app, lab.arrivals[0]) : (lab.arrivals[0], app)
            first.send("last words")
            first.stream.shutdown()
            lab.expect("the end arrives") { second.hasFin }
            #expect(second.text == "last words")
            second.send("and mine")
            second.stream.shutdown()
            lab.expect("the other end arrives") { first.hasFin }
            #expect(first.text == "and mine")
            lab.world.run(for: nanosecondsPerSecond)
            #expect(lab.lines("close").count == 2)
            #expect(lab.lines("close").allSatisfy { $0.contains(#""how":"fin""#) })
            #expect(lab.recording.recorder.statistics.openConnections == 0)
        }
    }

    @Test func `a reset arrives as a reset, behind what was sent before it`() throws {
        for appFirst in [true, false] {
            let lab = try Laboratory()
            let app = try lab.dial()
            lab.expect("connected") { lab.arrivals.count == 1 }
            let (first, second) = appFirst ? (app, lab.arrivals[0]) : (lab.arrivals[0], app)
            first.send("so far")
            lab.expect("the words arrive") { second.text == "so far" }
            first.stream.abort()
            lab.expect("the reset arrives") { second.hasReset }
            #expect(lab.lines("close").count == 1)
            #expect(lab.lines("close")[0].contains(#""how":"reset""#))
        }
    }

    @Test func `a dead board is a reset for the app, and the next connection is taken`() throws {
        let lab = try Laboratory(boardListens: false)
        let app = try lab.dial()
        lab.expect("the app is reset") { app.hasReset }
        #expect(lab.lines("close")[0].contains(#""how":"refused""#))
        #expect(lab.lines("close")[0].contains("ECONNREFUSED"))
        #expect(
            lab.reports.contains {
                if case .remark(.upstreamFailed) = $0 { true } else { false }
            })
        try lab.listen()
        let second = try lab.dial()
        second.send(Self.request)
        lab.expect("the board has it") { lab.arrivals.first?.text == Self.request }
    }

    @Test func `a board that does not answer is a time-out in the file`() throws {
        let lab = try Laboratory(boardListens: false)
        lab.world.behaviours[lab.boardAddress] = .hang
        let app = try lab.dial()
        let start = lab.world.now
        lab.expect("the app is reset") { app.hasReset }
        #expect(lab.world.now - start >= 20 * nanosecondsPerSecond)
        #expect(lab.lines("close")[0].contains(#""how":"timeout""#))
    }

    @Test func `an app that leaves while the board is dialled is recorded`() throws {
        let lab = try Laboratory(boardListens: false)
        lab.world.behaviours[lab.boardAddress] = .hang
        let app = try lab.dial()
        lab.expect("it is accepted") { lab.recording.recorder.statistics.openConnections == 1 }
        app.stream.abort()
        lab.expect("it is on file") { lab.lines("close").count == 1 }
        #expect(lab.lines("open").count == 1)
        #expect(lab.lines("close")[0].contains(#""from":"app","how":"reset""#))
    }

    @Test func `a board that reads nothing pauses the app, and nothing is lost`() throws {
        let lab = try Laboratory()
        var arrived: End?
        lab.onArrival = {
            $0.stream.pause()
            arrived = $0
        }
        let app = try lab.dial()
        let total = 8 << 20
        var sent = 0
        func fill() {
            while sent < total {
                let outcome = app.stream.write(
                    Bytes(repeating: UInt8(sent >> 16 & 0xff), count: 65_536))
                sent += 65_536
                if outcome != .taken { return }
            }
        }
        app.stream.onDrain = fill
        fill()
        lab.world.run(for: 60 * nanosecondsPerSecond)
        // Socket buffers, the proxy's limit and one turn's reading: far below what is to come.
        #expect(sent < 2 << 20)
        let recorded = lab.recording.recorder.statistics.bytesApp
        #expect(recorded < 1 << 20)
        arrived?.stream.resume()
        lab.expect("all of it arrives") { arrived?.received.count == total }
        let bytes = try #require(arrived).received
        #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8($0 >> 16 & 0xff) })
    }

    @Test func `what a reset took away unread is a gap in the file`() throws {
        let lab = try Laboratory()
        lab.onArrival = { $0.stream.pause() }
        let app = try lab.dial()
        app.stream.write(Bytes(repeating: 1, count: 4 << 20))
        lab.world.run(for: nanosecondsPerSecond)
        app.stream.abort()
        lab.expect("the reset is on file") { lab.lines("close").count == 1 }
        #expect(lab.lines("gap").count == 1)
        #expect(lab.lines("gap").first?.contains(#""why":"unread_at_end""#) == true)
    }

    @Test func `who is not allowed is turned away with a note`() throws {
        let lab = try Laboratory(options: { $0.allowFrom = [] })
        let app = try lab.dial()
        lab.expect("it is turned away") { !app.ends.isEmpty }
        #expect(lab.arrivals.isEmpty)
        lab.expect("it is on file") { lab.lines("note").count == 1 }
        #expect(lab.lines("note")[0].contains(#""code":"peer_refused""#))
    }

    @Test func `a redirected connection goes where it was meant to go`() throws {
        let lab = try Laboratory(options: { $0.target = .originalDestination(fallback: nil) })
        let app = try lab.dial()
        lab.expect("a direct one has no destination") { !app.ends.isEmpty }
        #expect(lab.arrivals.isEmpty)
        #expect(
            lab.reports.contains {
                if case .remark(.noDestination) = $0 { true } else { false }
            })
        // A NAT rule sends what was meant for the board to the proxy.
        lab.world.redirections[lab.boardAddress] = lab.proxy.localAddress
        var end: End?
        lab.phone.connect(to: lab.boardAddress, options: ConnectOptions()) {
            if case .success(let stream) = $0 { end = End(stream) }
        }
        lab.expect("it is connected") { end != nil }
        lab.world.redirections = [:]
        end?.send("x")
        lab.expect("the board has it") { lab.arrivals.first?.text == "x" }
    }

    @Test func `an interface that goes and returns is two notes`() throws {
        let lab = try Laboratory(options: { $0.upstreamInterface = "usb0" })
        lab.middle.interfaces.insert("usb0")
        lab.world.run(for: 5 * nanosecondsPerSecond)
        lab.middle.interfaces.remove("usb0")
        lab.world.run(for: 5 * nanosecondsPerSecond)
        lab.middle.interfaces.insert("usb0")
        lab.world.run(for: 5 * nanosecondsPerSecond)
        let notes = lab.lines("note")
        #expect(notes.count == 2)
        #expect(notes.first?.contains("interface_gone") == true)
        #expect(notes.last?.contains("interface_returned") == true)
    }

    @Test func `stopping writes what was unfinished and the last line`() throws {
        let lab = try Laboratory()
        let app = try lab.dial()
        app.send("POST /x HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc")
        lab.expect("the board has it") { lab.arrivals.first?.text.hasSuffix("abc") == true }
        #expect(lab.lines("request").isEmpty)
        let summary = lab.recording.stop()
        #expect(summary.isComplete)
        #expect(lab.lines("request").count == 1)
        #expect(lab.lines("request")[0].contains(#""incomplete":true"#))
        #expect(lab.lines.last?.contains(#""event":"end""#) == true)
    }

    @Test func `a mark stands in the file with its number`() throws {
        let lab = try Laboratory(recording: { $0.markText = "flash" })
        lab.recording.mark()
        lab.expect("it is on file") { lab.lines("note").count == 1 }
        #expect(lab.lines("note")[0].contains(#""code":"mark","text":"flash 1""#))
    }
}

@Suite struct DiskFullTests {
    private static let request = "GET /api/phone-bridge/status HTTP/1.1\r\nHost: b\r\n\r\n"

    private func exchange(_ lab: Laboratory, _ app: End, _ count: Int) {
        for _ in 0..<count { app.send(Self.request) }
    }

    @Test func `traffic flows on when the disk is full, and the file says what it lacks`() throws {
        let lab = try Laboratory()
        let app = try lab.dial()
        exchange(lab, app, 1)
        lab.expect("the first is recorded") { lab.lines("request").count == 1 }
        lab.middle.disk.capacity = lab.middle.disk.files[Laboratory.file]?.count
        exchange(lab, app, 20)
        let size = Self.request.utf8.count
        lab.expect("the board has all") { lab.arrivals.first?.received.count == 21 * size }
        lab.world.run(for: 3 * nanosecondsPerSecond)
        #expect(lab.lines("request").count == 1)
        #expect(lab.recording.recorder.trouble?.name == "ENOSPC")
        #expect(lab.reports.contains { if case .paused = $0 { true } else { false } })
        lab.middle.disk.capacity = nil
        lab.world.run(for: 3 * nanosecondsPerSecond)
        exchange(lab, app, 1)
        lab.expect("it goes on") { lab.lines("request").count == 2 }
        #expect(lab.lines("note").contains { $0.contains("recording_gap") })
        #expect(
            lab.lines("gap").contains {
                $0.contains(#""from":"app""#) && $0.contains(#""length":\#(20 * size)"#)
                    && $0.contains("disk_full")
            }, "\(lab.lines("gap"))")
        let summary = lab.recording.stop()
        #expect(!summary.isComplete)
        #expect(lab.lines.last?.contains(#""dropped":20"#) == true)
    }

    @Test func `a pause that is over before the next look is told all the same`() throws {
        let lab = try Laboratory()
        let app = try lab.dial()
        exchange(lab, app, 1)
        lab.expect("the first is recorded") { lab.lines("request").count == 1 }
        lab.world.run(for: 2 * nanosecondsPerSecond)
        lab.middle.disk.capacity = lab.middle.disk.files[Laboratory.file]?.count
        exchange(lab, app, 3)
        lab.expect("the disk is full") { lab.recording.recorder.trouble != nil }
        lab.middle.disk.capacity = nil
        // From now on every look at a second's end comes behind an attempt that succeeds.
        lab.world.run(for: 3 * nanosecondsPerSecond)
        let told = lab.reports.compactMap { report in
            switch report {
            case .paused: "paused"
            case .resumed: "resumed"
            default: nil
            }
        }
        #expect(told == ["paused", "resumed"])
    }

    @Test func `strictly, the link is closed instead`() throws {
        let lab = try Laboratory(options: { $0.isStrict = true })
        let app = try lab.dial()
        exchange(lab, app, 1)
        lab.expect("the first is recorded") { lab.lines("request").count == 1 }
        lab.middle.disk.writeError = 5
        exchange(lab, app, 1)
        lab.expect("the app is reset") { app.hasReset }
        #expect(lab.arrivals.first?.text == Self.request)
    }
}

import BridgeProxy
import Capture
import Network
import Testing
import Wire

/// A tap into which a test puts packets.
private final class FakeTap: PacketTap {
    let link = LinkType.raw
    let linkName = "RAW"
    let latency = 40 * nanosecondsPerMillisecond
    var onPacket: ((Span<UInt8>, PacketStamp) -> Void)?
    var onEnd: ((TapError) -> Void)?
    var lost = TapCounts()
    /// What comes when the tap is asked for the rest.
    var held: [(Bytes, PacketStamp)] = []
    private(set) var isClosed = false

    func give(_ packet: Bytes, at time: Int64) {
        onPacket?(packet.span, PacketStamp(time: time))
    }

    func drain() {
        for (packet, stamp) in held { onPacket?(packet.span, stamp) }
        held = []
    }

    func counts() -> TapCounts { lost }

    func close() { isClosed = true }
}

/// A recording of an interface on the simulated loop.
private final class SniffBench {
    let world = SimulatedWorld(seed: 1)
    let host: SimulatedLoop
    let recording: Recording
    let sniffer: Sniffer
    private(set) var taps: [FakeTap] = []
    private(set) var remarks: [RecordingRemark] = []
    var error: TapError?
    private let startedAt: Int64

    init(ports: Set<UInt16> = [], isThere: Bool = true) throws {
        host = try #require(world.addHost("192.168.42.1"))
        let startedAt = host.wallClock
        self.startedAt = startedAt
        recording = try Recording(
            Recording.Options(
                session: SessionInfo(
                    id: "lab", startedAt: Timestamp(wall: startedAt).nanosecondText, tool: "test",
                    source: "interface"), outputs: ["lab.ndjson"]), loop: host,
            clock: { [host] in host.wallClock - startedAt }
        ) { _ in }
        var options = Sniffer.Options(interface: "usb0")
        options.ports = ports
        var open: () throws(TapError) -> any PacketTap = { () throws(TapError) in
            throw TapError(.other, "not made yet")
        }
        var remark: (RecordingRemark) -> Void = { _ in }
        sniffer = Sniffer(
            options, loop: host, recorder: recording.recorder, startedAt: startedAt,
            open: { () throws(TapError) in try open() }, remark: { remark($0) })
        open = { [unowned self] () throws(TapError) in
            if let error { throw error }
            let tap = FakeTap()
            taps.append(tap)
            return tap
        }
        remark = { [unowned self] in remarks.append($0) }
        if !isThere { error = TapError(.noSuchInterface, "no such device exists") }
        sniffer.start(isThere ? try open() : nil)
        recording.start(sniffer)
    }

    /// Packets of a whole exchange, or of its beginning.
    func exchange(_ count: Int = 6, port: UInt16 = 8080) throws -> [Bytes] {
        let app = try #require(IPEndpoint(parsing: "192.168.42.2:49152"))
        let board = try #require(IPEndpoint(parsing: "192.168.42.1:\(port)"))
        let request = Bytes("GET /a HTTP/1.1\r\nHost: b\r\n\r\n".utf8)
        let answer = Bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)
        let size = UInt32(request.count)
        let all: [(Side, TCPSegment.Flags, UInt32, UInt32, Bytes)] = [
            (.app, [.syn], 100, 0, []), (.board, [.syn, .ack], 500, 101, []),
            (.app, [.ack], 101, 501, request), (.board, [.ack], 501, 101 + size, answer),
            (.app, [.fin, .ack], 101 + size, 501 + UInt32(answer.count), []),
            (.board, [.fin, .ack], 501 + UInt32(answer.count), 102 + size, []),
        ]
        return all.prefix(count).map { side, flags, sequence, acknowledgment, payload in
            var bytes = Bytes()
            TCPSegment(
                flags: flags, sequence: sequence, acknowledgment: acknowledgment, window: 65535,
                payload: payload[...]
            ).encode(
                from: side == .app ? app : board, to: side == .app ? board : app,
                identification: 1, into: &bytes)
            return bytes
        }
    }

    func give(_ packets: [Bytes]) {
        for packet in packets { taps.last?.give(packet, at: host.wallClock) }
    }

    func pass(_ seconds: Int64) { world.run(for: seconds * nanosecondsPerSecond) }

    var statistics: RecordingStatistics { recording.recorder.statistics }

    /// The codes of notes on file.
    var notes: [String] {
        lines.compactMap { line in line.firstMatch(of: #/"code":"([a-z_]+)"/#).map { String($0.1) }
        }
    }

    var lines: [String] {
        (host.disk.files["lab.ndjson"] ?? []).split(separator: UInt8(ascii: "\n")).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

@Suite struct SnifferTests {
    @Test func `packets become the session, on file at the end of the turn`() throws {
        let bench = try SniffBench()
        bench.pass(1)
        bench.give(try bench.exchange(4))
        bench.pass(2)
        #expect(bench.lines.contains { $0.contains(#""event":"response""#) })
        #expect(bench.lines.contains { $0.contains(#""event":"open","seq":1,"t":10000"#) })
        #expect(bench.statistics.packets == 4)
        #expect(bench.statistics.openConnections == 1)
        bench.give(try bench.exchange().suffix(2))
        let summary = bench.recording.stop()
        #expect(summary.isComplete)
        #expect(summary.statistics.connections == 1)
        #expect(summary.statistics.openConnections == 0)
        #expect(summary.statistics.bytesBoard > 0)
        #expect(bench.taps.map(\.isClosed) == [true])
        #expect(bench.lines.last?.contains(#""event":"end""#) == true)
    }

    @Test func `what the system still holds at the end is in the session`() throws {
        let bench = try SniffBench()
        bench.pass(1)
        let time = bench.host.wallClock
        bench.taps[0].held = try bench.exchange().map { ($0, PacketStamp(time: time)) }
        _ = bench.recording.stop()
        #expect(bench.lines.contains { $0.contains(#""event":"response""#) })
    }

    @Test func `only connections with a port that was asked for are recorded`() throws {
        let bench = try SniffBench(ports: [9])
        bench.give(try bench.exchange())
        let summary = bench.recording.stop()
        #expect(summary.statistics.connections == 0)
        #expect(summary.statistics.packets == 6)
    }

    @Test func `packets that were dropped are noted, counted, and told when they double`() throws {
        let bench = try SniffBench()
        bench.taps[0].lost.dropped = 3
        bench.pass(1)
        bench.taps[0].lost.dropped = 5
        bench.pass(1)
        bench.taps[0].lost.droppedByInterface = 1
        let summary = bench.recording.stop()
        #expect(bench.notes == ["dropped_packets", "dropped_packets", "dropped_packets"])
        #expect(bench.remarks == [.packetsDropped(3), .packetsDropped(6)])
        #expect(summary.statistics.droppedPackets == 6)
        #expect(!summary.isComplete)
        #expect(bench.lines.last?.contains(#""dropped":6"#) == true)
    }

    @Test func `an interface that goes is noted, looked for, and taken up again`() throws {
        let bench = try SniffBench()
        bench.give(try bench.exchange(3))
        bench.error = TapError(.noSuchInterface, "no such device exists")
        bench.taps[0].onEnd?(TapError(.noSuchInterface, "the interface disappeared"))
        #expect(bench.taps[0].isClosed)
        bench.pass(3)
        #expect(bench.taps.count == 1)
        bench.error = nil
        bench.pass(1)
        #expect(bench.taps.count == 2)
        bench.give([try bench.exchange()[3]])
        let summary = bench.recording.stop()
        #expect(bench.remarks == [.interfaceGone("usb0"), .interfaceReturned("usb0")])
        #expect(bench.notes == ["interface_gone", "interface_returned", "recording_gap"])
        #expect(bench.lines.contains { $0.contains(#/nothing was captured for 3[0-9]{3} ms/#) })
        // The connection goes on where it was.
        #expect(summary.statistics.connections == 1)
        #expect(bench.lines.contains { $0.contains(#""event":"response""#) })
    }

    @Test func `a recording that ends while its interface is away says what it lacks`() throws {
        let bench = try SniffBench()
        bench.error = TapError(.noSuchInterface, "no such device exists")
        bench.taps[0].onEnd?(TapError(.noSuchInterface, "the interface disappeared"))
        bench.pass(2)
        _ = bench.recording.stop()
        #expect(bench.notes == ["interface_gone", "recording_gap"])
    }

    @Test func `an interface that is not there yet is waited for`() throws {
        let bench = try SniffBench(isThere: false)
        var captures = 0
        bench.sniffer.onCapture = { captures += 1 }
        bench.pass(2)
        #expect(bench.remarks == [.interfaceAwaited("usb0")])
        bench.error = TapError(.permission, "operation not permitted")
        bench.pass(2)
        // What keeps it from being captured is told once.
        #expect(
            bench.remarks == [
                .interfaceAwaited("usb0"),
                .cannotCapture("usb0", TapError(.permission, "operation not permitted")),
            ])
        #expect(captures == 0)
        bench.error = nil
        bench.pass(1)
        #expect(captures == 1)
        _ = bench.recording.stop()
        #expect(bench.notes == [])
    }

    @Test func `a hole is told once time has passed, though no packet comes any more`() throws {
        let bench = try SniffBench()
        var packets = try bench.exchange(5)
        packets.remove(at: 2)
        bench.give(packets)
        bench.pass(3)
        #expect(bench.lines.contains { $0.contains(#""why":"missing_packets""#) })
        _ = bench.recording.stop()
    }
}

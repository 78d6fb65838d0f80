import Glibc
import Network
import Testing
import Wire

/// Live capture on the real driver.
@Suite struct PcapTapTests {
    private static let canCapture = geteuid() == 0

    @Test(.enabled(if: canCapture, "captures need root"))
    func `packets of an interface come whole, in order, with the system's time`() throws {
        let bench = try RealBench()
        let listener = try bench.loop.listen(on: .loopback(), options: ListenOptions()) { stream in
            stream.onRead = { _ in }
            stream.resume()
        }
        let port = listener.localAddress.port
        var options = TapOptions()
        options.filter = "tcp port \(port)"
        let tap = try bench.loop.openTap("lo", options)
        #expect(tap.link == .ethernet)
        #expect(tap.linkName == "EN10MB")
        let before = bench.loop.wallClock
        var stamps: [PacketStamp] = []
        var seen = Bytes()
        tap.onPacket = { bytes, stamp in
            stamps.append(stamp)
            for index in bytes.indices { seen.append(bytes[index]) }
        }
        let text = Bytes("this is what is to be seen".utf8)
        var stream: (any TCPStream)?
        bench.loop.connect(to: .loopback(port: port), options: ConnectOptions()) { result in
            stream = try? result.get()
            stream?.write(text)
        }
        bench.expect("the text passes") { seen.firstRange(of: text) != nil }
        #expect(stamps.count >= 4)
        #expect(stamps.allSatisfy { $0.cut == 0 && $0.time >= before })
        #expect(stamps.map(\.time) == stamps.map(\.time).sorted())
        #expect(tap.counts() == TapCounts())
        let count = stamps.count
        tap.close()
        stream?.write(text)
        bench.settle()
        #expect(stamps.count == count)
        listener.close()
        stream?.close()
        bench.finish()
    }

    @Test(.enabled(if: canCapture, "captures need root"))
    func `what the system holds can be had at once`() throws {
        let bench = try RealBench()
        let tap = try bench.loop.openTap("lo")
        var packets = 0
        tap.onPacket = { _, _ in packets += 1 }
        tap.drain()
        #expect(tap.latency > 0)
        tap.close()
        tap.close()
        bench.finish()
    }

    @Test func `an interface that is not there is told from others`() throws {
        let bench = try RealBench()
        let error = #expect(throws: TapError.self) {
            _ = try bench.loop.openTap("nowhere0")
        }
        // Without the privilege the system does not say more.
        #expect(error?.kind == (Self.canCapture ? .noSuchInterface : .permission))
        bench.finish()
    }

    @Test(arguments: [
        ("", true), ("tcp port 8080 and host 192.168.42.1", true), ("tcp prot 80", false),
        ("port 99999", false), ("(", false),
    ])
    func `a filter is judged without an interface`(filter: String, isGood: Bool) {
        let fault = PacketFilter.fault(in: filter)
        #expect((fault == nil) == isGood, "\(fault ?? "")")
        #expect(fault?.isEmpty != true)
    }

    @Test func `the loopback interface is among those that there are`() throws {
        let loopback = try NetworkInterface.all().first { $0.name == "lo" }
        #expect(loopback?.isLoopback == true)
        #expect(loopback?.addresses.contains(.loopback) == true)
        #expect(try NetworkInterface.all().contains { $0.name == NetworkInterface.anyName })
    }
}

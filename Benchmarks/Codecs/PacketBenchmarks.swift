import BridgeProxy
import CPcap
import Capture
import Glibc
import PhoneBridge
import Wire

/// Reading a capture: libpcap alone, which is the floor, and what is built on it.
extension Suite {
    /// The capture that `Benchmarks/files` gives to other programs as well.
    private static let size = 200_000_000

    func readPackets() throws {
        let names = ["pcap walk", "pcap packets", "pcap events", "pcap import", "pcap convert"]
        guard names.contains(where: isWanted) else { return }
        let path = folder + "/traffic.pcap"
        let traffic = try PacketTraffic(path: path, size: Self.size)
        try measure("pcap walk", bytes: traffic.size, messages: traffic.messages) {
            try walk(path)
        }
        try measure("pcap packets", bytes: traffic.size, messages: traffic.messages) {
            var file = try PacketFile.open(SessionFileSource(path: path))
            var bytes = 0
            while let count = try file.next({ packet, _ in packet.count }) { bytes &+= count }
            return bytes
        }
        try measure("pcap events", bytes: traffic.size, messages: traffic.messages) {
            var reader = SessionReader(try SessionFileSource(path: path))
            var events = 0
            var batch = EventBatch(gathersFrames: true)
            while try reader.next(into: &batch) != nil { events += batch.count }
            return events
        }
        try measure("pcap import", bytes: traffic.size, messages: traffic.messages) {
            try convert(path, with: nil)
        }
        try measure("pcap convert", bytes: traffic.size, messages: traffic.messages) {
            try convert(path, with: MeaningReader())
        }
    }

    /// What `bridgetap convert` does; without a reader of meanings, lines have no `bridge`.
    private func convert(_ path: String, with meaning: MeaningReader?) throws -> Int {
        var reader = SessionReader(try SessionFileSource(path: path))
        let file = try SessionFile(path: folder + "/import.ndjson", overwrites: true)
        let writer = try SessionWriter(session: Self.session) {
            (_: Int) throws(OutputError) in file
        }
        guard
            let background = BackgroundOutput(writer, gathersFrames: true, meaning: meaning)
        else { throw NoThread() }
        var batch = EventBatch(gathersFrames: true)
        while let portion = try reader.next(into: &batch) {
            guard case .events = portion else { continue }
            background.receive(&batch)
        }
        let status = background.finish().close(now: 0)
        if let error = status.pausedBy { throw error }
        return status.written
    }

    private struct PcapFailure: Error {}
    private struct NoThread: Error {}

    /// The corresponding C functions are `pcap_open_offline` and `pcap_next_ex`.
    private func walk(_ path: String) throws -> Int {
        var message = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard let pcap = unsafe pcap_open_offline(path, &message) else { throw PcapFailure() }
        defer { unsafe pcap_close(pcap) }
        var header: UnsafeMutablePointer<pcap_pkthdr>?
        var data: UnsafePointer<UInt8>?
        var bytes = 0
        while unsafe pcap_next_ex(pcap, &header, &data) == 1 {
            bytes &+= unsafe Int(header?.pointee.caplen ?? 0)
        }
        return bytes
    }
}

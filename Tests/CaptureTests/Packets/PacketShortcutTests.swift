import Capture
import Testing
import Wire

/// Bytes that come as from a pipe, so that packets are taken one at a time, through libpcap.
private final class PipeSource: ByteSource {
    let name = "memory"
    private let source: MemorySource
    private let maximum: Int

    init(_ bytes: Bytes, maximum: Int) {
        source = MemorySource(bytes)
        self.maximum = maximum
    }

    func read(into bytes: inout [UInt8], maximum: Int) {
        source.read(into: &bytes, maximum: min(maximum, self.maximum))
    }
}

@Suite struct PacketShortcutTests {
    /// A pcap file of raw IP packets.
    private struct PcapForm: CustomTestStringConvertible {
        var isBigEndian: Bool
        var isNanoseconds: Bool
        var minor: UInt16 = 4
        var snapshot: UInt32 = 262_144

        var testDescription: String {
            "\(isBigEndian ? "big" : "little") endian, \(isNanoseconds ? "nano" : "micro")seconds, "
                + "2.\(minor), at most \(snapshot) bytes"
        }

        static let all = [
            PcapForm(isBigEndian: false, isNanoseconds: false),
            PcapForm(isBigEndian: false, isNanoseconds: true),
            PcapForm(isBigEndian: true, isNanoseconds: false),
            PcapForm(isBigEndian: true, isNanoseconds: true),
            // Lengths may stand the other way round in such a file, and libpcap looks.
            PcapForm(isBigEndian: false, isNanoseconds: true, minor: 3),
            // Longer packets are cut in reading.
            PcapForm(isBigEndian: true, isNanoseconds: true, snapshot: 200),
        ]

        private func number<Number: FixedWidthInteger>(_ value: Number) -> Bytes {
            let size = Number.bitWidth / 8
            return (0..<size).map { index in
                let shift = 8 * (isBigEndian ? size - 1 - index : index)
                return UInt8(truncatingIfNeeded: value >> Number(shift))
            }
        }

        func file(_ packets: [CapturedPacket]) -> Bytes {
            var file = number(isNanoseconds ? 0xa1b2_3c4d : 0xa1b2_c3d4 as UInt32)
            file += number(2 as UInt16) + number(minor) + number(0 as UInt64)
            file += number(snapshot) + number(101 as UInt32)
            for packet in packets {
                let fraction = packet.time % 1_000_000_000
                file += number(UInt32(packet.time / 1_000_000_000))
                file += number(UInt32(isNanoseconds ? fraction : fraction / 1000))
                file += number(UInt32(packet.bytes.count))
                file += number(UInt32(packet.bytes.count + packet.cut)) + packet.bytes
            }
            return file
        }
    }

    private enum Item: Equatable {
        case event(Event)
        /// A remark, or what ended the reading, in words.
        case fault(String)
    }

    /// What a source gives.
    private func items(_ source: any ByteSource) throws -> [Item] {
        var reader = SessionReader(source)
        var items: [Item] = []
        var batch = EventBatch(gathersFrames: true)
        do {
            while let portion = try reader.next(into: &batch) {
                switch portion {
                case .events: items += batch.events.map { .event($0) }
                case .remark(let remark): items.append(.fault("\(remark)"))
                }
            }
        } catch {
            items.append(.fault("\(error)"))
        }
        return items
    }

    @Test(arguments: EditablePackets.all)
    func `packets in any order, with any of them missing, are read as one by one`(
        _ capture: EditablePackets
    ) throws {
        var random = SystemRandomNumberGenerator()
        for round in 0..<12 {
            var packets = try capture.packets()
            for _ in 0..<(round / 2) {
                let index = Int.random(in: 0..<packets.count, using: &random)
                let other = min(packets.count - 1, index + Int.random(in: 1...4, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: packets.swapAt(index, other)
                case 1: packets.remove(at: index)
                case 2: packets.insert(packets[index], at: other)
                case 3 where packets[index].bytes.count > 60:
                    packets[index].bytes.removeLast(9)
                    packets[index].cut += 9
                default:
                    let place = Int.random(in: 0..<packets[index].bytes.count, using: &random)
                    packets[index].bytes[place] ^= 1
                }
            }
            let file = PcapForm.all[round % 4].file(packets)
            let alone = try items(PipeSource(file, maximum: 1 << 20))
            #expect(try items(MemorySource(file)) == alone)
            #expect(alone.count > 3)
        }
    }

    @Test(arguments: PcapForm.all)
    private func `a file that ends anywhere, or is damaged, is read as libpcap reads it`(
        _ form: PcapForm
    ) throws {
        var random = SystemRandomNumberGenerator()
        let capture = try #require(EditablePackets.all.last)
        let whole = form.file(Array(try capture.packets().prefix(40)))
        for round in 0..<60 {
            var file = whole
            if round > 0 {
                file.removeLast(Int.random(in: 0..<file.count - 24, using: &random))
            }
            if round % 3 == 2, file.count > 24 {
                // Among them the headers of records, with lengths and times of any size.
                for _ in 0..<3 {
                    let place = Int.random(in: 24..<file.count, using: &random)
                    file[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            let expected = try items(PipeSource(file, maximum: 1 << 20))
            #expect(try items(MemorySource(file)) == expected)
            let size = Int.random(in: 1...40, using: &random)
            #expect(try items(PipeSource(file, maximum: size)) == expected)
        }
    }

    @Test func `a file with more than is read at once is whole`() throws {
        let capture = try #require(EditablePackets.all.last)
        let packets = try capture.packets()
        // The same connections again and again, each time an hour later.
        var all: [CapturedPacket] = []
        var rounds: Int64 = 0
        while all.reduce(0, { $0 + $1.bytes.count }) < 300_000 {
            all += packets.map { packet in
                var packet = packet
                packet.time += rounds * 3_600_000_000_000
                return packet
            }
            rounds += 1
        }
        let file = PcapForm.all[1].file(all)
        #expect(try items(MemorySource(file)) == items(PipeSource(file, maximum: 1 << 20)))
    }
}

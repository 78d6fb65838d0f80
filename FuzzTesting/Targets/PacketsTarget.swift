import Capture
import Wire

/// Any packets, in any file, are read to their end, to the same events however the file arrives;
/// times never fall, and every event stands for bytes and in a file.
///
/// With the first option the rest of the input is a file from its magic number on; otherwise it is
/// packets behind a header that is right: a byte for the time, one for what is cut, two for the
/// length, and the bytes.
func checkPackets(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let file = options & 1 != 0 ? Bytes(choices.rest) : packetFile(options, choices)

    var first: [SessionReader.Item]?
    for (name, cuts) in Cuts.all(seed: seed) {
        let items = read(file, cuts)
        if let first {
            try expectEqual(items, first, "\(name), the items")
        } else {
            first = items
        }
    }
    var encoders: [Int: ConnectionEncoder] = [:]
    var time: Int64 = 0
    for case .event(let event) in first ?? [] {
        try expect(event.time >= time, "the time falls from \(time) to \(event.time)")
        time = event.time
        try checkRoundTrip(event)
        var bytes = Bytes()
        let outcome = encoders[event.conn, default: ConnectionEncoder()].encode(event, into: &bytes)
        if case .contradiction(let why) = outcome {
            throw BrokenInvariant("\(why): \(event)")
        }
    }
}

private func read(_ file: Bytes, _ cuts: Cuts) -> [SessionReader.Item] {
    var reader = SessionReader(CutSource(file, cuts))
    var items: [SessionReader.Item] = []
    do throws(SessionError) {
        while let item = try reader.next() { items.append(item) }
    } catch {
        _ = error.text
    }
    return items
}

/// A pcap file whose link type, precision and byte order the options choose.
private func packetFile(_ options: UInt8, _ content: Choices) -> Bytes {
    var choices = content
    let links: [UInt8] = [101, 1, 113, 0, 108, 12, 1, 101]
    let isNanosecond = options & 2 != 0
    let cooked2 = options & 0xf0 == 0xf0
    let link: [UInt8] = cooked2 ? [20, 1] : [links[Int(options >> 2 & 7)], 0]
    var file: Bytes = isNanosecond ? [0x4d, 0x3c, 0xb2, 0xa1] : [0xd4, 0xc3, 0xb2, 0xa1]
    file += [2, 0, 4, 0] + Bytes(repeating: 0, count: 8) + [0, 0, 4, 0] + link + [0, 0]
    var time: UInt32 = 0
    while !choices.rest.isEmpty {
        // Up to a quarter of a second, or back.
        time = time &+ UInt32(choices.byte()) &* 1_000_000
        let cut = UInt32(choices.byte() & 0x3f)
        let count = Int(choices.byte()) << 8 | Int(choices.byte())
        let bytes = choices.bytes(min(count, 2048))
        for word in [
            time / 250_000_000, time % 250_000_000 / (isNanosecond ? 1 : 1000),
            UInt32(bytes.count), UInt32(bytes.count) + cut,
        ] {
            for shift in stride(from: UInt32(0), through: 24, by: 8) {
                file.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        file += bytes
    }
    return file
}

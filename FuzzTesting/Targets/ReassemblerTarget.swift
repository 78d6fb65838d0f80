import Wire

/// Segments of any order, cut and content give in order what came first at each place, and every
/// place once; holes are told as long as they are.
///
/// Behind the options, the start's four bytes and the length of the stream, a segment is five
/// bytes: what happens, offset, length, a byte for its content, and bytes that are cut.
func checkReassembler(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    var start: UInt32 = 0
    for _ in 0..<4 { start = start << 8 | UInt32(choices.byte()) }
    let length = 1 + Int(choices.byte())
    var limits = TCPReassembler.Limits()
    let isPatient = options & 1 == 0
    if options & 2 != 0 {
        limits.packetsBehindAcknowledged = 2
        limits.maximumSegments = 4
        limits.maximumBytes = 64
    }
    var model = StreamModel(length: length)
    var stream = TCPReassembler(limits: limits)
    stream.start(at: start)
    var time: Int64 = 0
    while !choices.rest.isEmpty {
        let what = choices.byte()
        let offset = Int(choices.byte()) % length
        let count = min(Int(choices.byte()), length - offset)
        let content = choices.byte()
        let cut = min(Int(choices.byte() & 31), count)
        let bytes = Bytes((0..<count - cut).map { content &+ UInt8(truncatingIfNeeded: $0) })
        let isFIN = what & 1 != 0 && offset + count == length
        time &+= Int64(what >> 2) * 10_000_000
        model.send(bytes, at: offset, cut: cut, isFIN: isFIN)
        let ready = stream.receive(
            sequence: start &+ UInt32(offset), bytes.span, missing: cut, isFIN: isFIN, at: time)
        try model.take(bytes[ready], isExact: isPatient)
        if what & 2 != 0 { stream.acknowledge(start &+ UInt32(offset + count)) }
        try drain(&stream, into: &model, isExact: isPatient)
        if !isPatient {
            stream.tick(at: time)
            try drain(&stream, into: &model, isExact: false)
        }
    }
    stream.giveUp()
    try drain(&stream, into: &model, isExact: isPatient)
    if isPatient { try model.finish() }
}

private func drain(
    _ stream: inout TCPReassembler, into model: inout StreamModel, isExact: Bool
) throws(BrokenInvariant) {
    while let step = stream.next() {
        switch step {
        case .bytes(let bytes, _, _): try model.take(bytes[...], isExact: isExact)
        case .missing(let count, let absence): try model.skip(count, absence, isExact: isExact)
        case .end: try model.end()
        case .differing(let count), .early(let count), .behindEnd(let count):
            try expect(count > 0, "\(step)")
        }
    }
}

/// What a direction should give: for each place the byte that came first.
private struct StreamModel {
    private enum Place: Equatable {
        case unknown
        case cut
        case byte(UInt8)
    }

    private var places: [Place]
    /// All bytes that any segment had at a place.
    private var seen: [Set<UInt8>]
    private var position = 0
    private var hasFIN = false
    private var hasEnded = false

    init(length: Int) {
        places = Array(repeating: .unknown, count: length)
        seen = Array(repeating: [], count: length)
    }

    mutating func send(_ bytes: Bytes, at offset: Int, cut: Int, isFIN: Bool) {
        for (index, byte) in bytes.enumerated() {
            seen[offset + index].insert(byte)
            if places[offset + index] == .unknown { places[offset + index] = .byte(byte) }
        }
        for index in offset + bytes.count..<offset + bytes.count + cut
        where places[index] == .unknown {
            places[index] = .cut
        }
        if isFIN { hasFIN = true }
    }

    mutating func take(_ bytes: ArraySlice<UInt8>, isExact: Bool) throws(BrokenInvariant) {
        try expect(!hasEnded || bytes.isEmpty, "bytes behind the end")
        for byte in bytes {
            try expect(position < places.count, "more bytes than were sent")
            if isExact {
                try expect(
                    places[position] == .byte(byte),
                    "at \(position) comes \(byte) instead of \(places[position])")
            } else {
                try expect(seen[position].contains(byte), "nobody sent \(byte) at \(position)")
            }
            position += 1
        }
    }

    mutating func skip(
        _ count: UInt64, _ absence: TCPReassembler.Absence, isExact: Bool
    ) throws(BrokenInvariant) {
        try expect(!hasEnded && count > 0, "a hole of \(count)")
        try expect(UInt64(places.count - position) >= count, "a hole of \(count) at \(position)")
        let hole = places[position..<position + Int(count)]
        if isExact {
            let expected: Place = absence == .lost ? .unknown : .cut
            try expect(
                hole.allSatisfy { $0 == expected }, "\(absence) at \(position): \(hole)")
        }
        position += Int(count)
    }

    mutating func end() throws(BrokenInvariant) {
        try expect(hasFIN && !hasEnded, "an end that nobody sent")
        try expect(position == places.count, "the end at \(position) of \(places.count)")
        hasEnded = true
    }

    /// Everything that was sent has come out.
    func finish() throws(BrokenInvariant) {
        try expect(hasEnded == hasFIN, "the end did not come")
        try expect(
            places[position...].allSatisfy { $0 == .unknown }, "what was sent last did not come")
    }
}

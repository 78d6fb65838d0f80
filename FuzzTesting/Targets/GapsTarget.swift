import Capture
import Wire

/// Whatever is missing of a connection, and wherever it is met, its events stand for exactly the
/// bytes that are there, each at its place, and for the holes between them.
///
/// Behind the options and the seed, an input is runs: a byte whose highest bit says who sends,
/// whose next one that the bytes are missing, and whose others say how many.
func checkGaps(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    var limits = ConnectionLimits()
    if options & 1 != 0 {
        limits.maximumPiece = 16
        limits.maximumChunksInPiece = 2
        limits.maximumData = 8
        limits.maximumInflated = 64
    }
    var runs: [Run] = []
    while !choices.rest.isEmpty {
        let head = choices.byte()
        let code = Int(head & 0x3f)
        let count = code < 32 ? code : 32 + (code - 32) * 16
        let from: Side = head & 0x80 == 0 ? .app : .board
        if head & 0x40 != 0 {
            runs.append(.gap(from, code == 0 ? nil : UInt64(count)))
        } else {
            runs.append(.bytes(from, choices.bytes(count)))
        }
    }
    for (name, cuts) in Cuts.all(seed: seed) {
        let decoder = makeDecoder(options, limits)
        let events = decode(runs, cuts, decoder, ends: options & 8 == 0)
        for side in Side.allCases {
            try expectEqual(
                try places(events, side), sent(runs, side), "\(name), the places of the \(side)")
        }
        for event in events { try checkRoundTrip(event) }
    }
}

private enum Run {
    case bytes(Side, Bytes)
    case gap(Side, UInt64?)
}

private func makeDecoder(_ options: UInt8, _ limits: ConnectionLimits) -> ConnectionDecoder {
    switch options >> 1 & 3 {
    case 0: ConnectionDecoder(conn: 1, limits: limits)
    case 1: ConnectionDecoder(joining: 1, limits: limits)
    case 2: ConnectionDecoder(joining: 1, expectsFrames: true, limits: limits)
    default:
        ConnectionDecoder(
            conn: 1,
            continued: Event.Continued(extensions: "permessage-deflate", upgraded: true),
            limits: limits)
    }
}

private func decode(
    _ runs: [Run], _ cuts: Cuts, _ decoder: ConnectionDecoder, ends: Bool
) -> [Event] {
    var batch = EventBatch()
    var cuts = cuts
    var time: Int64 = 0
    for run in runs {
        time += 1_000
        switch run {
        case .bytes(let from, let bytes):
            for part in cuts.parts(of: bytes) {
                decoder.receive(part.span, from: from, at: time, into: &batch)
            }
        case .gap(let from, let length):
            decoder.gap(from, length: length, why: "missing_packets", at: time, into: &batch)
        }
    }
    if ends {
        decoder.end(.app, how: .fin, at: time, into: &batch)
        decoder.end(.board, how: .reset, at: time, into: &batch)
    } else {
        decoder.flush(at: time, into: &batch)
    }
    return batch.take()
}

/// A place of a stream: a byte, or these.
private let missing = 256
private let unknown = 257

private func sent(_ runs: [Run], _ side: Side) -> [Int] {
    var places: [Int] = []
    for run in runs {
        switch run {
        case .bytes(side, let bytes): places += bytes.map(Int.init)
        case .gap(side, let length?): places += Array(repeating: missing, count: Int(length))
        case .gap(side, nil): places.append(unknown)
        case .bytes, .gap: break
        }
    }
    return places
}

private func places(_ events: [Event], _ side: Side) throws(BrokenInvariant) -> [Int] {
    var encoder = ConnectionEncoder()
    var places: [Int] = []
    for event in events where event.from == side {
        var bytes = Bytes()
        let outcome = encoder.encode(event, into: &bytes)
        places += bytes.map(Int.init)
        switch outcome {
        case .nothing, .bytes: break
        case .missing(let length?):
            places += Array(repeating: missing, count: Int(clamping: length))
        case .missing(nil): places.append(unknown)
        case .contradiction(let why): throw BrokenInvariant("\(why): \(event)")
        }
    }
    return places
}

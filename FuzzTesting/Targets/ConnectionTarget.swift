import Capture
import PhoneBridge
import Wire

/// Whatever the two sides of a connection send, its events give back exactly their bytes, are the
/// same however the bytes arrive, and stand in a file as they are.
///
/// Behind the options and the seed, an input is runs of bytes: each begins with a byte whose
/// highest bit says who sends, and whose others say how many.
func checkConnection(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let setting = ConnectionSetting(choices.byte())
    let seed = choices.byte()
    var runs: [(from: Side, bytes: Bytes)] = []
    while !choices.rest.isEmpty {
        let head = choices.byte()
        let code = Int(head & 0x7f)
        let count = code < 64 ? code : 64 + (code - 64) * 32
        runs.append((head & 0x80 == 0 ? .app : .board, choices.bytes(count)))
    }

    var first: [Side: [Event]] = [:]
    for (name, cuts) in Cuts.all(seed: seed) {
        let events = decode(runs, cuts, setting)
        for side in Side.allCases {
            let sent = runs.filter { $0.from == side }.flatMap(\.bytes)
            try checkBytes(of: events, from: side, sent, "\(name), the bytes of the \(side)")
        }
        let merged = mergingData(events)
        for side in Side.allCases {
            let own = merged.filter { $0.from == side }
            if let before = first[side] {
                try expectEqual(own, before, "\(name), the events of the \(side)")
            }
            first[side] = own
        }
        if name == "at once" {
            var meaning = MeaningReader()
            for event in events {
                var event = event
                meaning.annotate(&event)
                try checkRoundTrip(event)
            }
        }
    }
}

/// What a run chooses.
private struct ConnectionSetting {
    var limits = ConnectionLimits()
    var continued: Event.Continued?
    var ending: Event.Ending?

    init(_ options: UInt8) {
        if options & 1 != 0 {
            limits.maximumPiece = 16
            limits.maximumChunksInPiece = 2
            limits.maximumData = 8
            limits.maximumPipelined = 3
            limits.maximumInflated = 64
            limits.http = HTTPLimits(
                maximumHeadSize: 256, maximumChunkLine: 24, maximumTrailers: 48, maximumMethod: 8)
        }
        switch options >> 1 & 3 {
        case 1: continued = Event.Continued(upgraded: true)
        case 2: continued = Event.Continued(extensions: "permessage-deflate", upgraded: true)
        default: continued = nil
        }
        ending = [Event.Ending.fin, .reset, .timeout, nil][Int(options >> 3 & 3)]
    }
}

private func decode(
    _ runs: [(from: Side, bytes: Bytes)], _ cuts: Cuts, _ setting: ConnectionSetting
) -> [Event] {
    let decoder =
        setting.continued.map {
            ConnectionDecoder(conn: 1, continued: $0, limits: setting.limits)
        } ?? ConnectionDecoder(conn: 1, limits: setting.limits)
    var batch = EventBatch()
    var time: Int64 = 0
    var cuts = cuts
    for run in runs {
        time += 1_000
        for part in cuts.parts(of: run.bytes) {
            decoder.receive(part.span, from: run.from, at: time, into: &batch)
        }
    }
    time += 1_000
    if let ending = setting.ending {
        decoder.end(.app, how: ending, at: time, into: &batch)
        decoder.end(.board, how: .fin, at: time, into: &batch)
    } else {
        decoder.flush(at: time, into: &batch)
    }
    return batch.take()
}

private func checkBytes(
    of events: [Event], from side: Side, _ sent: Bytes, _ what: String
) throws(BrokenInvariant) {
    var encoder = ConnectionEncoder()
    var bytes = Bytes()
    for event in events where event.from == side {
        let outcome = encoder.encode(event, into: &bytes)
        switch outcome {
        case .nothing, .bytes: break
        case .missing, .contradiction:
            throw BrokenInvariant("\(what): \(outcome) of \(event)")
        }
    }
    try expectEqual(bytes, sent, what)
}

/// The events without their numbers, and with `data` that follows `data` put together: where it
/// is cut depends on how it arrived.
private func mergingData(_ events: [Event]) -> [Event] {
    var merged: [Event] = []
    var lastData: [Side: Int] = [:]
    var places: [Int: Int] = [:]
    var heads = 0
    for event in events {
        var event = event
        if case .data(let data) = event.kind, let from = event.from {
            event.seq = 0
            if let index = lastData[from], case .data(var before) = merged[index].kind,
                before.why == data.why
            {
                before.bytes += data.bytes
                merged[index].kind = .data(before)
                merged[index].time = event.time
                continue
            }
            lastData[from] = merged.count
            merged.append(event)
            continue
        }
        if let from = event.from { lastData[from] = nil }
        heads += 1
        places[event.seq] = heads
        event.seq = heads
        switch event.kind {
        case .piece(var piece):
            piece.of = places[piece.of] ?? 0
            event.kind = .piece(piece)
        case .note(var note):
            note.to = note.to.map { places[$0] ?? 0 }
            event.kind = .note(note)
        case .session, .open, .request, .response, .frame, .message, .data, .gap, .close, .end:
            break
        }
        merged.append(event)
    }
    return merged
}

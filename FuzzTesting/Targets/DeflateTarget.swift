import Wire

/// Any text is extensions or not: what is read prints to what reads the same, and a client takes
/// what a server agrees to from its offers; and any bytes inflate to the same content, in output
/// bounded by every call's limit, however they are cut; and what is deflated inflates to itself.
func checkDeflate(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)
    if options & 1 == 0 {
        try checkExtensions(String(decoding: bytes, as: UTF8.self))
    } else {
        try checkInflater(bytes, seed: seed, contextTakeover: options & 2 == 0)
        try checkDeflater(
            bytes, seed: seed, windowBits: 9 + Int(options >> 2) % 7,
            contextTakeover: options & 2 == 0)
    }
}

private func checkExtensions(_ text: String) throws(BrokenInvariant) {
    guard let entries = ExtensionEntry.parse(text) else { return }
    let printed = ExtensionEntry.print(entries)
    try expect(ExtensionEntry.parse(printed) == entries, "\(printed) does not read the same")

    var offers: [DeflateParameters] = []
    for entry in entries where entry.name.lowercased() == PerMessageDeflate.name {
        if let offer = try? DeflateParameters(entry, in: .offer) {
            try expect(
                (try? DeflateParameters(offer.entry, in: .offer)) == offer,
                "the offer \(offer.entry.text) does not read the same")
            offers.append(offer)
        }
        if let answer = try? DeflateParameters(entry, in: .answer) {
            let agreed = PerMessageDeflate(agreedIn: answer.entry.text)
            try expect(agreed == answer.agreed, "the answer does not read the same")
        }
    }
    _ = PerMessageDeflate(agreedIn: text)
    do throws(ExtensionAnswerError) {
        _ = try PerMessageDeflate.agreed(answer: text, offers: offers)
    } catch {
        _ = error.text
    }

    for policy in [DeflateServerPolicy.full, .board] {
        guard let agreed = policy.agree(to: entries) else { continue }
        let taken: PerMessageDeflate?
        do throws(ExtensionAnswerError) {
            taken = try PerMessageDeflate.agreed(answer: agreed.entry.text, offers: offers)
        } catch {
            throw BrokenInvariant(
                "a client refuses \(agreed.entry.text) for \(printed): \(error.text)")
        }
        try expect(taken != nil, "the client does not see the agreement")
    }
}

/// What inflating gave: the content, up to a bound, and whether it ended well.
private struct Inflated: Equatable {
    var content = Bytes()
    var fault: String?
}

private let maximumInflated = 1 << 18

private func inflate(
    _ bytes: Bytes, _ cuts: Cuts, limit: Int, contextTakeover: Bool
) throws(BrokenInvariant) -> Inflated {
    guard let inflater = Inflater(contextTakeover: contextTakeover) else { return Inflated() }
    var result = Inflated()
    func run(
        _ step: (inout Bytes) -> Inflater.Outcome
    ) throws(BrokenInvariant) -> Bool {
        while result.content.count < maximumInflated {
            let before = result.content.count
            let outcome = step(&result.content)
            try expect(result.content.count - before <= limit, "output over the limit")
            switch outcome {
            case .inputUsed: return true
            case .corrupt(let why):
                result.fault = why
                return false
            case .outputFull:
                try expect(
                    result.content.count - before == limit, "full and not at the limit")
            }
        }
        return false
    }
    var cuts = cuts
    for part in cuts.parts(of: bytes) {
        var position = 0
        let goesOn = try run { content in
            inflater.inflate(part.span, at: &position, into: &content, limit: limit)
        }
        guard goesOn else { return result.cut }
        try expect(position == part.count, "input is left that was called used")
    }
    guard
        try run({ content in inflater.endMessage(into: &content, limit: limit) })
    else { return result.cut }
    return result.cut
}

extension Inflated {
    /// Without what lies beyond the bound, which depends on the limit of the last call.
    fileprivate var cut: Inflated {
        guard content.count >= maximumInflated else { return self }
        return Inflated(content: Bytes(content.prefix(maximumInflated)), fault: nil)
    }
}

private func checkInflater(
    _ bytes: Bytes, seed: UInt8, contextTakeover: Bool
) throws(BrokenInvariant) {
    var first: Inflated?
    for (name, cuts) in Cuts.all(seed: seed) {
        for limit in [1 << 16, 1 + Int(seed)] {
            let found = try inflate(
                bytes, cuts, limit: limit, contextTakeover: contextTakeover)
            if let first {
                try expectEqual(found.content, first.content, "\(name) with limit \(limit)")
                try expect(
                    found.fault == first.fault,
                    "\(name) with limit \(limit): \(found.fault ?? "no fault") instead of "
                        + (first.fault ?? "no fault"))
            } else {
                first = found
            }
        }
    }
}

private func checkDeflater(
    _ bytes: Bytes, seed: UInt8, windowBits: Int, contextTakeover: Bool
) throws(BrokenInvariant) {
    guard let deflater = Deflater(windowBits: windowBits, contextTakeover: contextTakeover),
        let inflater = Inflater(windowBits: windowBits, contextTakeover: contextTakeover)
    else { return }
    // Twice, so that the second message may refer to the first.
    for round in 1...2 {
        var packed = Bytes()
        var cuts = Cuts(seed: seed)
        for part in cuts.parts(of: bytes) {
            deflater.compress(part.span, isLast: false, into: &packed)
        }
        let nothing = Bytes()
        deflater.compress(nothing.span, isLast: true, into: &packed)
        var content = Bytes()
        var position = 0
        let limit = bytes.count + 1
        let outcome = inflater.inflate(packed.span, at: &position, into: &content, limit: limit)
        try expect(outcome == .inputUsed, "message \(round) does not inflate: \(outcome)")
        let end = inflater.endMessage(into: &content, limit: limit)
        try expect(end == .inputUsed, "message \(round) does not end: \(end)")
        try expectEqual(content, bytes, "message \(round)")
    }
}

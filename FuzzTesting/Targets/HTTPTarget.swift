import Wire

/// Any bytes decode to steps that encode to exactly these bytes, the same however they are cut;
/// what is wrong with a message can be told, and told in words.
func checkHTTP(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)

    let role: HTTPDecoder.Role = options & 1 == 0 ? .requests : .responses
    let limits =
        options & 2 == 0
        ? HTTPLimits()
        : HTTPLimits(
            maximumHeadSize: 96, maximumChunkLine: 24, maximumTrailers: 48, maximumMethod: 8,
            maximumExpectedRuns: 2)
    let methods = [[], ["HEAD", "GET"], ["CONNECT"], ["GET", "HEAD", "POST", "HEAD"]]
    let announced = methods[Int(options >> 2 & 3)]

    var first: [HTTPDecoder.Step]?
    for (name, cuts) in Cuts.all(seed: seed) {
        var decoder = HTTPDecoder(role, limits: limits)
        for method in announced { decoder.expectResponse(to: method) }
        let steps = try readHTTP(&decoder, bytes, cuts)
        var encoded = Bytes()
        for step in steps { HTTPEncoder.encode(step, into: &encoded) }
        try expectEqual(encoded, bytes, "\(name), the bytes of the steps")
        if let first {
            try expectEqual(steps, first, "\(name), the steps")
        } else {
            first = steps
        }
    }
    judgeHTTP(first ?? [])
}

/// Reads to the end; parts of one body, or of what is not HTTP, are put together.
private func readHTTP(
    _ decoder: inout HTTPDecoder, _ bytes: Bytes, _ cuts: Cuts
) throws(BrokenInvariant) -> [HTTPDecoder.Step] {
    var steps: [HTTPDecoder.Step] = []
    // Every step but `end` takes a byte, and an `end` stands behind a head.
    var budget = 2 * bytes.count + 8
    func add(_ step: HTTPDecoder.Step) {
        switch (steps.last, step) {
        case (.body(let before)?, .body(let part)):
            steps[steps.count - 1] = .body(before + part)
        case (.undecodable(let before, let why)?, .undecodable(let part, let reason))
        where why == reason:
            steps[steps.count - 1] = .undecodable(before + part, why: why)
        default:
            steps.append(step)
        }
    }
    var cuts = cuts
    for part in cuts.parts(of: bytes) {
        var position = 0
        while let step = decoder.next(part.span, at: &position) {
            budget -= 1
            try expect(budget > 0, "the decoder goes on without taking bytes")
            try expect(position <= part.count, "the position is behind the bytes")
            if case .body(let part) = step { try expect(!part.isEmpty, "a body part is empty") }
            add(step)
        }
        try expect(position == part.count, "not all bytes were taken in")
    }
    if let step = decoder.finish() { add(step) }
    try expect(decoder.tail.isEmpty, "bytes are held behind the end")
    return steps
}

/// Looks at everything that can be asked of messages; only a trap is wrong here.
private func judgeHTTP(_ steps: [HTTPDecoder.Step]) {
    var isFirst = true
    var request: HTTPHead?
    for step in steps {
        switch step {
        case .head(let head, _):
            for violation in HTTPViolation.judge(head, to: request) {
                _ = (violation.text, violation.rule.section, violation.rule.refusal)
            }
            if case .request(_, let target) = head.startLine {
                request = head
                let parsed = RequestTarget(target)
                _ = (parsed.path.decoded, parsed.queryItems.map(\.name.decoded))
            }
            _ = (head.keepsAlive, head.expectsContinue, head.isUpgradeToWebSocket)
            _ = head.fieldLines.members(of: "Sec-WebSocket-Extensions")
            isFirst = true
        case .chunk(let size, let line):
            _ = HTTPViolation.judge(chunkLine: line, isFirst: isFirst)
            _ = HTTPEncoder.isCanonical(chunkLine: line, size: size, isFirst: isFirst)
            isFirst = false
        case .trailers(let lines, let raw):
            _ = HTTPViolation.judge(trailers: lines, raw: raw)
        case .body, .end, .undecodable:
            break
        }
    }
}

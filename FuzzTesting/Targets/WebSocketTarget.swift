import Wire

/// Any bytes decode to frames that encode to exactly these bytes; frames, messages and what is
/// wrong with them are the same however the bytes are cut; and an endpoint that gets these bytes
/// never sends anything wrong itself.
func checkWebSocket(_ input: Bytes) throws(BrokenInvariant) {
    var choices = Choices(input)
    let options = choices.byte()
    let seed = choices.byte()
    let bytes = Bytes(choices.rest)

    let setting = WebSocketSetting(options)
    var first: WebSocketReading?
    for (name, cuts) in Cuts.all(seed: seed) {
        let reading = try WebSocketReading(bytes, cuts, setting)
        try expectEqual(reading.encoded, bytes, "\(name), the bytes of the frames")
        if let first {
            try expectEqual(reading.steps, first.steps, "\(name), the frames")
            try expectEqual(reading.outputs, first.outputs, "\(name), the messages")
            try expectEqual(reading.violations, first.violations, "\(name), what is wrong")
        } else {
            first = reading
        }
    }

    var actions: [WebSocketEndpoint.Action]?
    for (name, cuts) in Cuts.all(seed: seed) {
        let found = try actionsOfEndpoint(getting: bytes, cuts, setting)
        if let actions {
            try expectEqual(found, actions, "\(name), what the endpoint does")
        } else {
            actions = found
        }
    }
    try checkSent(actions ?? [], setting)
}

/// What a run chooses.
private struct WebSocketSetting {
    let sender: WebSocketRole
    let deflate: PerMessageDeflate?
    let maximumPayload: Int
    let maximumMessage: Int

    init(_ options: UInt8) {
        sender = options & 1 == 0 ? .client : .server
        switch options >> 1 & 3 {
        case 0: deflate = nil
        case 1: deflate = PerMessageDeflate()
        case 2:
            deflate = PerMessageDeflate(
                serverNoContextTakeover: true, clientNoContextTakeover: true)
        default: deflate = PerMessageDeflate(serverMaxWindowBits: 9, clientMaxWindowBits: 9)
        }
        maximumPayload = [0, 16, 125, 1 << 20][Int(options >> 3 & 3)]
        maximumMessage = [1, 64, 4096, 1 << 20][Int(options >> 5 & 3)]
    }
}

/// Everything that the decoders say of some bytes.
private struct WebSocketReading {
    /// Parts of one payload are put together, as are parts of one message.
    var steps: [FrameDecoder.Step] = []
    var outputs: [MessageAssembler.Output] = []
    var violations: [String] = []
    var encoded = Bytes()

    /// A small input may stand for very many parts; they need not all be looked at.
    private static let maximumOutputs = 4096

    private var judge: FrameJudge
    private var assembler: MessageAssembler
    private var key: MaskingKey?

    init(
        _ bytes: Bytes, _ cuts: Cuts, _ setting: WebSocketSetting
    ) throws(BrokenInvariant) {
        judge = FrameJudge(sender: setting.sender, deflate: setting.deflate != nil)
        assembler = MessageAssembler(
            deflate: setting.deflate, sender: setting.sender,
            maximumMessage: setting.maximumMessage)
        var decoder = FrameDecoder(maximumPayload: setting.maximumPayload)
        var cuts = cuts
        for part in cuts.parts(of: bytes) {
            var position = 0
            while let step = decoder.next(part.span, at: &position) {
                try expect(position <= part.count, "the position is behind the bytes")
                try take(step)
            }
            try expect(position == part.count, "not all bytes were taken in")
        }
        let unfinished = decoder.finish()
        switch unfinished {
        case .header(let raw): encoded += raw
        case .payload(let header, let part):
            header.encode(into: &encoded)
            encoded += header.maskingKey?.applied(to: part.span) ?? part
        case .longPayload, nil: break
        }
        assembler.finish(unfinished)
        try drain()
        try expect(assembler.isIdle, "a message is under way behind the end")
        try expect(decoder.isIdle, "a frame is under way behind the end")
    }

    private mutating func take(_ step: FrameDecoder.Step) throws(BrokenInvariant) {
        switch step {
        case .frame(let frame):
            frame.encode(into: &encoded)
            steps.append(step)
        case .header(let header):
            header.encode(into: &encoded)
            key = header.maskingKey
            steps.append(step)
        case .payload(let part, let offset, let isLast):
            encoded += key?.applied(to: part.span, offset: offset) ?? part
            if case .payload(let before, let start, _) = steps.last {
                try expect(start + UInt64(before.count) == offset, "an offset jumps")
                steps[steps.count - 1] = .payload(before + part, offset: start, isLast: isLast)
            } else {
                steps.append(step)
            }
        }
        violations += judge.judge(step).map(describe)
        assembler.receive(step)
        try drain()
    }

    private mutating func drain() throws(BrokenInvariant) {
        while let output = assembler.next() {
            _ = judge.judge(output).map(describe)
            take(output)
        }
    }

    /// Puts the parts of one message together: where they are cut depends on what was fed.
    private mutating func take(_ output: MessageAssembler.Output) {
        if case .part(let part, let offset, let isLast) = output,
            case .part(let before, let start, false)? = outputs.last,
            start + UInt64(before.count) == offset
        {
            outputs[outputs.count - 1] = .part(before + part, offset: start, isLast: isLast)
        } else if outputs.count < Self.maximumOutputs {
            outputs.append(output)
        }
    }

    private func describe(_ violation: FrameViolation) -> String {
        "\(violation.section): \(violation.text) (\(violation.closeCode.rawValue))"
    }
}

/// What an endpoint does that echoes the messages in `bytes`.
private func actionsOfEndpoint(
    getting bytes: Bytes, _ cuts: Cuts, _ setting: WebSocketSetting
) throws(BrokenInvariant) -> [WebSocketEndpoint.Action] {
    var options = WebSocketEndpoint.Options(role: setting.sender.peer, deflate: setting.deflate)
    options.maximumMessage = 4096
    options.compressionThreshold = 16
    var number: UInt32 = 0
    var endpoint = WebSocketEndpoint(options) {
        number &+= 0x9e37_79b9
        return MaskingKey(rawValue: number)
    }
    var all: [WebSocketEndpoint.Action] = []
    var cuts = cuts
    for part in cuts.parts(of: bytes) {
        var position = 0
        while true {
            let actions = endpoint.receive(part.span, at: &position, now: 0)
            if actions.isEmpty { break }
            all += actions
            for case .message(let opcode, let content) in actions {
                all += endpoint.send(opcode, content)
            }
        }
        try expect(position == part.count, "the endpoint did not take all bytes")
    }
    all += endpoint.peerClosed()
    try expect(endpoint.deadline == nil, "an endpoint without TCP waits for something")
    return all
}

/// What an endpoint sends is whole frames that break no rule.
private func checkSent(
    _ actions: [WebSocketEndpoint.Action], _ setting: WebSocketSetting
) throws(BrokenInvariant) {
    let role = setting.sender.peer
    var judge = FrameJudge(sender: role, deflate: setting.deflate != nil)
    var assembler = MessageAssembler(deflate: setting.deflate, sender: role)
    var decoder = FrameDecoder()
    for case .send(let bytes) in actions {
        var position = 0
        while let step = decoder.next(bytes.span, at: &position) {
            var found = judge.judge(step)
            assembler.receive(step)
            while let output = assembler.next() { found += judge.judge(output) }
            try expect(found.isEmpty, "the endpoint sends what is wrong: \(found)")
        }
        try expect(decoder.isIdle, "the endpoint sends a part of a frame")
    }
}

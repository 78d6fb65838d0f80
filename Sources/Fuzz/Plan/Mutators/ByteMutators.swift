import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows T: what may happen to bytes and connections of TCP.
    static let byteMutators: [Mutator] = [
        Mutator("T1", .sure, as: .app, summary: "a request in pieces", variants: 4) {
            editor, variant, choices in
            let http = RawHTTP(editor.contract)
            let name = editor.name("k")
            let bytes = variant == 1 ? http.head("GET", http.paths.status) : http.enqueue(name)
            let size =
                switch variant {
                case 0: 1 + choices.below(bytes.count - 1)
                case 1: 1
                case 2: 7
                default: bytes.count - 1
                }
            editor.insert(
                [.raw(pieces(bytes, size, pause: nanosecondsPerMillisecond))],
                at: editor.quietPlace(&choices))
            if variant != 1 { editor.insert([.get("results/\(name)")], at: editor.steps.count) }
            return true
        },
        Mutator(
            "T1", .sure, as: .app, .board, summary: "a link's bytes in small segments",
            needs: [.command], variants: 4
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let size = [1, 2, 5, 17][variant]
            let place = editor.opened
            editor.insert([.chop(editor.link, size)], at: place)
            return true
        },
        Mutator("T2", .sure, as: .app, .board, summary: "frames in one segment", variants: 2) {
            editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let link = editor.link
            var actions: [FuzzAction] = [.cork(link)]
            for _ in 0..<(variant == 0 ? 2 : 20) { actions.append(editor.goodMessage()) }
            editor.insert(actions + [.uncork(link), .seconds(1)], at: place)
            return true
        },
        Mutator("T2", .sure, as: .app, summary: "requests in one segment") {
            editor, _, choices in
            let http = RawHTTP(editor.contract)
            let one = http.head("GET", http.paths.status)
            editor.insert([.raw([.bytes(one + one + one)])], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("T3", .weak, as: .app, summary: "a request that stalls", variants: 4) {
            editor, variant, choices in
            let bytes = RawHTTP(editor.contract).enqueue(editor.name("k"))
            let count = [10, 50, bytes.count - 20, bytes.count - 1][variant]
            editor.insert(
                [
                    .raw([
                        .bytes(Bytes(bytes.prefix(count))),
                        .pause(Int64(choices.number(in: 5...40)) * nanosecondsPerSecond),
                        .bytes(Bytes(bytes.dropFirst(count))),
                    ])
                ], at: editor.quietPlace(&choices), isConcurrent: true)
            editor.insert([.bystander], at: editor.steps.count)
            return true
        },
        Mutator("T3", .weak, as: .app, .board, summary: "a frame that stalls", variants: 3) {
            editor, variant, choices in
            guard editor.hasLink else { return false }
            let frame = editor.rawFrame(editor.goodText())
            let count = [1, 5, frame.count - 1][variant]
            editor.insert(
                [
                    .bytes(editor.link, Bytes(frame.prefix(count))),
                    .seconds(choices.number(in: 2...20)),
                    .bytes(editor.link, Bytes(frame.dropFirst(count))), .seconds(1),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "T4", .sure, as: .app, summary: "a request that breaks off", variants: 24, weight: 4
        ) { editor, variant, choices in
            let name = editor.name("k")
            let bytes = RawHTTP(editor.contract).enqueue(name)
            let count = max(1, (bytes.count - 1) * (variant / 2 + 1) / 12)
            editor.insert(
                [
                    .raw([
                        .bytes(Bytes(bytes.prefix(count))), .pause(50 * nanosecondsPerMillisecond),
                        variant % 2 == 0 ? .fin : .reset,
                    ]), .milliseconds(300), .get("results/\(name)"),
                    .get(editor.phone.poll(limit: "50")),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "T4", .sure, as: .app, summary: "a link that breaks off", excludes: [.withoutLink],
            variants: 4, weight: 6
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let link = editor.link
            var actions: [FuzzAction] = []
            if variant > 1 {
                let frame = editor.rawFrame(editor.goodText())
                actions.append(
                    .bytes(link, Bytes(frame.prefix(1 + choices.below(frame.count - 1)))))
            }
            // What was said before has arrived.
            actions += [
                .milliseconds(300), variant % 2 == 0 ? .reset(link) : .fin(link),
                .milliseconds(500), .get("status"),
            ]
            editor.insert(actions, at: place)
            return true
        },
        Mutator("T5", .likely, as: .app, summary: "half of a connection is closed", variants: 2) {
            editor, variant, choices in
            let http = RawHTTP(editor.contract)
            let name = editor.name("k")
            let bytes = variant == 0 ? http.head("GET", http.paths.status) : http.enqueue(name)
            editor.insert([.raw([.bytes(bytes), .fin])], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("T6", .likely, as: .app, summary: "nothing is read while much is sent") {
            editor, _, choices in
            guard editor.hasLink, let writer = editor.writer else { return false }
            let place = editor.quietPlace(&choices)
            let link = editor.link
            var actions: [FuzzAction] = [.pause(link)]
            for _ in 0..<choices.number(in: 4...12) {
                let name = editor.name("c")
                let command = editor.values.command(
                    writer, id: name, number: 1, timeout: 2000, &choices
                ).encoded
                let long = JSONEdit.quoted("A", times: 20_000)
                actions.append(
                    .stimulate(
                        name, editor.withLongText(command, long) ?? command))
            }
            actions += [.bystander, .seconds(3), .resume(link), .seconds(1)]
            editor.insert(actions, at: place)
            return true
        },
        Mutator("T6", .likely, as: .board, summary: "nothing is read while the app sends") {
            editor, _, choices in
            let place = editor.quietPlace(&choices)
            let link = editor.link
            var actions: [FuzzAction] = [.pause(link)]
            for _ in 0..<choices.number(in: 4...12) { actions.append(editor.goodMessage()) }
            actions += [.seconds(3), .resume(link), .seconds(1)]
            editor.insert(actions, at: place)
            return true
        },
        Mutator("T7", .weak, as: .app, summary: "something else than HTTP", variants: 7) {
            editor, variant, choices in
            editor.insert(
                [.raw([.bytes(noise(variant, RawHTTP(editor.contract), &choices))]), .bystander],
                at: editor.quietPlace(&choices))
            return true
        },
        Mutator("T7", .weak, as: .app, .board, summary: "noise on a link") {
            editor, _, choices in
            guard editor.hasLink else { return false }
            let bytes = (0..<choices.number(in: 2...40)).map { _ in UInt8(choices.below(256)) }
            editor.insert([.bytes(editor.link, bytes), .seconds(1)], at: editor.steps.count)
            return true
        },
        Mutator("T8", .likely, as: .app, summary: "many half-open connections", variants: 2) {
            editor, variant, choices in
            let place = editor.quietPlace(&choices)
            let count = choices.number(in: 50...200)
            let bytes = Bytes("GET /api/phone".utf8)
            let parts: [FuzzRawPart] =
                variant == 0
                ? [.bytes(bytes), .pause(5 * nanosecondsPerSecond), .fin] : [.bytes(bytes), .reset]
            let next = editor.insert(
                Array(repeating: .raw(parts), count: count), at: place, isConcurrent: true)
            editor.insert([.bystander], at: next)
            return true
        },
        Mutator(
            "T9", .sure, as: .app, summary: "silence without an end", excludes: [.withoutLink],
            variants: 8, weight: 4
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let link = editor.link
            let sweep = Int(max(editor.profile.heartbeatSweepMilliseconds, 15_000))
            let limit = Int(editor.contract.timing.heartbeatLimitMilliseconds)
            editor.insert(
                [
                    .milliseconds(sweep * variant / 8), .stall(link),
                    .milliseconds(limit + sweep + 1500), .get("status"), .resume(link),
                    .seconds(1),
                ], at: place)
            return true
        },
        Mutator("T9", .likely, as: .board, summary: "silence without an end", weight: 3) {
            editor, _, choices in
            let place = editor.quietPlace(&choices)
            editor.insert(
                [
                    .stall(editor.link), .seconds(choices.number(in: 20...40)),
                    .accept(editor.name("l"), 30 * nanosecondsPerSecond), .seconds(1),
                ], at: place)
            return true
        },
    ]

    /// Bytes in pieces of that size, with a pause between them.
    static func pieces(_ bytes: Bytes, _ size: Int, pause: Int64) -> [FuzzRawPart] {
        var parts: [FuzzRawPart] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + max(1, size))
            if start > 0 { parts.append(.pause(pause)) }
            parts.append(.bytes(Bytes(bytes[start..<end])))
            start = end
        }
        return parts
    }

    private static func noise(
        _ variant: Int, _ http: RawHTTP, _ choices: inout Choices
    ) -> Bytes {
        switch variant {
        case 0: (0..<choices.number(in: 2...200)).map { _ in UInt8(choices.below(256)) }
        // A hello of TLS 1.2, and the beginning of HTTP/2 (RFC 9113 §3.4).
        case 1: [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]
        case 2: Bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        case 3: Bytes(repeating: UInt8(ascii: "A"), count: 1 << 20)
        case 4:
            http.head(
                "GET", http.paths.status,
                ["X: " + String(decoding: Bytes(repeating: 0x61, count: 1 << 20), as: UTF8.self)])
        case 5:
            http.head(
                "GET", http.paths.status, Array(repeating: "X: y", count: 20_000))
        default:
            http.post(
                http.paths.commands,
                Bytes(repeating: UInt8(ascii: " "), count: 1 << choices.number(in: 20...23)))
        }
    }
}

// MARK: - Messages that are right

extension ScriptEditor {
    /// The text of a message that may come at any time: a heartbeat, or a command that reads.
    mutating func goodText() -> Bytes {
        switch played {
        case .app: return Bytes(#"{"id":"heartbeat"}"#.utf8)
        case .board:
            let reader = contract.commands.first { $0.effect == .reads && $0.payload.isEmpty }
            return JSON.object([
                .init("id", .string(name("x"))),
                .init("type", .string(reader?.name ?? contract.commands[0].name)),
            ]).encoded
        }
    }

    mutating func goodMessage() -> FuzzAction { .text(link, goodText()) }

    /// A frame of the played side, as bytes.
    func rawFrame(_ text: Bytes) -> Bytes {
        played == .app
            ? RawHTTP.masked(.text, text) : Frame(opcode: .text, payload: text).encoded()
    }

    /// The type that overwrites a text, which can be as long as one likes.
    var writer: Contract.CommandType? { contract.commands.first { $0.effect == .overwrites } }

    /// A command of `writer` with another text; JSON with its quotes.
    func withLongText(_ command: Bytes, _ text: String) -> Bytes? {
        guard let field = writer?.payload.first else { return nil }
        return JSONEdit.setting(command, ["payload", field.name], to: text)
    }
}

import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows F1 to F3, F9, F11, F13 and F14: frames that are right, or on the edge.
    static let frameMutators: [Mutator] = [
        Mutator(
            "F1", .sure, as: .app, .board, summary: "messages in fragments", needs: [.command],
            variants: 5, weight: 4
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            editor.insert(
                [.fragment(editor.link, [1, 2, 7, 16, 60][variant])], at: editor.opened)
            return true
        },
        Mutator("F1", .sure, as: .app, .board, summary: "a message in fragments", variants: 6) {
            editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let text = editor.wideText()
            let cut =
                variant < 4
                ? 1 + choices.below(text.count - 1)
                : (text.firstIndex { $0 >= 0x80 } ?? 0) + (variant == 4 ? 1 : 2)
            var parts = [Bytes(text.prefix(cut)), Bytes(text.dropFirst(cut))]
            if variant == 1 { parts.insert([], at: 0) }
            if variant == 2 { parts.insert([], at: 1) }
            if variant == 3 { parts.append([]) }
            editor.insert(editor.frames(parts) + [.seconds(1)], at: place)
            return true
        },
        Mutator(
            "F2", .sure, as: .app, .board, summary: "control frames between fragments",
            variants: 3
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let text = editor.goodText()
            var actions = editor.frames([
                Bytes(text.prefix(4)), Bytes(text.dropFirst(4).prefix(6)),
                Bytes(text.dropFirst(10)),
            ])
            let control = FuzzFrame(variant == 1 ? .pong : .ping, Bytes("between".utf8))
            actions.insert(.frame(editor.link, control), at: 1)
            if variant == 2 { actions.insert(.frame(editor.link, control), at: 3) }
            editor.insert(actions + [.seconds(1)], at: place)
            return true
        },
        Mutator("F3", .sure, as: .app, .board, summary: "pings", variants: 5) {
            editor, variant, choices in
            guard editor.hasLink else { return false }
            let sizes = [[0], [1], [125], [4, 5, 6], Array(repeating: 8, count: 50)][variant]
            editor.insert(
                sizes.enumerated().map { index, size in
                    .frame(
                        editor.link,
                        FuzzFrame(.ping, Bytes(repeating: UInt8(97 + index % 26), count: size)))
                } + [.seconds(1)], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "F9", .sure, as: .app, .board, summary: "close codes that may cross",
            variants: goodCodes.count + 2
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let link = editor.link
            var close: FuzzAction = .close(link, code: nil, reason: [])
            if variant < goodCodes.count {
                close = .close(link, code: goodCodes[variant], reason: Bytes("bye é".utf8))
            } else if variant > goodCodes.count {
                close = .close(link, code: 1000, reason: Bytes(repeating: 0x61, count: 123))
            }
            editor.insert([close, .seconds(2)], at: editor.steps.count)
            return true
        },
        Mutator(
            "F11", .weak, as: .app, .board, summary: "binary and empty messages", variants: 3
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let message: FuzzAction =
                switch variant {
                case 0: .binary(editor.link, editor.goodText())
                case 1: .text(editor.link, Bytes())
                default: .binary(editor.link, Bytes())
                }
            editor.insert([message, .seconds(1)], at: place)
            return true
        },
        Mutator(
            "F13", .likely, as: .app, .board, summary: "long messages that are legal",
            variants: 4
        ) { editor, variant, choices in
            let size = [125, 126, 16_384, 65_536][variant]
            return editor.sendLong(size, &choices)
        },
        Mutator("F13", .weak, as: .app, .board, summary: "very long messages", variants: 4) {
            editor, variant, choices in
            let size = [100_000, 1 << 20, (1 << 20) + 1, 4 << 20][variant]
            return editor.sendLong(size, &choices)
        },
        Mutator(
            "F14", .sure, as: .app, summary: "offers of compression",
            variants: deflateOffers.count
        ) { editor, variant, choices in
            let http = RawHTTP(editor.contract)
            editor.insert(
                [
                    .raw([
                        .bytes(
                            http.handshake([
                                "Sec-WebSocket-Extensions: " + deflateOffers[variant]
                            ])), .pause(300 * nanosecondsPerMillisecond),
                        .bytes(RawHTTP.masked(.close, [3, 0xe8])),
                    ])
                ], at: editor.hasLink ? editor.steps.count : editor.quietPlace(&choices))
            return true
        },
        Mutator("F14", .sure, as: .app, summary: "compressed messages", variants: 3) {
            editor, variant, choices in
            let link = editor.name("l")
            let text = Bytes(#"{"id":"heartbeat"}"#.utf8)
            guard var payload = Deflater(contextTakeover: false)?.compress(text.span) else {
                return false
            }
            // With an empty block behind, and with a stored one.
            if variant == 1 { payload += [0x00] }
            if variant == 2, let stored = Deflater(contextTakeover: false, level: 0) {
                payload = stored.compress(text.span)
            }
            var frame = FuzzFrame(.text, payload)
            frame.rsv = 4
            var dial = editor.phone.dial
            dial.offersDeflate = true
            editor.insert(
                [.connect(link, dial), .frame(link, frame), .seconds(1)], at: editor.steps.count)
            return true
        },
    ]

    private static let goodCodes: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 3999, 4000, 4999,
    ]

    private static let deflateOffers = [
        "permessage-deflate", "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=10",
        "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=15; server_no_context_takeover",
        "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; unknown=1", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; unknown, permessage-deflate", "x-webkit-deflate-frame",
        "foo, bar; baz=1, permessage-deflate", "permessage-deflate; client_max_window_bits=\"12\"",
    ]
}

extension ScriptEditor {
    /// A right message with characters of several bytes in it.
    mutating func wideText() -> Bytes {
        switch played {
        case .app:
            var choices = Choices(given: [])
            guard let event = values.environment else { return goodText() }
            let json = values.event(event, number: 1, richness: 0, &choices).encoded
            return JSONEdit.adding(json, ["data"], #""locale":"中文😀""#) ?? json
        case .board:
            var choices = Choices(given: [])
            guard let writer else { return goodText() }
            let json = values.command(writer, id: name("x"), number: 1, &choices).encoded
            return withLongText(json, #""中文😀""#) ?? json
        }
    }

    /// One message as frames with those payloads.
    func frames(_ parts: [Bytes]) -> [FuzzAction] {
        parts.enumerated().map { index, part in
            .frame(
                link,
                FuzzFrame(
                    index == 0 ? .text : .continuation, fin: index == parts.count - 1, part))
        }
    }

    /// A right message of about so many bytes.
    mutating func sendLong(_ size: Int, _ choices: inout Choices) -> Bool {
        guard hasLink else { return false }
        let place = quietPlace(&choices)
        let text = JSONEdit.quoted("A", times: max(1, size - 200))
        switch played {
        case .app:
            guard let event = values.environment else { return false }
            let json = values.event(event, number: number(), richness: 0, &choices).encoded
            guard let long = JSONEdit.adding(json, ["data"], #""system_version":\#(text)"#) else {
                return false
            }
            insert([.text(link, long), .seconds(2), .get("status")], at: place)
        case .board:
            guard let writer else { return false }
            let name = self.name("c")
            let json = values.command(writer, id: name, number: 1, &choices).encoded
            guard let long = withLongText(json, text) else { return false }
            insert([.command(name, long), .await(name, 8 * nanosecondsPerSecond)], at: place)
        }
        return true
    }
}

import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows F4 to F8, F10, F12 and F14: frames that are not allowed.
    ///
    /// They end the connection, so they come last on it.
    static let frameViolations: [Mutator] = [
        Mutator(
            "F4", .sure, as: .app, .board, summary: "control frames that are not allowed",
            variants: 6
        ) { editor, variant, _ in
            let opcode: Opcode = [.ping, .pong, .close][variant % 3]
            var frame = FuzzFrame(opcode, Bytes(repeating: 0x61, count: 126))
            if opcode == .close { frame.payload = [3, 0xe8] + frame.payload }
            if variant > 2 { frame = FuzzFrame(opcode, fin: false, [3, 0xe8]) }
            return editor.sendLast([frame])
        },
        Mutator(
            "F4", .sure, as: .app, .board, summary: "reserved opcodes and bits", variants: 15
        ) { editor, variant, _ in
            let opcodes: [UInt8] = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]
            if variant < opcodes.count {
                return editor.sendLast([FuzzFrame(Opcode(rawValue: opcodes[variant]), [0x61])])
            }
            var frame = FuzzFrame(.text, editor.goodText())
            frame.rsv = [1, 2, 3, 5, 7][variant - opcodes.count]
            return editor.sendLast([frame])
        },
        Mutator("F5", .sure, as: .app, .board, summary: "a mask the wrong way", variants: 3) {
            editor, variant, _ in
            var frame = FuzzFrame(variant == 0 ? .text : .ping, editor.goodText())
            if variant == 2 { frame = FuzzFrame(.close, [3, 0xe8]) }
            frame.isMasked = editor.played == .board
            return editor.sendLast([frame])
        },
        Mutator("F6", .likely, as: .app, .board, summary: "lengths beyond all bounds", variants: 4)
        {
            editor, variant, _ in
            var frame = FuzzFrame(.text, Bytes("x".utf8))
            frame.announced = [1 << 63, .max, 1 << 62, 1 << 40][variant]
            frame.lengthForm = .long
            return editor.sendLast([frame])
        },
        Mutator("F6", .weak, as: .app, .board, summary: "lengths that are too long", variants: 2) {
            editor, variant, _ in
            var frame = FuzzFrame(.text, editor.goodText())
            frame.lengthForm = variant == 0 ? .medium : .long
            return editor.sendLast([frame])
        },
        Mutator("F7", .sure, as: .app, .board, summary: "fragments out of order", variants: 4) {
            editor, variant, _ in
            let text = editor.goodText()
            let first = FuzzFrame(.text, fin: false, text)
            let frames: [FuzzFrame] =
                switch variant {
                case 0: [FuzzFrame(.continuation, text)]
                case 1: [FuzzFrame(.continuation, fin: false, text)]
                case 2: [first, FuzzFrame(.text, text)]
                default: [first, FuzzFrame(.binary, fin: false, text)]
                }
            return editor.sendLast(frames)
        },
        Mutator(
            "F8", .sure, as: .app, .board, summary: "text that is not UTF-8",
            variants: brokenTexts.count * 3
        ) { editor, variant, choices in
            let broken = brokenTexts[variant / 3]
            let text = Bytes(#"{"id":""#.utf8) + broken + Bytes(#""}"#.utf8)
            if variant % 3 == 0 { return editor.sendLast([FuzzFrame(.text, text)]) }
            if variant % 3 == 1 {
                let cut = 7 + choices.below(broken.count)
                return editor.sendLast([
                    FuzzFrame(.text, fin: false, Bytes(text.prefix(cut))),
                    FuzzFrame(.continuation, Bytes(text.dropFirst(cut))),
                ])
            }
            return editor.sendLast([FuzzFrame(.close, [3, 0xe8] + broken)])
        },
        Mutator(
            "F9", .likely, as: .app, .board, summary: "close codes that may not cross",
            variants: badCodes.count + 1
        ) { editor, variant, _ in
            guard variant < badCodes.count else {
                return editor.sendLast([FuzzFrame(.close, [3])])
            }
            let code = badCodes[variant]
            return editor.sendLast([
                FuzzFrame(.close, [UInt8(code >> 8), UInt8(code & 0xff)])
            ])
        },
        Mutator("F10", .sure, as: .app, .board, summary: "frames behind a close", variants: 3) {
            editor, variant, _ in
            let close = FuzzFrame(.close, [3, 0xe8])
            let behind: FuzzFrame =
                switch variant {
                case 0: FuzzFrame(.text, editor.goodText())
                case 1: close
                default: FuzzFrame(.ping, Bytes("late".utf8))
                }
            return editor.sendLast([close, behind])
        },
        Mutator("F12", .sure, as: .app, .board, summary: "compression nobody agreed on") {
            editor, _, _ in
            var frame = FuzzFrame(.text, [0xaa, 0x56, 0xca, 0x4c, 0x51, 0xb2, 0x52, 0x00, 0x00])
            frame.rsv = 4
            return editor.sendLast([frame])
        },
        Mutator("F14", .sure, as: .app, summary: "a compressed stream that is broken", variants: 4)
        {
            editor, variant, choices in
            let link = editor.name("l")
            let payload: Bytes =
                switch variant {
                case 0: [0xff, 0xff, 0xff, 0xff]
                case 1: [0xaa, 0x56]
                case 2: (0..<choices.number(in: 4...40)).map { _ in UInt8(choices.below(256)) }
                default: bomb
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

    private static let brokenTexts: [Bytes] = [
        [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe4, 0xb8],
        [0x80], [0xf0, 0x82, 0x82, 0xac],
    ]

    /// Four megabytes in as many kilobytes.
    private static let bomb: Bytes = {
        let text = Bytes(repeating: UInt8(ascii: "A"), count: 4 << 20)
        return Deflater(contextTakeover: false)?.compress(text.span) ?? []
    }()

    private static let badCodes: [UInt16] = [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ]
}

extension ScriptEditor {
    /// Sends frames at the end of the conversation, over the link that is open then.
    mutating func sendLast(_ frames: [FuzzFrame]) -> Bool {
        guard let link = lastLink else { return false }
        insert(frames.map { .frame(link, $0) } + [.seconds(1)], at: steps.count)
        return true
    }

    /// The link that was opened last; nil without one.
    var lastLink: String? {
        for step in steps.reversed() {
            switch step.action {
            case .connect(let name, _), .accept(let name, _): return name
            default: break
            }
        }
        return nil
    }
}

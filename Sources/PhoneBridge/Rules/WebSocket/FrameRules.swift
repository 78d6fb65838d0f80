import Capture
import Wire

/// The rules for WebSocket frames and messages: one for each kind of `FrameViolation`, and that
/// who receives a broken one fails the connection.
struct FrameRules: RuleGroup {
    static let rules: [Rule] = [
        reservedBits, reservedOpcode, unmasked, masked, controlTooLong, controlFragmented,
        lengthNotMinimal, lengthTopBit, strayContinuation, interruptedMessage, textNotUTF8,
        closeOfOneByte, closeCodeForbidden, closeCodeUnknown, closeReasonNotUTF8, dataAfterClose,
        secondClose, notInflatable, waitsForAnswer, failsBrokenFrame, failsInvalidText,
    ]

    static let reservedBits = Rule(
        "ws-reserved-bits", .sure, nil, section: "RFC 6455 §5.2",
        "The reserved bits of a frame are 0 unless an extension that was agreed on uses them")
    static let reservedOpcode = Rule(
        "ws-reserved-opcode", .sure, nil, section: "RFC 6455 §5.2",
        "A frame has one of the opcodes that are defined")
    static let unmasked = Rule(
        "ws-client-masks", .sure, .app, section: "RFC 6455 §5.1",
        "Each frame of the app is masked")
    static let masked = Rule(
        "ws-server-does-not-mask", .sure, .board, section: "RFC 6455 §5.1",
        "No frame of the board is masked")
    static let controlTooLong = Rule(
        "ws-control-length", .sure, nil, section: "RFC 6455 §5.5",
        "A control frame has at most 125 bytes")
    static let controlFragmented = Rule(
        "ws-control-whole", .sure, nil, section: "RFC 6455 §5.5",
        "A control frame is not fragmented")
    static let lengthNotMinimal = Rule(
        "ws-length-minimal", .sure, nil, section: "RFC 6455 §5.2",
        "A frame's length takes no more bytes than it needs")
    static let lengthTopBit = Rule(
        "ws-length-top-bit", .sure, nil, section: "RFC 6455 §5.2",
        "The highest bit of a 64-bit length is 0")
    static let strayContinuation = Rule(
        "ws-continuation-continues", .sure, nil, section: "RFC 6455 §5.4",
        "A continuation frame follows the first frame of a message")
    static let interruptedMessage = Rule(
        "ws-message-uninterrupted", .sure, nil, section: "RFC 6455 §5.4",
        "A message begins when the one before it has ended")
    static let textNotUTF8 = Rule(
        "ws-text-utf8", .sure, nil, section: "RFC 6455 §8.1",
        "A text message is UTF-8")
    static let closeOfOneByte = Rule(
        "ws-close-payload", .sure, nil, section: "RFC 6455 §5.5.1",
        "A close frame is empty or begins with a code of two bytes")
    static let closeCodeForbidden = Rule(
        "ws-close-code", .sure, nil, section: "RFC 6455 §7.4.1, §7.4.2",
        "The close codes below 1000, and 1005, 1006 and 1015, never cross the wire")
    static let closeCodeUnknown = Rule(
        "ws-close-code-registered", .likely, nil, section: "RFC 6455 §7.4.2",
        "A close code is one that is registered, or one of 3000 to 4999")
    static let closeReasonNotUTF8 = Rule(
        "ws-close-reason-utf8", .sure, nil, section: "RFC 6455 §5.5.1",
        "The reason in a close frame is UTF-8")
    static let dataAfterClose = Rule(
        "ws-no-data-after-close", .sure, nil, section: "RFC 6455 §5.5.1",
        "No data frame follows the sender's close frame")
    static let secondClose = Rule(
        "ws-one-close", .weak, nil, section: "RFC 6455 §5.5.1",
        "Each side sends one close frame")
    static let notInflatable = Rule(
        "ws-inflatable", .sure, nil, section: "RFC 7692 §7.2.2",
        "A compressed message can be decompressed with what was agreed on")
    static let waitsForAnswer = Rule(
        "ws-waits-for-answer", .sure, .app, section: "RFC 6455 §4.1",
        "The app sends no frame before the board has answered its handshake")
    static let failsBrokenFrame = Rule(
        "ws-fails-broken-frame", .sure, nil, section: "RFC 6455 §5.1, §5.2",
        "Who gets a frame with a wrong mask, reserved bits or a reserved opcode fails the connection"
    )
    static let failsInvalidText = Rule(
        "ws-fails-invalid-text", .sure, nil, section: "RFC 6455 §8.1",
        "Who gets a text message that is not UTF-8 fails the connection")

    private struct Connection {
        var app: FrameEventJudge
        var board: FrameEventJudge
        /// Frames of the app came before the board's answer: the first one's `seq`.
        var early: Int?
        /// What a side sent for which the other one must fail the connection.
        var failures: [Side: Failure] = [:]
        var closed: Set<Side> = []
        var counts = Counts()
    }

    private struct Failure {
        var rule: Rule
        var time: Int64
        var seq: Int
        var text: String
    }

    /// Frames since they were last counted in the context.
    private struct Counts {
        var frames = 0
        var data = 0
        var controls = 0
        var closes = 0
        var compressed = 0
    }

    /// Who goes on for so long behind a broken frame has not failed the connection: ten seconds.
    private static let patience: Int64 = 10_000

    private var connections = ConnectionTable<Connection>()
    /// False for sessions that do not have the frames as they crossed.
    private var hasWire = true
    /// Whether the events of both sides stand in the order of their causes.
    private var isOrdered = true

    static let interests: RuleInterests = [
        .sessions, .opens, .responses, .gaps, .data, .frames, .messages, .pieces, .notes, .hole,
        .gone,
    ]

    init(contract: Contract, profile: Profile) {}

    mutating func receive(_ event: Event, _ context: inout RuleContext) {
        switch event.kind {
        case .session(let info):
            hasWire = info.source != "har"
            isOrdered = info.source != "pcap" && info.source != "interface"
        case .open(let open):
            guard let continued = open.continued, continued.upgraded else { return }
            connections[event.conn] = Self.joined(continued.extensions, knows: true)
        case .response(let response) where response.status == 101:
            upgraded(by: event, response, &context)
        case .gap(let gap):
            // The recorder went on decoding what it could not write.
            missed(event.conn, event.from, hasBoundaries: gap.why == "disk_full")
        case .data:
            missed(event.conn, event.from, hasBoundaries: false)
        case .frame, .message, .piece, .note:
            judge(event, &context)
        case .request, .response, .close, .end:
            break
        }
    }

    mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
        switch fact.kind {
        case .hole where fact.conn == 0:
            for conn in connections.keys { missed(conn, nil, hasBoundaries: false) }
        case .closed, .forgotten:
            if let connection = connections.removeValue(forKey: fact.conn) {
                Self.count(connection.counts, &context)
            }
        default: break
        }
    }

    mutating func finish(at time: Int64, _ context: inout RuleContext) {
        for connection in connections.values { Self.count(connection.counts, &context) }
        connections = ConnectionTable()
    }

    // MARK: - Connections

    private static func joined(_ extensions: String?, knows: Bool) -> Connection {
        var connection = Connection(
            app: FrameEventJudge(.app, extensions: extensions, knowsExtensions: knows),
            board: FrameEventJudge(.board, extensions: extensions, knowsExtensions: knows))
        connection.app.missed(hasBoundaries: knows)
        connection.board.missed(hasBoundaries: knows)
        return connection
    }

    private mutating func upgraded(
        by event: Event, _ response: Event.Response, _ context: inout RuleContext
    ) {
        guard response.headers.has(token: "websocket", in: "Upgrade") else { return }
        let values = response.headers.values(of: "Sec-WebSocket-Extensions")
        let extensions = values.isEmpty ? nil : values.joined(separator: ", ")
        let board = FrameEventJudge(.board, extensions: extensions, knowsExtensions: true)
        if let early = connections[event.conn]?.early, hasWire, isOrdered {
            context.exercise(Self.waitsForAnswer)
            context.report(
                Self.waitsForAnswer, by: .app, conn: event.conn, events: [early, event.seq],
                "the app sent a frame before the answer to its handshake")
        }
        if connections[event.conn]?.early != nil {
            connections[event.conn]?.board = board
        } else {
            context.exercise(Self.waitsForAnswer)
            connections[event.conn] = Connection(
                app: FrameEventJudge(.app, extensions: extensions, knowsExtensions: true),
                board: board)
        }
    }

    private mutating func missed(_ conn: Int, _ side: Side?, hasBoundaries: Bool) {
        if side != .board { connections[conn]?.app.missed(hasBoundaries: hasBoundaries) }
        if side != .app { connections[conn]?.board.missed(hasBoundaries: hasBoundaries) }
        connections[conn]?.failures = [:]
    }

    // MARK: - Frames

    private mutating func judge(_ event: Event, _ context: inout RuleContext) {
        guard hasWire, let side = event.from else { return }
        if connections[event.conn] == nil {
            guard case .frame = event.kind else { return }
            let isWhole = context.connections[event.conn]?.isWhole ?? false
            connections[event.conn] = Self.joined(nil, knows: false)
            if isWhole, side == .app { connections[event.conn]?.early = event.seq }
        }
        let found =
            side == .app
            ? connections[event.conn]?.app.judge(event)
            : connections[event.conn]?.board.judge(event)
        if case .frame(let frame) = event.kind {
            Self.note(
                frame, event, side, &connections[event.conn, default: Self.unknown], &context)
        }
        guard let found, !found.isEmpty else { return }
        for violation in found {
            Self.report(
                violation, event, side, &connections[event.conn, default: Self.unknown], &context)
        }
    }

    private static let unknown = joined(nil, knows: false)

    private static func note(
        _ frame: Event.FrameRecord, _ event: Event, _ side: Side,
        _ connection: inout Connection, _ context: inout RuleContext
    ) {
        connection.counts.frames += 1
        if frame.header.opcode.isControl {
            connection.counts.controls += 1
            if frame.header.opcode == .close {
                connection.counts.closes += 1
                connection.closed.insert(side)
            }
            return
        }
        connection.counts.data += 1
        if frame.header.rsv & 4 != 0 { connection.counts.compressed += 1 }
        guard !connection.failures.isEmpty, let failure = connection.failures[side.peer],
            !connection.closed.contains(side),
            event.time.clampedSubtracting(failure.time) > context.nanoseconds(patience)
        else { return }
        connection.failures[side.peer] = nil
        context.report(
            failure.rule, by: side, conn: event.conn, events: [failure.seq, event.seq],
            "the \(side.rawValue) went on behind this: \(failure.text)")
    }

    private static func report(
        _ violation: FrameViolation, _ event: Event, _ side: Side,
        _ connection: inout Connection, _ context: inout RuleContext
    ) {
        guard let rule = rule(for: violation) else { return }
        context.report(
            rule, by: side, conn: event.conn, events: [event.seq], violation.text)
        guard connection.failures[side] == nil, !connection.closed.contains(side) else { return }
        let duty: Rule
        switch violation {
        case .reservedBits, .reservedOpcode, .unmasked, .masked: duty = failsBrokenFrame
        case .textNotUTF8: duty = failsInvalidText
        default: return
        }
        context.exercise(duty)
        connection.failures[side] = Failure(
            rule: duty, time: event.time, seq: event.seq, text: violation.text)
    }

    /// The rule that a violation breaks; nil for what is legal all the same.
    static func rule(for violation: FrameViolation) -> Rule? {
        switch violation {
        case .reservedBits: reservedBits
        case .reservedOpcode: reservedOpcode
        case .unmasked: unmasked
        case .masked: masked
        case .controlTooLong: controlTooLong
        case .controlFragmented: controlFragmented
        case .lengthNotMinimal: lengthNotMinimal
        case .lengthTopBit: lengthTopBit
        case .strayContinuation: strayContinuation
        case .interruptedMessage: interruptedMessage
        case .textNotUTF8: textNotUTF8
        case .closeOfOneByte: closeOfOneByte
        case .closeCode(let code):
            code.rawValue < 1000 || [1005, 1006, 1015].contains(code.rawValue)
                ? closeCodeForbidden : closeCodeUnknown
        case .closeReasonNotUTF8: closeReasonNotUTF8
        case .afterClose(.close): secondClose
        // A ping that crossed the close frame has to be answered (RFC 6455 §5.5.2).
        case .afterClose(let opcode): opcode.isControl ? nil : dataAfterClose
        case .notInflatable: notInflatable
        }
    }

    /// Rules are put to the test by each frame of their kind; counted once a connection.
    private static func count(_ counts: Counts, _ context: inout RuleContext) {
        let rows: [(Int, [Rule])] = [
            (
                counts.frames,
                [reservedBits, reservedOpcode, unmasked, masked, lengthNotMinimal, lengthTopBit]
            ),
            (counts.data, [strayContinuation, interruptedMessage, textNotUTF8]),
            (counts.controls, [controlTooLong, controlFragmented]),
            (
                counts.closes,
                [
                    closeOfOneByte, closeCodeForbidden, closeCodeUnknown, closeReasonNotUTF8,
                    dataAfterClose, secondClose,
                ]
            ),
            (counts.compressed, [notInflatable]),
        ]
        for (count, rules) in rows where count > 0 {
            for rule in rules { context.exercise(rule, times: count) }
        }
    }
}

import Wire

/// How a command or a result travels.
package enum Route: String, Sendable {
    case websocket
    /// The board's HTTP queue.
    case queue
}

/// Which commands were sent, and how they were answered, by id.
///
/// A repeated id is a retry or redelivery of the same logical command (contract, "Idempotence").
/// Memory is bounded: beyond `maximumCommands` a quarter is forgotten, answered ones first, the
/// longest untouched first; a forgotten one's late result then counts as one to an unknown id.
package struct CommandTracker: Sendable {
    /// One command, as far as it is known now.
    package struct Command: Sendable, Equatable {
        /// Its id; cut to `maximumText` bytes.
        package var id: String
        /// Its type; nil for one of over `maximumText` bytes.
        package var type: String?
        /// The route of its last sending.
        package var route: Route
        /// When it was enqueued, first sent or first handed out, in nanoseconds of the session.
        package var firstSeen: Int64
        /// When it was last sent or handed out; that of being enqueued while it was not.
        package var lastSent: Int64
        /// How often it was sent or handed out; 0 while it waits in the queue.
        package var sendings: Int
        /// How long an answer may take, in nanoseconds from `lastSent`.
        package var timeout: Int64
        /// Results so far, and those since it was last sent.
        package var results: Int
        package var isAnswered: Bool
        /// When the last result came; nil without one.
        package var lastResult: Int64?
    }

    /// How a result relates to what was sent.
    package struct Pairing: Sendable, Equatable {
        package var type: String?
        /// From the last sending, in nanoseconds; nil where none was seen.
        package var latency: Int64?
        /// It came after the time that the command allowed.
        package var isLate: Bool
        /// Another one came before, and the command was not sent again in between.
        package var isDuplicate: Bool
    }

    /// Bytes of an id or type that are kept: ids and types of the contract have a tenth of it.
    package static let maximumText = 256

    private let maximumCommands: Int
    private var commands: [Key: Command] = [:]

    /// Makes a tracker that remembers up to `maximumCommands`.
    ///
    /// 65,536 are twelve hours with three commands every two seconds.
    package init(maximumCommands: Int = 65_536) {
        self.maximumCommands = max(4, maximumCommands)
    }

    /// Commands that are remembered.
    package var count: Int { commands.count }

    /// The command with this id, if it was sent and is remembered.
    package func command(id: String) -> Command? { commands[Key(id.utf8.span)] }

    /// Whether a command with this id was sent and is remembered.
    package func contains(id: String) -> Bool { contains(id: id.utf8.span) }

    /// The same for an id as its UTF-8.
    func contains(id: Span<UInt8>) -> Bool { commands[Key(id)] != nil }

    /// Commands without a result since they were last sent or enqueued, in that order.
    package var unanswered: [Command] {
        commands.values.filter { !$0.isAnswered }
            .sorted { ($0.lastSent, $0.id) < ($1.lastSent, $1.id) }
    }

    /// A command was sent, or handed out by the queue, at `time`.
    package mutating func sent(
        id: String, type: String, timeoutMilliseconds: Int64, route: Route, at time: Int64
    ) {
        sent(
            id: id.utf8.span, type: type, timeoutMilliseconds: timeoutMilliseconds, route: route,
            at: time)
    }

    /// The same for an id as its UTF-8.
    mutating func sent(
        id: Span<UInt8>, type: String, timeoutMilliseconds: Int64, route: Route, at time: Int64
    ) {
        let key = Key(id)
        let (nanoseconds, overflow) = max(0, timeoutMilliseconds)
            .multipliedReportingOverflow(by: 1_000_000)
        let timeout = overflow ? Int64.max : nanoseconds
        if let index = commands.index(forKey: key) {
            return commands.values[index].sentAgain(
                type: Self.kept(type), timeout: timeout, route: route, at: time)
        }
        if commands.count >= maximumCommands { forgetSome() }
        commands[key] = Command(
            id: Self.cut(id), type: Self.kept(type), route: route, firstSeen: time,
            lastSent: time, sendings: 1, timeout: timeout, results: 0, isAnswered: false,
            lastResult: nil)
    }

    /// A tool put a command into the queue at `time`; nothing changes for an id that is known.
    ///
    /// It gives a result its type where the handing out was not seen.
    package mutating func enqueued(id: String, type: String, at time: Int64) {
        let key = Key(id.utf8.span)
        guard commands[key] == nil else { return }
        if commands.count >= maximumCommands { forgetSome() }
        commands[key] = Command(
            id: Self.cut(id.utf8.span), type: Self.kept(type), route: .queue, firstSeen: time,
            lastSent: time, sendings: 0, timeout: .max, results: 0, isAnswered: false,
            lastResult: nil)
    }

    /// A result came at `time`; nil where no such command is known.
    package mutating func answered(id: String, at time: Int64) -> Pairing? {
        answered(id: id.utf8.span, at: time)
    }

    /// The same for an id as its UTF-8.
    mutating func answered(id: Span<UInt8>, at time: Int64) -> Pairing? {
        guard let index = commands.index(forKey: Key(id)) else { return nil }
        return commands.values[index].answered(at: time)
    }

    // MARK: - Memory

    /// Forgets a quarter: what was answered first, then what was sent longest ago.
    private mutating func forgetSome() {
        // Sorted without the texts, which would be counted at each step.
        let byAge = commands.map { key, command in
            (
                isAnswered: command.isAnswered, time: command.lastResult ?? command.lastSent,
                key: key
            )
        }.sorted { $0.isAnswered == $1.isAnswered ? $0.time < $1.time : $0.isAnswered }
        for (_, _, key) in byAge.prefix(max(1, maximumCommands / 4)) { commands[key] = nil }
    }

    private static func kept(_ text: String) -> String? {
        text.utf8.count <= maximumText ? text : nil
    }

    private static func cut(_ id: Span<UInt8>) -> String {
        unsafe id.extracting(first: maximumText).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// An id of any length in sixteen bytes: two independent hashes of its UTF-8.
    ///
    /// The hashes are seeded per process, so nobody can choose ids that collide; equal by
    /// chance is one pair in 2¹²⁸. Unlike `String`, it tells canonically equivalent ids apart.
    private struct Key: Hashable {
        let first: Int
        let second: Int

        init(_ id: Span<UInt8>) {
            var first = Hasher()
            unsafe id.withUnsafeBytes { unsafe first.combine(bytes: $0) }
            var second = first
            second.combine(1 as UInt8)
            self.first = first.finalize()
            self.second = second.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(first) }
    }
}

extension CommandTracker.Command {
    fileprivate mutating func sentAgain(
        type: String?, timeout: Int64, route: Route, at time: Int64
    ) {
        self.type = type
        self.route = route
        self.timeout = timeout
        lastSent = time
        sendings += 1
        isAnswered = false
    }

    fileprivate mutating func answered(at time: Int64) -> CommandTracker.Pairing {
        let latency = max(0, time.subtractingReportingOverflow(lastSent).partialValue)
        let wasAnswered = isAnswered
        results += 1
        isAnswered = true
        lastResult = time
        return CommandTracker.Pairing(
            type: type, latency: sendings > 0 ? latency : nil, isLate: latency > timeout,
            isDuplicate: wasAnswered)
    }
}

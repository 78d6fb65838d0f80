package import Wire

/// Decides what may go to a phone while this program plays the board (`--effects`).
///
/// The last thing before the wire: it is given the decoded bytes of a message or of a poll's
/// answer, whatever made them, and what it cannot read in one way only does not pass. A message
/// that two readers could take for two commands is refused, be it by a name that stands there
/// twice, in another case, or with an odd character in it.
package struct EffectGate: Sendable {
    /// What may be done on the phone.
    package enum Level: String, CaseIterable, Sendable {
        /// Commands that read, and messages that are no command.
        case none
        /// Also what creates, marked by `EffectGate.mark`, and what changes or deletes a thing that
        /// was created in this run. No clipboard, no other app, no scheduled notification.
        case own
        case all
    }

    /// Whether something may be sent.
    package enum Verdict: Sendable, Equatable {
        /// As it was, or with its marks.
        case allowed(Bytes)
        /// Why not, in one sentence without a full stop.
        case refused(String)
    }

    /// What stands behind the title or name of what was created.
    package static let mark = " (bridgetap)"

    package let level: Level
    private let reader: CommandReader
    private var ledger: EffectLedger

    /// Makes a gate for one run.
    ///
    /// - Parameter maximumThings: things and commands that it keeps account of; with `own` nothing
    ///   more is created beyond it.
    package init(
        level: Level, contract: Contract = .current, maximumThings: Int = 10_000
    ) {
        self.level = level
        reader = CommandReader(contract)
        ledger = EffectLedger(contract, maximum: maximumThings)
    }

    // MARK: - What goes out

    /// Judges a whole message of the WebSocket.
    package mutating func pass(_ message: Bytes) -> Verdict {
        judge(message) { (reader, root) throws(Refusal) in
            // What is no command at all, such as the echo of a heartbeat.
            if try reader.isOtherMessage(root) { return [] }
            return [root]
        }
    }

    /// Judges the body of the answer to a poll: an object with an array or `null` as `commands`,
    /// or just the array; one command that may not pass keeps all of them back.
    package mutating func pass(pollAnswer body: Bytes) -> Verdict {
        judge(body) { (reader, root) throws(Refusal) in try reader.commands(ofAnswer: root) }
    }

    /// Judges a frame that breaks RFC 6455: what a phone makes of one nobody can say, so it takes
    /// everything to be allowed.
    package func pass(brokenFrame frame: Bytes) -> Verdict {
        level == .all
            ? .allowed(frame)
            : .refused("a phone may read a broken frame in more than one way")
    }

    // MARK: - What comes in

    /// Takes what the phone says, a message or the body of a result's POST: it tells which things
    /// were created, and which are gone.
    package mutating func heard(_ message: Bytes) {
        ledger.heard(message)
    }

    /// What was created in this run and not deleted, as far as is known, in the order of its
    /// creation; commands that were never answered are in it too.
    package var remaining: [Remainder] { ledger.remaining }

    /// Something that is still on the phone, or may be.
    package struct Remainder: Hashable, Sendable {
        /// The type of the command that created it.
        package var type: String
        /// The id that the phone gave it; nil where the phone never answered.
        package var id: String?
        /// The id of the command.
        package var command: String
    }

    // MARK: - Judging

    /// Why something may not be sent.
    struct Refusal: Error {
        let why: String

        init(_ why: String) { self.why = why }
    }

    private mutating func judge(
        _ source: Bytes,
        commands: (CommandReader, JSONView) throws(Refusal) -> [JSONView]
    ) -> Verdict {
        // No reader finds a command in nothing.
        if source.isEmpty { return .allowed(source) }
        do throws(Refusal) {
            let document: JSONDocument
            do {
                document = try JSONDocument(source)
            } catch {
                throw Refusal("it is not JSON, so nobody can say what it does")
            }
            try reader.demandOneReading(of: document.root)
            var marks: [Int] = []
            var noted = ledger
            for view in try commands(reader, document.root) {
                let command = try reader.command(view)
                marks += try judge(command, with: noted)
                try noted.sent(command, isBound: level == .own)
            }
            ledger = noted
            return .allowed(Self.marked(source, at: marks))
        } catch {
            guard level == .all else { return .refused(error.why) }
            // Whatever it is, it may go; what can be read of it is kept account of.
            if let document = try? JSONDocument(source) { ledger.sent(document.root, reader) }
            return .allowed(source)
        }
    }

    /// Says where a command that may pass is marked; throws for one that may not.
    private func judge(
        _ command: ReadCommand, with ledger: EffectLedger
    ) throws(Refusal) -> [Int] {
        let type = command.type
        if level == .all || type.effect == .reads { return [] }
        guard level == .own else {
            throw Refusal("\(type.name) \(type.effect.deed), and nothing but reading is allowed")
        }
        switch type.effect {
        case .reads:
            return []
        case .creates:
            if let field = type.postponedBy, command.payload?.member(field) != nil {
                throw Refusal("\(type.name) with \(field) would happen after the run")
            }
            guard let place = try command.markPlace() else {
                throw Refusal("\(type.name) has no text that could be marked")
            }
            return place.isMarked ? [] : [place.end]
        case .updates, .deletes:
            guard let field = type.usedID,
                let thing = command.payload?.member(field)?.string, !thing.isEmpty
            else { throw Refusal("\(type.name) does not say what it is for") }
            guard ledger.isBorn(thing, field) else {
                throw Refusal(
                    "\(type.name) is for \(field) \(thing.quoted), which was not created in this "
                        + "run")
            }
            guard type.effect == .updates, let place = try command.markPlace(), !place.isMarked
            else { return [] }
            return [place.end]
        case .overwrites, .opens:
            throw Refusal("\(type.name) \(type.effect.deed), which cannot be undone")
        }
    }

    /// `source` with marks in front of these offsets, which are those of closing quotes.
    private static func marked(_ source: Bytes, at offsets: [Int]) -> Bytes {
        var result = source
        for offset in offsets.sorted(by: >) where offset <= result.count {
            result.insert(contentsOf: Bytes(mark.utf8), at: offset)
        }
        return result
    }
}

extension Contract.Effect {
    /// What a command does to the phone, as the end of a sentence.
    fileprivate var deed: String {
        switch self {
        case .reads: "reads"
        case .creates: "creates something on the phone"
        case .updates: "changes something on the phone"
        case .deletes: "deletes something on the phone"
        case .overwrites: "overwrites something on the phone"
        case .opens: "opens something on the phone"
        }
    }
}

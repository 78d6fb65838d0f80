package import Capture

/// One line of a timeline, its columns apart from how they are laid out and coloured.
package struct TimelineLine: Equatable, Sendable {
    /// Which way something went.
    package enum Direction: Equatable, Sendable {
        case none
        /// Sent by this side.
        case from(Side)
        /// Both sides had their part in it.
        case both

        /// What pages know it by: 0 for none, 1 from the app, 2 from the board, 3 for both.
        package var number: Int {
            switch self {
            case .none: 0
            case .from(.app): 1
            case .from(.board): 2
            case .both: 3
            }
        }
    }

    /// A command of the session, and what became of it here.
    package struct Command: Equatable, Sendable {
        /// Its number in the session, from 1, which its result repeats.
        package var number: Int
        package var type: String
        package var step: Step

        /// What became of a command.
        package enum Step: Equatable, Sendable {
            /// It was handed to the app; `deadline` is when its time to answer ends, in
            /// nanoseconds since the session began, where it has one.
            case sent(deadline: Int64?, isAgain: Bool)
            /// A result came; `code` is the error's, nil for success.
            case answered(code: String?, isLate: Bool, isDuplicate: Bool)
            /// Nothing came while there was time.
            case unanswered
        }

        package init(number: Int, type: String, step: Step) {
            self.number = number
            self.type = type
            self.step = step
        }
    }

    /// Whether the link, the contract or the recording broke here.
    package var isBroken: Bool
    /// Nanoseconds since the session began; nil on lines about the whole.
    package var time: Int64?
    /// The connection; 0 for none.
    package var conn: Int
    package var direction: Direction
    /// One word or two for what it is.
    package var label: Styled
    package var text: [Styled]
    /// What stands below the line, as it is.
    package var body: [String]
    /// The event that it tells of; nil where it tells of several, or of none.
    package var seq: Int?
    /// The events between whose numbers all lie that it counts; nil where it is no count.
    package var counted: ClosedRange<Int>?
    /// The id of the command that it is about.
    package var id: String?
    /// What it tells of a command that has a number here.
    package var command: Command?

    package init(
        isBroken: Bool = false, time: Int64?, conn: Int = 0, direction: Direction = .none,
        label: Styled, text: [Styled] = [], body: [String] = [], seq: Int? = nil,
        counted: ClosedRange<Int>? = nil, id: String? = nil, command: Command? = nil
    ) {
        self.isBroken = isBroken
        self.time = time
        self.conn = conn
        self.direction = direction
        self.label = label
        self.text = text
        self.body = body
        self.seq = seq
        self.counted = counted
        self.id = id
        self.command = command
    }

    /// The line without what it quotes of messages, which may tell about a person.
    package var withoutValues: TimelineLine {
        var line = self
        line.text.removeAll { $0.isValue }
        line.body = []
        return line
    }
}

/// A run of text and how it looks where there are colours.
package struct Styled: Equatable, Sendable, ExpressibleByStringLiteral {
    /// What a run of text is, rather than its colour.
    package enum Style: String, Equatable, Sendable {
        case plain
        /// What is looked at last.
        case dim
        /// What is looked for.
        case strong
        case good
        case bad
        case warning
    }

    /// Fit for a terminal: no control characters.
    package var text: String
    package var style: Style
    /// Whether it quotes what was said: contents of messages, queries of addresses, notes.
    ///
    /// What names a thing (a type, an id, a code, a size, a time) is none.
    package var isValue: Bool

    package init(_ text: String, _ style: Style = .plain, isValue: Bool = false) {
        self.text = text
        self.style = style
        self.isValue = isValue
    }

    package init(stringLiteral value: String) {
        self.init(value)
    }
}

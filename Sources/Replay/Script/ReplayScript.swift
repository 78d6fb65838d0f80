package import Capture
package import PhoneBridge
package import Wire

/// What there is to do and to wait for when one side of a recorded session is played, in the
/// order in which that side saw it.
///
/// What we do waits until everything has happened that this side had seen before it when it was
/// recorded, however the live peer orders its part; an answer waits for its command alone. So
/// independent things may come in either order, and nothing is done before its cause.
package struct ReplayScript: Sendable {
    /// The side that is played.
    package var role: Side
    package var steps: [Step] = []
    package var links: [Link] = []
    package var exchanges: [Exchange] = []
    package var commands: [Command] = []
    /// What of the session cannot be played: the `seq` of the event, and why.
    package var unplayable: [(seq: Int, why: String)] = []
    /// What the recorded phone had, or was allowed, that a live one may lack; a phrase each.
    package var preconditions: [Precondition] = []

    package init(role: Side) { self.role = role }

    /// A WebSocket connection of the recording.
    package struct Link: Sendable {
        package var conn: Int
        /// The event of its handshake's request.
        package var seq: Int
        /// The event with which it began: the board's answer.
        package var beginSeq = 0
        package var request: Event.Request
        /// How the recorded board answered the handshake; nil where it did not.
        package var response: Event.Response?
        /// Whether the board accepted it.
        package var isAccepted: Bool { response?.status == 101 }
        /// Whether its end is a step: one that only came with the end of the session is none.
        package var hasEnd = false
        /// How many heartbeats the board echoed before it no longer did; nil where it always did.
        package var mutedFrom: Int?
        /// Whether the app spoke on behind the board's close frame: from the next connection on
        /// it is not read, until its end.
        package var isReadLate = false
        /// How our side cut its messages into frames.
        package var framing = MessageWriter.Framing.whole

        package init(
            conn: Int, seq: Int, request: Event.Request, response: Event.Response? = nil,
            mutedFrom: Int? = nil
        ) {
            self.conn = conn
            self.seq = seq
            self.request = request
            self.response = response
            self.mutedFrom = mutedFrom
        }
    }

    /// An HTTP exchange of the recording.
    package struct Exchange: Sendable {
        package var conn: Int
        package var seq: Int
        package var request: Event.Request
        package var route: HTTPRoute?
        package var response: Event.Response?
        /// Commands that its response handed out, by their numbers.
        package var handsOut: [Int] = []
        /// Commands to put into the queue before it, since nobody is seen to have put them there.
        package var enqueuesFirst: [Int] = []
        /// Whether the recorded board ended the connection instead of an answer.
        package var isCutOff = false

        package init(conn: Int, seq: Int, request: Event.Request, route: HTTPRoute? = nil) {
            self.conn = conn
            self.seq = seq
            self.request = request
            self.route = route
        }
    }

    /// A logical command: everything under one id.
    package struct Command: Sendable {
        package var id: String
        package var type: String
        /// The event that first carried it.
        package var seq: Int
        /// What was sent, as a JSON object.
        package var content: Bytes
        package var route: Route
        /// How long an answer may take, in nanoseconds of the protocol.
        package var timeout: Int64
        /// Whether a request of a tool put it into the queue.
        package var isEnqueued = false
        /// The answers that the recorded app gave, in order.
        package var answers: [Bytes] = []
        /// The steps that bring it: an arrival for each sending.
        package var arrivals: [Int] = []

        package init(
            id: String, type: String, seq: Int, content: Bytes, route: Route, timeout: Int64
        ) {
            self.id = id
            self.type = type
            self.seq = seq
            self.content = content
            self.route = route
            self.timeout = timeout
        }
    }

    /// Something about the phone that a command's answer rested on.
    package struct Precondition: Sendable, Equatable {
        /// The number of the command.
        package var command: Int
        /// The state word that brings it about, such as `contacts=denied`; nil where none does.
        package var state: String?
        /// In words.
        package var text: String
    }

    /// Waits that mean something keep their length at every speed.
    package struct Wait: Sendable, Equatable {
        /// From the end of this step.
        package var after: Int
        /// Nanoseconds of the protocol.
        package var duration: Int64
        /// Why it is kept, a few words.
        package var why: String

        package init(after: Int, duration: Int64, why: String) {
            self.after = after
            self.duration = duration
            self.why = why
        }
    }

    /// Time between two steps that go different ways.
    package struct Spacing: Sendable, Equatable {
        package var after: Int
        package var duration: Int64

        package init(after: Int, duration: Int64) {
            self.after = after
            self.duration = duration
        }
    }

    /// What has to be over before a step of ours is done.
    package enum Needs: Sendable, Equatable {
        /// Every earlier step.
        case everythingBefore
        /// This step, which must have worked, and another one that only has to be over.
        case cause(Int, behind: Int?)
    }

    /// One thing to do or to wait for.
    package struct Step: Sendable {
        package var kind: Kind
        /// The recorded event.
        package var seq: Int
        /// Nanoseconds since the recorded session began.
        package var time: Int64
        package var needs = Needs.everythingBefore
        package var wait: Wait?
        /// A step of ours on another connection, of which nobody has said that it arrived, and how
        /// long it is given for that, in nanoseconds: two connections may overtake each other.
        package var spacing: Spacing?
        /// How long the live peer gets beside the player's patience, in nanoseconds of the
        /// protocol.
        package var allowance: Int64 = 0
        /// Whether later steps wait for it.
        package var holdsOthers = true

        package init(_ kind: Kind, seq: Int, time: Int64) {
            self.kind = kind
            self.seq = seq
            self.time = time
        }
    }

    package enum Kind: Sendable {
        // What either side does.
        /// Sends a message that answers nothing: an event of the app, or what the contract does
        /// not know.
        case send(link: Int, Opcode, Bytes)
        case ping(link: Int, Bytes)
        /// Sends a broken frame, or a part of a broken message, as it was recorded.
        case frame(link: Int, Bytes)
        /// Looks whether the peer has kept a connection on which it got a broken frame.
        case kept(link: Int)
        case end(link: Int, Ending)

        // What the app does.
        case connect(link: Int)
        case beat(link: Int, Bytes)
        case answer(command: Int, link: Int, Bytes)
        case request(exchange: Int)
        /// Posts a result to the queue.
        case post(exchange: Int, command: Int)
        /// Has the board send a command that it sent on its own when it was recorded.
        case stimulate(command: Int)

        // What the board does.
        case command(command: Int, link: Int, Bytes)
        /// Has a command ready for the next poll of the app in this state.
        case offer(command: Int, Bytes, state: String?)
        /// Brings the app into a state.
        case state(String)
        /// Treats the next poll as this recorded one was treated.
        case treatPoll(exchange: Int)

        // What the peer does.
        case opened(link: Int)
        case ended(link: Int)
        case arrival(command: Int)
        case response(exchange: Int)
        case echo(link: Int)
        case outcome(command: Int)
        case appEvent(link: Int, name: String)
        case handedOut(command: Int)
        case answered(command: Int, number: Int)

        /// Time passes.
        case pause
    }

    /// How we end a connection.
    package enum Ending: Sendable, Equatable {
        case frame(ClosePayload)
        case fin
        case reset
    }
}

extension ReplayScript.Kind {
    /// Whether it is ours to do, not the peer's.
    package var isOurs: Bool {
        switch self {
        case .send, .ping, .frame, .kept, .end, .connect, .beat, .answer, .request, .post,
            .stimulate, .command, .offer, .state, .treatPoll, .pause:
            true
        case .opened, .ended, .arrival, .response, .echo, .outcome, .appEvent, .handedOut,
            .answered:
            false
        }
    }
}

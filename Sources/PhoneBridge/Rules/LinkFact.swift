package import Capture
package import Wire

/// What an event means, decoded once for all groups of rules.
package struct LinkFact: Sendable {
    /// Nanoseconds since the session began, of its last byte and of its first.
    package var time: Int64
    package var firstTime: Int64
    /// The event that completed it; 0 where there is none.
    package var seq: Int
    /// The connection; 0 for none.
    package var conn: Int
    package var kind: Kind

    /// What carries much is an object: several groups look into it.
    package enum Kind: Sendable {
        /// A connection begins, or is met within.
        case opened
        /// The board said 101, or frames show that it did.
        case upgraded
        /// A whole data message of a WebSocket, complete and decompressed.
        ///
        /// A `command` or `result` fact follows where it is one.
        case message(MessageFact)
        /// A command of either route: a message, or an element of a poll's answer.
        case command(CommandFact)
        /// An answer of either route: a message, or the body of a POST.
        case result(ResultFact)
        case request(RequestFact)
        /// A final response, with its request where that is known.
        case exchange(ExchangeFact)
        /// Something of a side is missing or cannot be read; nil: of both.
        ///
        /// The context knows it already. With connection 0 it is about all of them.
        case hole(Side?)
        /// What the board's own side got for a command (capture format, `outcome`).
        indirect case outcome(JSONDocument)
        /// One side stopped sending.
        case ended(Side, Event.Ending)
        /// The connection is over; it is in the context for the last time.
        case closed
        /// The connection is no longer followed, and nothing is known of what comes.
        case forgotten
    }
}

/// A whole data message.
package final class MessageFact: Sendable {
    package let from: Side
    package let opcode: Opcode
    package let content: Bytes
    /// What it says; nil for what is not JSON, or deeper than the limits.
    package let json: JSONDocument?
    /// Why there is no `json`.
    package let fault: JSONError?
    package let sort: Sort
    /// Whether its sender had sent a close frame before.
    package let isBehindClose: Bool

    init(
        from: Side, opcode: Opcode, content: Bytes, json: JSONDocument?, fault: JSONError?,
        sort: Sort, isBehindClose: Bool
    ) {
        self.from = from
        self.opcode = opcode
        self.content = content
        self.json = json
        self.fault = fault
        self.sort = sort
        self.isBehindClose = isBehindClose
    }

    /// What kind of message it is (contract, "Message Format").
    package enum Sort: Sendable, Equatable {
        case heartbeat(id: String)
        case appEvent(name: String)
        case command
        case result
        /// Anything else, JSON or not.
        case other
    }
}

/// A command that was sent or handed out.
package final class CommandFact: Sendable {
    /// nil where `id` is no string.
    package let id: String?
    /// nil where `type` is no string.
    package let type: String?
    /// The type's place in `Contract.commands`; nil for one that is not there.
    package let typeIndex: Int?
    package let route: Route
    package let document: JSONDocument
    /// Where the command stands in the document.
    package let index: Int
    /// What was known of the id before.
    package let before: CommandBook.Entry?
    /// A hash of what it asks for: type, fields and payload, not `timeout_ms` and `phone_id`.
    package let content: UInt32

    init(
        id: String?, type: String?, typeIndex: Int?, route: Route, document: JSONDocument,
        index: Int, before: CommandBook.Entry?, content: UInt32
    ) {
        self.id = id
        self.type = type
        self.typeIndex = typeIndex
        self.route = route
        self.document = document
        self.index = index
        self.before = before
        self.content = content
    }

    /// The command as a JSON value.
    package var view: JSONView { document.view(at: index) }

    /// The command as reports name it.
    package var name: Breach.Command? { id.map { Breach.Command(id: $0, type: type) } }
}

/// An answer of the app.
package final class ResultFact: Sendable {
    /// nil where `id` is no string.
    package let id: String?
    package let route: Route
    package let document: JSONDocument
    /// What was known of the command before; nil for one that was never seen.
    package let before: CommandBook.Entry?
    /// The phone that sent it, as its connection said; nil if it did not.
    package let phoneID: String?

    init(
        id: String?, route: Route, document: JSONDocument, before: CommandBook.Entry?,
        phoneID: String?
    ) {
        self.id = id
        self.route = route
        self.document = document
        self.before = before
        self.phoneID = phoneID
    }

    /// The answer as a JSON value.
    package var view: JSONView { document.root }

    /// The command as reports name it.
    package var name: Breach.Command? { id.map { Breach.Command(id: $0, type: before?.type) } }
}

/// A request.
package final class RequestFact: Sendable {
    package let time: Int64
    package let firstTime: Int64
    package let seq: Int
    package let request: Event.Request
    /// nil for what the contract does not have.
    package let route: HTTPRoute?
    /// The body; nil where it is not whole or not JSON.
    package let json: JSONDocument?
    /// The target in its parts.
    package let target: RequestTarget
    private let ownPoll: PollFacts?

    init(
        time: Int64, firstTime: Int64, seq: Int, request: Event.Request, route: HTTPRoute?,
        json: JSONDocument?, poll names: Contract.PollParameters
    ) {
        self.time = time
        self.firstTime = firstTime
        self.seq = seq
        self.request = request
        self.route = route
        self.json = json
        target = RequestTarget(request.target)
        ownPoll = route == .poll ? PollFacts(target, names) : nil
    }

    /// What it asks for as a poll.
    func poll(_ names: Contract.PollParameters) -> PollFacts {
        ownPoll ?? PollFacts(target, names)
    }
}

/// A response, with its request.
package final class ExchangeFact: Sendable {
    /// nil where it came before the capture, or was forgotten.
    package let request: RequestFact?
    package let response: Event.Response
    /// The body; nil where it is not whole or not JSON.
    package let json: JSONDocument?

    init(request: RequestFact?, response: Event.Response, json: JSONDocument?) {
        self.request = request
        self.response = response
        self.json = json
    }

    package var route: HTTPRoute? { request?.route }

    /// Why the whole body is not read as JSON; nil where it is, and where it is not whole.
    package var jsonFault: JSONError? {
        guard json == nil, case .whole(let body) = response.body.content else { return nil }
        do throws(JSONError) {
            _ = try JSONDocument(body)
            return nil
        } catch {
            return error
        }
    }
}

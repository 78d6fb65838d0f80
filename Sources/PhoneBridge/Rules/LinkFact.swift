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

    /// What carries much is indirect: each fact goes to a score of groups, most of which look at
    /// its kind and no further.
    package enum Kind: Sendable {
        /// A connection begins, or is met within.
        case opened
        /// The board said 101, or frames show that it did.
        case upgraded
        /// A whole data message of a WebSocket, complete and decompressed.
        ///
        /// A `command` or `result` fact follows where it is one.
        indirect case message(MessageFact)
        /// A command of either route: a message, or an element of a poll's answer.
        indirect case command(CommandFact)
        /// An answer of either route: a message, or the body of a POST.
        indirect case result(ResultFact)
        indirect case request(RequestFact)
        /// A final response, with its request where that is known.
        indirect case exchange(ExchangeFact)
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
package struct MessageFact: Sendable {
    package var from: Side
    package var opcode: Opcode
    package var content: Bytes
    /// What it says; nil for what is not JSON, or deeper than the limits.
    package var json: JSONDocument?
    /// Why there is no `json`.
    package var fault: JSONError?
    package var sort: Sort
    /// Whether its sender had sent a close frame before.
    package var isBehindClose: Bool

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
package struct CommandFact: Sendable {
    /// nil where `id` is no string.
    package var id: String?
    /// nil where `type` is no string.
    package var type: String?
    /// The type's place in `Contract.commands`; nil for one that is not there.
    package var typeIndex: Int?
    package var route: Route
    package var document: JSONDocument
    /// Where the command stands in the document.
    package var index: Int
    /// What was known of the id before.
    package var before: CommandBook.Entry?
    /// A hash of what it asks for: type, fields and payload, not `timeout_ms` and `phone_id`.
    package var content: UInt32

    /// The command as a JSON value.
    package var view: JSONView { document.view(at: index) }

    /// The command as reports name it.
    package var name: Breach.Command? { id.map { Breach.Command(id: $0, type: type) } }
}

/// An answer of the app.
package struct ResultFact: Sendable {
    /// nil where `id` is no string.
    package var id: String?
    package var route: Route
    package var document: JSONDocument
    /// What was known of the command before; nil for one that was never seen.
    package var before: CommandBook.Entry?
    /// The phone that sent it, as its connection said; nil if it did not.
    package var phoneID: String?

    /// The answer as a JSON value.
    package var view: JSONView { document.root }

    /// The command as reports name it.
    package var name: Breach.Command? { id.map { Breach.Command(id: $0, type: before?.type) } }
}

/// A request.
package struct RequestFact: Sendable {
    package var time: Int64
    package var firstTime: Int64
    package var seq: Int
    package var request: Event.Request
    /// nil for what the contract does not have.
    package var route: HTTPRoute?
    /// The body; nil where it is not whole or not JSON.
    package var json: JSONDocument?

    /// The target in its parts.
    package var target: RequestTarget { RequestTarget(request.target) }
}

/// A response, with its request.
package struct ExchangeFact: Sendable {
    /// nil where it came before the capture, or was forgotten.
    package var request: RequestFact?
    package var response: Event.Response
    /// The body; nil where it is not whole or not JSON.
    package var json: JSONDocument?

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

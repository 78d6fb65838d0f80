package import Wire

/// One thing that a script does.
///
/// Times are nanoseconds of the protocol's time: a target with a
/// `time_scale` sees them divided by it.
///
/// Texts may hold `$(name)`: the live id of the command of that name, or `$(name.field)`, a string
/// out of the data of its answer, such as `event_id`. Links are named by a word.
package enum FuzzAction: Sendable, Hashable {
    // MARK: Either side

    /// Nothing is done for so long.
    case wait(Int64)
    /// A whole text message.
    case text(String, Bytes)
    /// A whole binary message.
    case binary(String, Bytes)
    /// One frame, legal or not.
    case frame(String, FuzzFrame)
    /// Bytes as they are, behind what was sent before.
    case bytes(String, Bytes)
    /// A close frame; what comes is heard until the connection is over.
    case close(String, code: UInt16?, reason: Bytes)
    /// The TCP connection is torn down.
    case reset(String)
    /// The TCP connection is ended in good order, without a close frame.
    case fin(String)
    /// Nothing is sent any more: a cable that was pulled.
    case stall(String)
    /// Nothing is read any more: a peer that hangs.
    case pause(String)
    /// Sending and reading go on.
    case resume(String)
    /// From now on what is sent goes out in segments of so many bytes; nil ends it.
    case chop(String, Int?)
    /// What is sent is held back from now on, heartbeats and echoes included.
    case cork(String)
    /// What was held back goes out in one write.
    case uncork(String)
    /// From now on messages are cut into frames of so many bytes of payload; nil ends it.
    case fragment(String, Int?)
    /// A command for the queue: by request as the app, or into the played board's queue.
    case enqueue(String, Bytes)
    /// Waits until the command has come (as the app), or an answer to it (as the board); at most so
    /// long, and then the script goes on.
    case await(String, Int64)
    /// Faults are over: what stalls goes on, what is served is served well.
    case heal
    /// The peer has to serve a new connection and echo a heartbeat, or come back and beat (U1).
    case alive
    /// An exchange of others must end well (U3).
    case bystander
    /// All steps before this one are done so many times in all, with other ids each time, and what
    /// the target's process takes is measured behind each (U6).
    case again(Int)

    // MARK: As the app

    /// A WebSocket is opened; the next step waits for the answer to the handshake.
    case connect(String, FuzzDial)
    /// Heartbeats are sent every so often from now on; nil ends them.
    case beats(String, Int64?)
    /// The board is made to send a command over the WebSocket.
    case stimulate(String, Bytes)
    /// A request of HTTP; the next step waits for the response.
    case request(FuzzRequest)
    /// A TCP connection of its own; the next step waits for what the board makes of it.
    case raw([FuzzRawPart])

    // MARK: As the board

    /// Waits until the app has connected anew; the connection gets this name.
    case accept(String, Int64)
    /// A command over the newest connection.
    case command(String, Bytes)
    /// How requests of a kind are served from now on.
    case serve(FuzzService, FuzzServing)
    /// The app is brought into a state, in the words of `--on-state`.
    case state(String)
}

/// How a WebSocket is opened.
package struct FuzzDial: Sendable, Hashable {
    /// The query of the target, as it is sent; empty for none.
    package var query: String
    /// Further field lines.
    package var fieldLines: [FieldLine]
    /// Whether compression is offered.
    package var offersDeflate: Bool

    package init(query: String, fieldLines: [FieldLine] = [], offersDeflate: Bool = false) {
        self.query = query
        self.fieldLines = fieldLines
        self.offersDeflate = offersDeflate
    }
}

/// A frame as it is written, whatever the RFC says of it.
package struct FuzzFrame: Sendable, Hashable {
    package var opcode: Opcode
    package var fin = true
    /// RSV1 to RSV3 as a number 0 to 7; RSV1 is the 4.
    package var rsv: UInt8 = 0
    /// Whether the payload is masked; nil as the sender's role demands.
    package var isMasked: Bool?
    /// The length that the header announces; nil for the payload's own.
    package var announced: UInt64?
    /// The form of the length; nil for the shortest.
    package var lengthForm: LengthForm?
    package var payload: Bytes

    package init(_ opcode: Opcode, fin: Bool = true, _ payload: Bytes = []) {
        self.opcode = opcode
        self.fin = fin
        self.payload = payload
    }
}

/// A request in order, as far as HTTP is concerned.
package struct FuzzRequest: Sendable, Hashable {
    package var method: String
    /// Relative to the base path (`status`, `commands?platform=ios`), or absolute with a `/`.
    package var target: String
    package var fieldLines: [FieldLine]
    package var body: Bytes

    package init(
        _ method: String, _ target: String, fieldLines: [FieldLine] = [], _ body: Bytes = []
    ) {
        self.method = method
        self.target = target
        self.fieldLines = fieldLines
        self.body = body
    }
}

/// A part of what is done on a TCP connection.
package enum FuzzRawPart: Sendable, Hashable {
    case bytes(Bytes)
    case pause(Int64)
    /// The sending side is ended.
    case fin
    case reset
}

/// What the played board serves.
package enum FuzzService: String, Sendable, Hashable, CaseIterable {
    /// Handshakes of WebSockets.
    case connections
    /// Echoes of heartbeats.
    case echoes
    case polls
    case results
}

/// How something is served.
package enum FuzzServing: Sendable, Hashable {
    /// As the contract says.
    case well
    /// Not at all, the connection stays open.
    case hang
    /// The connection is reset.
    case reset
    /// The connection is closed in good order without an answer.
    case fin
    /// With this status, and no content.
    case status(Int)
    /// With a redirect to the same place.
    case redirect
    /// Well, but so much later.
    case delay(Int64)
    /// With a 200 and this content.
    case body(Bytes)
    /// With a 200 whose content is cut short behind so many bytes of the right one.
    case cut(Int)
    /// An echo with another id.
    case otherID
}

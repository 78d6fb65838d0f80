import Wire

/// What a writer knows of each connection that is open, for files that begin within it.
struct OpenConnections {
    struct State {
        var open: Event.Open
        var upgraded = false
        var extensions: String?
        var appEnded = false
        var boardEnded = false

        var isOver: Bool { appEnded && boardEnded }

        /// The event that stands for the opening in a file that begins within the connection.
        var continued: Event.Open {
            var open = open
            open.continued = Event.Continued(extensions: extensions, upgraded: upgraded)
            return open
        }
    }

    private(set) var states: [Int: State] = [:]

    subscript(conn: Int) -> State? { states[conn] }

    /// Open connections in order.
    var numbers: [Int] { states.keys.sorted() }

    /// Takes note of an event; gives back the state of a connection that is over with it.
    mutating func receive(_ event: borrowing Event) -> State? {
        switch event.kind {
        case .open(let open):
            var state = State(open: open)
            if let continued = open.continued {
                state.upgraded = continued.upgraded
                state.extensions = continued.extensions
            }
            states[event.conn] = state
        case .response(let response) where response.status == 101:
            let upgrade = response.headers.last { $0.isNamed("Upgrade") }?.value
            guard upgrade?.lowercased() == "websocket" else { break }
            states[event.conn]?.upgraded = true
            states[event.conn]?.extensions =
                response.headers.first { $0.isNamed("Sec-WebSocket-Extensions") }?.value
        case .close(let close):
            guard var state = states[event.conn] else { break }
            if close.how != .fin || event.from != .board { state.appEnded = true }
            if close.how != .fin || event.from != .app { state.boardEnded = true }
            states[event.conn] = state.isOver ? nil : state
            return state.isOver ? state : nil
        case .session, .request, .response, .frame, .message, .piece, .data, .gap, .note, .end:
            break
        }
        return nil
    }
}

package import Wire

/// The host's number for an HTTP request that waits for its response.
package struct ExchangeID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// The number of a WebSocket connection; a peer never gives the same one twice.
package struct LinkID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// What the host of a board has to do.
package enum BoardAction: Sendable, Equatable {
    /// A handshake that is accepted: answer the exchange with the 101, and go on as a link.
    package struct Accept: Sendable, Equatable {
        package var exchange: ExchangeID
        package var link: LinkID
        package var head: HTTPHead
        /// The compression that the 101 agrees on.
        package var deflate: PerMessageDeflate?
    }

    case respond(ExchangeID, HTTPMessage)
    case accept(Accept)
    /// Send one text message.
    case send(LinkID, Bytes)
    /// Begin the close handshake; what the link still says is not heard.
    case close(LinkID, code: UInt16, reason: String)
    /// A command of the script ended so.
    case commandEnded(step: Int, CommandResponse)
}

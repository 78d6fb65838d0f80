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
    case respond(ExchangeID, HTTPMessage)
    /// Answer with this 101; from here on the exchange's connection is a link.
    case accept(ExchangeID, LinkID, HTTPHead, deflate: PerMessageDeflate?)
    /// Send one text message.
    case send(LinkID, Bytes)
    /// Begin the close handshake; what the link still says is not heard.
    case close(LinkID, code: UInt16, reason: String)
    /// A command of the script ended so.
    case commandEnded(step: Int, CommandResponse)
}

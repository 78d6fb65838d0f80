package import PhoneBridge
package import Wire

/// The app's number for a request that it made.
package struct RequestID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// What the host of an app has to do.
package enum AppAction: Sendable, Equatable {
    /// Open a WebSocket to this target of the board; `linkOpened` or `linkEnded` follows.
    case connect(LinkID, target: String)
    /// Send one text message.
    case send(LinkID, Bytes)
    /// Begin the close handshake and end the connection soon; nothing is heard of it any more.
    case close(LinkID, code: UInt16, reason: String)
    /// Read nothing of a connection any more, or again; what is sent goes out.
    case listen(LinkID, Bool)
    /// Give up the connection or the attempt at once; nothing is heard of it any more.
    case abort(LinkID)
    /// Make an HTTP request; a reply or a failure follows.
    case request(RequestID, method: String, target: String, body: Bytes?)
    /// Give up a request; nothing is heard of it any more.
    case cancel(RequestID)
}

/// Something that happens to the app from outside the link: the user, the system, a script.
package enum AppStep: Sendable, Equatable {
    case inactive
    case background(BackgroundMode)
    case foreground
    /// A BLE wake: the suspended app runs for a short while.
    case bleWake
    /// The WebSocket's connection breaks off without a close frame.
    case dropConnection
    /// The app closes the WebSocket in good order, and reconnects.
    case closeConnection(code: UInt16, reason: String)
    /// The app is stuck where it reads its WebSocket, or is so no more; it sends all the same.
    case deaf(Bool)
    /// The user answers a permission's prompt, or changes their mind in the settings.
    case decide(Phone.Permission, Phone.Decision)
    /// Somebody copies a text on the phone.
    case copy(String)
    /// The app says this over its WebSocket, whatever it means; a reference app would not.
    case say(String)
}

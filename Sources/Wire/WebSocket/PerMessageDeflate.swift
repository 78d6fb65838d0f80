/// An end of a WebSocket connection, as far as its handshake and masking go (RFC 6455 §1.2).
package enum WebSocketRole: String, Hashable, Sendable, CaseIterable {
    /// Opens the connection and masks what it sends.
    case client
    case server

    /// The other end.
    package var peer: WebSocketRole { self == .client ? .server : .client }
}

/// The parameters of permessage-deflate that both ends agreed on (RFC 7692 §7.1).
package struct PerMessageDeflate: Hashable, Sendable {
    /// The extension's name on the wire.
    package static let name = "permessage-deflate"

    /// The server compresses each message by itself.
    package var serverNoContextTakeover: Bool
    /// The client compresses each message by itself.
    package var clientNoContextTakeover: Bool
    /// The size of the server's window as a power of two, 8 to 15; nil where it was not said,
    /// which means 15.
    package var serverMaxWindowBits: Int?
    /// The size of the client's window as a power of two, 8 to 15; nil where it was not said,
    /// which means 15.
    package var clientMaxWindowBits: Int?

    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int? = nil, clientMaxWindowBits: Int? = nil
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// Whether the messages of `sender` may refer to its earlier ones.
    package func contextTakeover(of sender: WebSocketRole) -> Bool {
        sender == .server ? !serverNoContextTakeover : !clientNoContextTakeover
    }

    /// The bits of the window of `sender`, 8 to 15.
    package func windowBits(of sender: WebSocketRole) -> Int {
        (sender == .server ? serverMaxWindowBits : clientMaxWindowBits) ?? 15
    }

    /// An inflater for what `sender` sends; nil without memory.
    ///
    /// It always has the largest window, which reads the data of every smaller one: some
    /// senders use a window of 9 bits where 8 were agreed.
    package func makeInflater(for sender: WebSocketRole) -> Inflater? {
        Inflater(windowBits: 15, contextTakeover: contextTakeover(of: sender))
    }

    /// A deflater for what `sender` sends; nil without memory, or with a window of 8 bits,
    /// which zlib cannot write: such a sender has to send uncompressed, as it always may.
    package func makeDeflater(for sender: WebSocketRole, level: Int = -1) -> Deflater? {
        Deflater(
            windowBits: windowBits(of: sender), contextTakeover: contextTakeover(of: sender),
            level: level)
    }

    /// The parameters as an entry of a response's `Sec-WebSocket-Extensions`.
    package var entry: ExtensionEntry {
        var entry = ExtensionEntry(Self.name)
        if clientNoContextTakeover { entry.parameters.append(.init("client_no_context_takeover")) }
        if serverNoContextTakeover { entry.parameters.append(.init("server_no_context_takeover")) }
        if let bits = clientMaxWindowBits {
            entry.parameters.append(.init("client_max_window_bits", "\(bits)"))
        }
        if let bits = serverMaxWindowBits {
            entry.parameters.append(.init("server_max_window_bits", "\(bits)"))
        }
        return entry
    }

    /// What a response's `Sec-WebSocket-Extensions` value agrees on, for somebody who reads
    /// along; nil where it does not name permessage-deflate with valid parameters.
    ///
    /// Several field lines of the name are one value, joined by commas.
    package init?(agreedIn value: String) {
        guard let entries = ExtensionEntry.parse(value),
            let entry = entries.first(where: { $0.name.equalsIgnoringCase(Self.name) }),
            let parameters = try? DeflateParameters(entry, in: .answer)
        else { return nil }
        self = parameters.agreed
    }
}

/// Why an entry's parameters are not those of permessage-deflate (RFC 7692 §7.1).
package enum DeflateParameterError: Error, Hashable, Sendable {
    /// Not one of the four.
    case unknown(String)
    case repeated(String)
    /// A value where there must be none, none where there must be one, or not 8 to 15.
    case badValue(String, String?)
}

/// The parameters of an offer or an answer, checked one by one (RFC 7692 §7.1).
package struct DeflateParameters: Hashable, Sendable {
    /// Which side of the negotiation a list of parameters is.
    package enum Place: Hashable, Sendable {
        case offer
        case answer
    }

    package var serverNoContextTakeover = false
    package var clientNoContextTakeover = false
    package var serverMaxWindowBits: Int?
    /// Whether `client_max_window_bits` is there, with a value or, in an offer, without.
    package var hasClientMaxWindowBits = false
    package var clientMaxWindowBits: Int?

    /// Makes the parameters of an offer.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int? = nil, hasClientMaxWindowBits: Bool = false,
        clientMaxWindowBits: Int? = nil
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.hasClientMaxWindowBits = hasClientMaxWindowBits || clientMaxWindowBits != nil
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// Reads the parameters of an entry.
    package init(_ entry: ExtensionEntry, in place: Place) throws(DeflateParameterError) {
        var seen: Set<String> = []
        for parameter in entry.parameters {
            let name = parameter.name.lowercased()
            guard seen.insert(name).inserted else { throw .repeated(parameter.name) }
            switch name {
            case "server_no_context_takeover":
                guard parameter.value == nil else { throw Self.badValue(parameter) }
                serverNoContextTakeover = true
            case "client_no_context_takeover":
                guard parameter.value == nil else { throw Self.badValue(parameter) }
                clientNoContextTakeover = true
            case "server_max_window_bits":
                serverMaxWindowBits = try Self.windowBits(parameter)
            case "client_max_window_bits":
                hasClientMaxWindowBits = true
                if parameter.value == nil && place == .offer { continue }
                clientMaxWindowBits = try Self.windowBits(parameter)
            default:
                throw .unknown(parameter.name)
            }
        }
    }

    private static func badValue(_ parameter: ExtensionEntry.Parameter) -> DeflateParameterError {
        .badValue(parameter.name, parameter.value)
    }

    /// 8 to 15, without leading zeros (RFC 7692 §7.1.2).
    private static func windowBits(
        _ parameter: ExtensionEntry.Parameter
    ) throws(DeflateParameterError) -> Int {
        guard let value = parameter.value, let bits = Int(value), (8...15).contains(bits),
            String(bits) == value
        else { throw badValue(parameter) }
        return bits
    }

    /// The parameters as an entry of a request's `Sec-WebSocket-Extensions`.
    package var entry: ExtensionEntry {
        var entry = agreed.entry
        if hasClientMaxWindowBits && clientMaxWindowBits == nil {
            entry.parameters.append(.init("client_max_window_bits"))
        }
        return entry
    }

    /// What an answer with these parameters agrees on.
    package var agreed: PerMessageDeflate {
        PerMessageDeflate(
            serverNoContextTakeover: serverNoContextTakeover,
            clientNoContextTakeover: clientNoContextTakeover,
            serverMaxWindowBits: serverMaxWindowBits, clientMaxWindowBits: clientMaxWindowBits)
    }
}

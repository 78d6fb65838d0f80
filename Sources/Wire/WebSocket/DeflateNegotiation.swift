/// What a server asks of permessage-deflate beyond what clients offer (RFC 7692 §7.1).
package struct DeflateServerPolicy: Hashable, Sendable {
    /// The server compresses each message by itself, whether asked to or not.
    package var serverNoContextTakeover: Bool
    /// Each client has to compress each message by itself.
    package var clientNoContextTakeover: Bool
    /// Offers that want a smaller window of the server than this are declined.
    ///
    /// At least 9 for a server that compresses with zlib, which cannot write for 8.
    package var minimumServerWindowBits: Int
    /// The window that clients are held to, where they offer to be held to one.
    package var clientMaxWindowBits: Int?

    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        minimumServerWindowBits: Int = 9, clientMaxWindowBits: Int? = nil
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.minimumServerWindowBits = minimumServerWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// Takes everything that a client can offer and zlib can do.
    package static let full = DeflateServerPolicy()

    /// The board's: no context is kept on either side, and its window cannot be made smaller
    /// (board facts, "Handshake").
    package static let board = DeflateServerPolicy(
        serverNoContextTakeover: true, clientNoContextTakeover: true, minimumServerWindowBits: 15)

    /// What the server agrees on: the first offer that it can keep (RFC 7692 §5); nil where
    /// there is none, and the connection goes without compression.
    ///
    /// Other extensions, and offers with unknown, repeated or bad parameters, are declined.
    package func agree(to offers: [ExtensionEntry]) -> PerMessageDeflate? {
        for offer in offers where offer.name.equalsIgnoringCase(PerMessageDeflate.name) {
            guard let parameters = try? DeflateParameters(offer, in: .offer),
                let agreed = agree(to: parameters)
            else { continue }
            return agreed
        }
        return nil
    }

    private func agree(to offer: DeflateParameters) -> PerMessageDeflate? {
        if let bits = offer.serverMaxWindowBits, bits < minimumServerWindowBits { return nil }
        var agreed = PerMessageDeflate()
        agreed.serverNoContextTakeover = offer.serverNoContextTakeover || serverNoContextTakeover
        agreed.clientNoContextTakeover = offer.clientNoContextTakeover || clientNoContextTakeover
        agreed.serverMaxWindowBits = offer.serverMaxWindowBits
        if offer.hasClientMaxWindowBits, let bits = clientMaxWindowBits {
            agreed.clientMaxWindowBits = min(bits, offer.clientMaxWindowBits ?? 15)
        }
        return agreed
    }
}

/// Why a client cannot go on with the extensions of a server's answer (RFC 6455 §9.1,
/// RFC 7692 §7.1).
package enum ExtensionAnswerError: Error, Hashable, Sendable {
    /// The value is not a list of extensions.
    case malformed(String)
    /// An extension that was not offered.
    case notOffered(String)
    /// permessage-deflate more than once.
    case repeated
    case parameter(DeflateParameterError)
    /// The offer asked for `server_no_context_takeover`, and the answer does not have it.
    case serverContextTakeover
    /// The offer asked for a window of the server that the answer exceeds or leaves out.
    case serverWindow(offered: Int, answered: Int?)
    /// The answer limits the client's window, and the offer did not allow that.
    case clientWindow
}

extension ExtensionAnswerError {
    /// What is wrong, in a few words.
    package var text: String {
        switch self {
        case .malformed(let value): "the extensions \"\(value)\" are not a list"
        case .notOffered(let name): "the extension \"\(name)\" was not offered"
        case .repeated: "permessage-deflate is answered more than once"
        case .parameter(.unknown(let name)): "\"\(name)\" is no parameter of permessage-deflate"
        case .parameter(.repeated(let name)): "the parameter \"\(name)\" is repeated"
        case .parameter(.badValue(let name, let value?)): "\"\(name)\" cannot be \"\(value)\""
        case .parameter(.badValue(let name, nil)): "\"\(name)\" has no value"
        case .serverContextTakeover: "server_no_context_takeover was asked for and is missing"
        case .serverWindow(let offered, let answered?):
            "server_max_window_bits is \(answered) where \(offered) was asked for"
        case .serverWindow(let offered, nil):
            "server_max_window_bits=\(offered) was asked for and is missing"
        case .clientWindow: "client_max_window_bits was not offered"
        }
    }
}

extension PerMessageDeflate {
    /// What a client has agreed on once it got this answer to its offers; nil without
    /// permessage-deflate.
    ///
    /// `value` is that of `Sec-WebSocket-Extensions` in the response, several lines joined by
    /// commas; nil without one. An answer has to fit one of the offers. Throws where the
    /// client must fail the connection (RFC 6455 §4.1).
    package static func agreed(
        answer value: String?, offers: [DeflateParameters]
    ) throws(ExtensionAnswerError) -> PerMessageDeflate? {
        guard let value else { return nil }
        guard let entries = ExtensionEntry.parse(value) else { throw .malformed(value) }
        guard let entry = entries.first else { return nil }
        for other in entries where offers.isEmpty || !other.name.equalsIgnoringCase(name) {
            throw .notOffered(other.name)
        }
        guard entries.count == 1 else { throw .repeated }
        let answer: DeflateParameters
        do throws(DeflateParameterError) {
            answer = try DeflateParameters(entry, in: .answer)
        } catch {
            throw .parameter(error)
        }
        var firstMisfit: ExtensionAnswerError?
        for offer in offers {
            guard let misfit = misfit(of: answer, to: offer) else {
                var agreed = answer.agreed
                if let own = offer.clientMaxWindowBits {
                    // A larger answer does not oblige the client to more than it offered.
                    agreed.clientMaxWindowBits = min(own, answer.clientMaxWindowBits ?? 15)
                }
                agreed.clientNoContextTakeover =
                    answer.clientNoContextTakeover || offer.clientNoContextTakeover
                return agreed
            }
            firstMisfit = firstMisfit ?? misfit
        }
        throw firstMisfit ?? .notOffered(entry.name)
    }

    private static func misfit(
        of answer: DeflateParameters, to offer: DeflateParameters
    ) -> ExtensionAnswerError? {
        if offer.serverNoContextTakeover && !answer.serverNoContextTakeover {
            return .serverContextTakeover
        }
        if let offered = offer.serverMaxWindowBits,
            (answer.serverMaxWindowBits ?? 16) > offered
        {
            return .serverWindow(offered: offered, answered: answer.serverMaxWindowBits)
        }
        if answer.hasClientMaxWindowBits && !offer.hasClientMaxWindowBits { return .clientWindow }
        return nil
    }
}

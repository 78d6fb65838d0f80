import Capture
import Wire

/// How sure a departure from HTTP is one, who owes it, and what is demanded.
extension HTTPRules {
    static func make(_ kind: HTTPViolation.Rule) -> Rule {
        Rule(
            id(of: kind), rating(of: kind), obliged(by: kind), section: kind.section,
            demand(of: kind))
    }

    /// `missingAllow` is `http-missing-allow`.
    static func id(of kind: HTTPViolation.Rule) -> String {
        var id = "http"
        for character in kind.rawValue.replacingHTTP {
            if character.isUppercase || id == "http" { id += "-" }
            id += character.lowercased()
        }
        return id
    }

    /// Whoever sends has to keep to the grammar (RFC 9110 §2.2): most of it is sure.
    private static func rating(of kind: HTTPViolation.Rule) -> Rule.Rating {
        switch kind {
        case .bareLineFeed, .bareCarriageReturn, .emptyLineBeforeStart, .startLineForm,
            .invalidMethod, .invalidTarget, .invalidStatus, .spaceBeforeFirstField, .missingColon,
            .spaceBeforeColon, .invalidFieldName, .foldedField, .invalidFieldValue, .missingHost,
            .severalHosts, .invalidHost, .invalidLength, .contradictoryLengths, .lengthAndCoding,
            .lengthWithoutBody, .codingWithoutBody, .codingInOldVersion, .codingNotChunkedLast,
            .chunkedTwice, .upgradeWithoutConnection, .missingUpgrade, .missingAllow,
            .missingChallenge, .interimToOldVersion, .chunkLineForm, .forbiddenTrailer:
            .sure
        // A SHOULD of RFC 9110 §2.5.
        case .unsupportedVersion: .likely
        // Nothing forbids other codings, cut connections and other protocols.
        case .unknownCoding, .incomplete, .notHTTP: .weak
        }
    }

    private static func obliged(by kind: HTTPViolation.Rule) -> Side? {
        switch kind {
        case .invalidMethod, .invalidTarget, .missingHost, .severalHosts, .invalidHost,
            .codingNotChunkedLast:
            .app
        case .invalidStatus, .lengthWithoutBody, .codingWithoutBody, .missingUpgrade,
            .missingAllow, .missingChallenge, .interimToOldVersion:
            .board
        default: nil
        }
    }

    private static func demand(of kind: HTTPViolation.Rule) -> String {
        switch kind {
        case .bareLineFeed: "Each line ends in a carriage return and a line feed"
        case .bareCarriageReturn: "No carriage return stands within a line"
        case .emptyLineBeforeStart: "No empty line stands before a message"
        case .startLineForm: "The start line has the form that the grammar gives"
        case .invalidMethod: "The method is a token"
        case .invalidTarget: "The request target has one of the four forms"
        case .unsupportedVersion: "The version is one of HTTP/1"
        case .invalidStatus: "The status code is one of 100 to 599"
        case .spaceBeforeFirstField: "No white space stands before the first field line"
        case .missingColon: "Each field line has a colon"
        case .spaceBeforeColon: "No white space stands between a field's name and the colon"
        case .invalidFieldName: "A field's name is a token"
        case .foldedField: "No field line is folded"
        case .invalidFieldValue: "A field's value has no control characters"
        case .missingHost: "A request has a Host"
        case .severalHosts: "A request has one Host line"
        case .invalidHost: "Host is a host with an optional port"
        case .invalidLength: "Content-Length is a number"
        case .contradictoryLengths: "Content-Length has one value"
        case .lengthAndCoding: "Content-Length does not stand beside Transfer-Encoding"
        case .lengthWithoutBody: "A response that has no body has no Content-Length"
        case .codingWithoutBody: "A response that has no body has no Transfer-Encoding"
        case .codingInOldVersion: "Transfer-Encoding does not cross to or from HTTP/1.0"
        case .codingNotChunkedLast: "The last transfer coding of a request is chunked"
        case .chunkedTwice: "Chunked is applied once"
        case .unknownCoding: "A transfer coding is one that is registered"
        case .upgradeWithoutConnection: "Who sends Upgrade sends Connection: upgrade too"
        case .missingUpgrade: "A 101 or 426 names a protocol in Upgrade"
        case .missingAllow: "A 405 names the allowed methods in Allow"
        case .missingChallenge: "A 401 has a WWW-Authenticate"
        case .interimToOldVersion: "No interim response answers HTTP/1.0"
        case .chunkLineForm: "A chunk line has the form that the grammar gives"
        case .forbiddenTrailer: "No field that frames or routes stands in the trailers"
        case .incomplete: "A message is sent to its end"
        case .notHTTP: "What crosses is HTTP"
        }
    }
}

extension String {
    /// `notHTTP` without its capitals.
    fileprivate var replacingHTTP: String { self == "notHTTP" ? "otherProtocol" : self }
}

/// A departure of a message from HTTP/1.1, found by judging what was decoded.
///
/// The decoder takes such messages all the same; this says what is wrong with them.
package struct HTTPViolation: Hashable, Sendable {
    package var rule: Rule
    /// What was found, such as the field's name; empty where the rule says it all.
    package var detail: String

    package init(_ rule: Rule, _ detail: String = "") {
        self.rule = rule
        self.detail = detail
    }

    /// A sentence for a person, without a full stop.
    package var text: String {
        detail.isEmpty ? rule.sentence : "\(rule.sentence): \(detail)"
    }

    /// The rules of RFC 9112 and RFC 9110 that are looked at.
    package enum Rule: String, CaseIterable, Sendable {
        case bareLineFeed
        case bareCarriageReturn
        case emptyLineBeforeStart
        case startLineForm
        case invalidMethod
        case invalidTarget
        case unsupportedVersion
        case invalidStatus
        case spaceBeforeFirstField
        case missingColon
        case spaceBeforeColon
        case invalidFieldName
        case foldedField
        case invalidFieldValue
        case missingHost
        case severalHosts
        case invalidHost
        case invalidLength
        case contradictoryLengths
        case lengthAndCoding
        case lengthWithoutBody
        case codingWithoutBody
        case codingInOldVersion
        case codingNotChunkedLast
        case chunkedTwice
        case unknownCoding
        case upgradeWithoutConnection
        case missingUpgrade
        case missingAllow
        case missingChallenge
        case interimToOldVersion
        case chunkLineForm
        case forbiddenTrailer
        case incomplete
        case notHTTP

        /// Where the rule stands.
        package var section: String {
            switch self {
            case .bareLineFeed, .bareCarriageReturn, .emptyLineBeforeStart,
                .spaceBeforeFirstField:
                "RFC 9112 §2.2"
            case .notHTTP: "RFC 9112 §2.1"
            case .unsupportedVersion: "RFC 9112 §2.3"
            case .startLineForm: "RFC 9112 §3, §4"
            case .invalidMethod: "RFC 9110 §9.1"
            case .invalidTarget, .missingHost, .severalHosts, .invalidHost: "RFC 9112 §3.2"
            case .invalidStatus: "RFC 9110 §15"
            case .missingColon, .invalidFieldName: "RFC 9112 §5"
            case .spaceBeforeColon: "RFC 9112 §5.1"
            case .foldedField: "RFC 9112 §5.2"
            case .invalidFieldValue: "RFC 9110 §5.5"
            case .invalidLength, .contradictoryLengths, .codingNotChunkedLast: "RFC 9112 §6.3"
            case .lengthAndCoding: "RFC 9112 §6.2"
            case .lengthWithoutBody: "RFC 9110 §8.6"
            case .codingWithoutBody, .codingInOldVersion, .chunkedTwice, .unknownCoding:
                "RFC 9112 §6.1"
            case .upgradeWithoutConnection: "RFC 9110 §7.8"
            case .missingUpgrade: "RFC 9110 §7.8, §15.5.22"
            case .missingAllow: "RFC 9110 §15.5.6"
            case .missingChallenge: "RFC 9110 §15.5.2"
            case .interimToOldVersion: "RFC 9110 §15.2"
            case .chunkLineForm: "RFC 9112 §7.1"
            case .forbiddenTrailer: "RFC 9110 §6.5.1"
            case .incomplete: "RFC 9112 §8"
            }
        }

        /// What the rule demands, as a breach of it.
        package var sentence: String {
            switch self {
            case .bareLineFeed: "a line ends in a line feed without a carriage return"
            case .bareCarriageReturn: "a carriage return stands within a line"
            case .emptyLineBeforeStart: "an empty line stands before the message"
            case .startLineForm: "the start line is not of the form that the grammar gives"
            case .invalidMethod: "the method is not a token"
            case .invalidTarget: "the request target has none of the four forms"
            case .unsupportedVersion: "the version is not one of HTTP/1"
            case .invalidStatus: "the status code is not one of 100 to 599"
            case .spaceBeforeFirstField: "white space stands before the first field line"
            case .missingColon: "a field line has no colon"
            case .spaceBeforeColon: "white space stands between a field's name and the colon"
            case .invalidFieldName: "a field's name is not a token"
            case .foldedField: "a field line is folded"
            case .invalidFieldValue: "a field's value has control characters"
            case .missingHost: "a request has no Host"
            case .severalHosts: "a request has several Host lines"
            case .invalidHost: "Host is not a host with an optional port"
            case .invalidLength: "Content-Length is not a number"
            case .contradictoryLengths: "Content-Length has different values"
            case .lengthAndCoding: "Content-Length and Transfer-Encoding stand together"
            case .lengthWithoutBody: "Content-Length stands in a response that has no body"
            case .codingWithoutBody: "Transfer-Encoding stands in a response that has no body"
            case .codingInOldVersion: "Transfer-Encoding crosses to or from HTTP/1.0"
            case .codingNotChunkedLast: "the last transfer coding of a request is not chunked"
            case .chunkedTwice: "chunked is applied more than once"
            case .unknownCoding: "a transfer coding is not known"
            case .upgradeWithoutConnection: "Upgrade stands without Connection: upgrade"
            case .missingUpgrade: "a 101 or 426 names no protocol in Upgrade"
            case .missingAllow: "a 405 has no Allow"
            case .missingChallenge: "a 401 has no WWW-Authenticate"
            case .interimToOldVersion: "an interim response answers HTTP/1.0"
            case .chunkLineForm: "a chunk line is not of the form that the grammar gives"
            case .forbiddenTrailer: "a field that may not be one stands in the trailers"
            case .incomplete: "the message is cut short"
            case .notHTTP: "the bytes are not HTTP"
            }
        }

        /// The status with which a server must or should refuse a request that has it; nil
        /// where it may take the request.
        package var refusal: Int? {
            switch self {
            case .invalidMethod, .invalidTarget, .startLineForm, .spaceBeforeFirstField,
                .missingColon, .spaceBeforeColon, .invalidFieldName, .foldedField,
                .invalidFieldValue, .bareCarriageReturn, .missingHost, .severalHosts,
                .invalidHost, .invalidLength, .contradictoryLengths, .lengthAndCoding,
                .codingInOldVersion, .codingNotChunkedLast, .chunkedTwice, .notHTTP, .incomplete:
                400
            case .unknownCoding: 501
            case .unsupportedVersion: 505
            case .bareLineFeed, .emptyLineBeforeStart, .invalidStatus, .lengthWithoutBody,
                .codingWithoutBody, .upgradeWithoutConnection, .missingUpgrade, .missingAllow,
                .missingChallenge, .interimToOldVersion, .chunkLineForm, .forbiddenTrailer:
                nil
            }
        }
    }
}

extension [HTTPViolation] {
    /// The first violation for which a server refuses the request, with the status.
    ///
    /// A version that is not spoken goes before all others: the rest may be right in it.
    package var firstRefusal: (status: Int, violation: HTTPViolation)? {
        if let version = first(where: { $0.rule == .unsupportedVersion }) { return (505, version) }
        for violation in self {
            if let status = violation.rule.refusal { return (status, violation) }
        }
        return nil
    }
}

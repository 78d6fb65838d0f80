extension BodyFraming {
    /// The framing of a request's body (RFC 9112 §6.3).
    ///
    /// Where the head contradicts itself nobody can say where the body ends. It then reaches
    /// to the end of the direction (`close`): the RFC has the receiver refuse the request and
    /// end the connection.
    package init(ofRequest head: HTTPHead) {
        self = Self.declared(by: head) ?? .none
    }

    /// The framing of the body of a response to a request with `method` (RFC 9112 §6.3).
    ///
    /// A head that contradicts itself is taken as `close`, like one that says nothing.
    package init(ofResponse head: HTTPHead, to method: String) {
        self.init(ofResponse: head, to: HTTPExpectedMethods.Kind(method))
    }

    init(ofResponse head: HTTPHead, to kind: HTTPExpectedMethods.Kind) {
        guard case .status(let code, _) = head.startLine else {
            self = .none
            return
        }
        if kind == .head || (100...199).contains(code) || code == 204 || code == 304
            || (kind == .connect && (200...299).contains(code))
        {
            self = .none
        } else {
            self = Self.declared(by: head) ?? .close
        }
    }

    /// What Transfer-Encoding or Content-Length say; nil when neither is there.
    ///
    /// Transfer-Encoding wins; a last coding other than chunked means `close`.
    private static func declared(by head: HTTPHead) -> BodyFraming? {
        var length: ContentLength?
        var lastCoding: String?
        for line in head.fieldLines {
            if line.isNamed("Transfer-Encoding") {
                lastCoding = line.tokens.last ?? lastCoding ?? ""
            } else if line.isNamed("Content-Length") {
                length = ContentLength(line.value, after: length)
            }
        }
        if let lastCoding {
            return lastCoding.equalsIgnoringCase("chunked") ? .chunked : .close
        }
        return length.map { if case .bytes(let count) = $0 { .length(count) } else { .close } }
    }
}

/// The Content-Length of a message, all of its field lines taken together (RFC 9110 §8.6).
enum ContentLength: Equatable {
    /// One value, however often it stands there.
    case bytes(UInt64)
    /// Not a number of 64 bits.
    case invalid
    case contradictory

    /// Adds a field line's value to what the lines before it gave.
    init(_ value: String, after before: ContentLength?) {
        var result = before
        for part in value.utf8.split(separator: HTTPByte.comma, omittingEmptySubsequences: false) {
            let next = Self.number(part).map { Self.bytes($0) } ?? .invalid
            switch (result, next) {
            case (nil, _): result = next
            case (.invalid, _), (_, .invalid): result = .invalid
            case (let old?, let new) where old == new: break
            default: result = .contradictory
            }
        }
        self = result ?? .invalid
    }

    private static func number(_ text: Substring.UTF8View) -> UInt64? {
        var digits = text
        while let byte = digits.first, HTTPByte.isWhiteSpace(byte) { digits.removeFirst() }
        while let byte = digits.last, HTTPByte.isWhiteSpace(byte) { digits.removeLast() }
        guard !digits.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in digits {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (tenfold, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(UInt64(byte - 0x30))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }
}

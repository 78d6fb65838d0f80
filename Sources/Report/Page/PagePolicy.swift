import Wire

/// How a page says what a browser may run and load of it (Content Security Policy, level 3).
package enum PagePolicy {
    /// How a policy names a text that may stand in the page; one that fits nothing where there is
    /// no digest.
    package static func source(_ text: String) -> String {
        let digest = sha256(Bytes(text.utf8)) ?? []
        var digits = Bytes()
        appendBase64(digest.span, to: &digits)
        return "sha256-" + String(decoding: digits, as: UTF8.self)
    }
}

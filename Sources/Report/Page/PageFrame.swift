package import Wire

/// What all pages have around what they say: a head whose policy lets the page load nothing and run
/// no script but its own, and the colours of light and dark.
package enum PageFrame {
    /// A page up to its body.
    ///
    /// - Parameters:
    ///   - title: plain text.
    ///   - style: the whole style sheet.
    ///   - script: the script at the end of the body; nil for none.
    ///   - inside: what pages within it run.
    ///   - connects: lets the script speak to the server that the page came from.
    package static func head(
        title: String, style: String, script: String? = nil, inside: InsidePage? = nil,
        connects: Bool = false
    ) -> String {
        var policy = "default-src 'none'; "
        if connects { policy += "connect-src 'self'; " }
        let scripts = [script, inside?.script].compactMap(\.self)
        let styles = [style, inside?.style].compactMap(\.self)
        func sources(_ texts: [String]) -> String {
            texts.map { "'\(PagePolicy.source($0))'" }.joined(separator: " ")
        }
        if !scripts.isEmpty { policy += "script-src \(sources(scripts)); " }
        policy += "style-src \(sources(styles)); base-uri 'none'; form-action 'none'"
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width">
            <meta name="referrer" content="no-referrer">
            <title>\(xmlText(title))</title>
            <style>\(style)</style>
            </head>
            <body>

            """
    }

    /// Appends data of a script, as JSON in which nothing ends a script block or begins a comment.
    ///
    /// In JSON `<`, `>` and `&` stand in strings only, where an escape means the same.
    package static func append(data value: JSON, to bytes: inout Bytes) {
        let encoded = value.encoded
        // Most say nothing of the kind.
        guard encoded.contains(where: { $0 == 0x26 || $0 == 0x3c || $0 == 0x3e }) else {
            bytes += encoded
            return
        }
        for byte in encoded {
            switch byte {
            case UInt8(ascii: "<"): bytes += Bytes("\\u003c".utf8)
            case UInt8(ascii: ">"): bytes += Bytes("\\u003e".utf8)
            case UInt8(ascii: "&"): bytes += Bytes("\\u0026".utf8)
            default: bytes.append(byte)
            }
        }
    }

    /// Variables of a style sheet, with what follows from them for the whole page.
    package static let colours = """

        :root {
          color-scheme: light dark;
          --back: #ffffff; --panel: #f5f6f8; --edge: #d9dce1; --text: #1c2128; --dim: #68707b;
          --good: #1a7f37; --bad: #c4232f; --warning: #9a6200; --red: #fdeced;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #14171c; --panel: #1b1f26; --edge: #323842; --text: #dde2e9; --dim: #8b94a1;
            --good: #57c26f; --bad: #ff7b83; --warning: #e0b04c; --red: #3a1e23;
          }
        }
        * { box-sizing: border-box; }

        """
}

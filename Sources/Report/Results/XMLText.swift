/// Text as it may stand in an XML document (XML 1.0 §2.2): markup is escaped, and characters
/// that XML has no way to write are replaced by U+FFFD.
package func xmlText(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": result.append(contentsOf: "&amp;".unicodeScalars)
        case "<": result.append(contentsOf: "&lt;".unicodeScalars)
        case ">": result.append(contentsOf: "&gt;".unicodeScalars)
        case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
        case "\t", "\n", " "..."\u{d7ff}", "\u{e000}"..."\u{fffd}", "\u{10000}"..."\u{10ffff}":
            // The C1 controls are allowed, and wanted by nobody.
            result.append(("\u{7f}"..."\u{9f}").contains(scalar) ? "\u{fffd}" : scalar)
        default: result.append("\u{fffd}")
        }
    }
    return String(result)
}

/// An attribute with its value, and a space in front; line ends in it stay.
func xmlAttribute(_ name: String, _ value: String) -> String {
    let escaped = xmlText(value).split(separator: "\n", omittingEmptySubsequences: false)
        .joined(separator: "&#10;")
    return " \(name)=\"\(escaped)\""
}

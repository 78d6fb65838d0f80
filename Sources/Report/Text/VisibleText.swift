/// What came from the link, made fit for a terminal: nothing in it moves the cursor, changes a
/// colour or hides a neighbour.
///
/// Control and format characters, line and paragraph separators and private or unassigned ones
/// are written as escapes. Text that is escaped already, such as JSON, keeps its backslashes.
package func visible(_ text: String, escapingBackslash: Bool = true) -> String {
    // Most text is plain ASCII and stays as it is.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x5c }) { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count + 8)
    for scalar in text.unicodeScalars {
        if scalar == "\\", !escapingBackslash {
            result.append("\\")
        } else {
            appendVisible(scalar, to: &result)
        }
    }
    return result
}

private func appendVisible(_ scalar: Unicode.Scalar, to result: inout String) {
    switch scalar {
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    // Joiners shape emoji and scripts, and hide nothing.
    case "\u{200c}", "\u{200d}": result.unicodeScalars.append(scalar)
    default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            result += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: result.unicodeScalars.append(scalar)
        }
    }
}

/// How many columns a text takes in a terminal.
///
/// East Asian wide characters and emoji take two, combining marks none; a character made of
/// several scalars takes what its widest takes.
package func columns(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
}

/// How many columns one character takes.
func columns(_ character: Character) -> Int {
    character.unicodeScalars.reduce(0) { max($0, columns($1)) }
}

private func columns(_ scalar: Unicode.Scalar) -> Int {
    // Most are, and the tables of properties are slow.
    if scalar.isASCII { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    // The wide blocks of Unicode Standard Annex 11 that text of people contains.
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97f, 0xac00...0xd7a3,
        0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6,
        0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
        return 2
    default: return 1
    }
}

/// The text cut to a number of columns, with `…` in place of what is missing.
package func cut(_ text: String, toColumns maximum: Int) -> String {
    // What is no longer in bytes is no wider either: a column takes at least one.
    if text.utf8.count <= maximum { return text }
    var width = 0
    var end = text.startIndex
    for index in text.indices {
        width += columns(text[index])
        if width > maximum { return String(text[..<end]) + "…" }
        if width < maximum { end = text.index(after: index) }
    }
    return text
}

package import Report
package import Wire

/// The page in which a person looks at sessions: what a server gives, and what a file is.
///
/// A strict policy lets it load nothing, and run no script but its own, which it names by its
/// digest; one from a server may speak to that server. Captured text is data of the script, and
/// becomes text only.
package struct InspectorPage: Sendable {
    /// What each session is called, in the order of their numbers.
    private let sessions: [String]
    /// Whether the data comes from a server.
    private let isLive: Bool
    /// The part of the page that is open at the beginning.
    private let tab: Tab
    /// Which sessions can be seen side by side, by their numbers, where the page has that within.
    private let comparisons: [(first: Int, second: Int)]

    /// A part of the page, beside the list.
    package enum Tab: String, Sendable {
        case event
        case rules
        case charts
        case about
    }

    /// Makes a page for sessions.
    package init(
        sessions: [String], isLive: Bool, tab: Tab = .event,
        comparisons: [(first: Int, second: Int)] = []
    ) {
        self.sessions = sessions
        self.isLive = isLive
        self.tab = tab
        self.comparisons = comparisons
    }

    /// What this page runs, for a page that has it within.
    package static let asInside = InsidePage(style: style, script: script)

    /// The style sheet.
    static let style = PageFrame.colours + WebFiles.style
    /// The script, in a scope of its own.
    static let script =
        "\n(function () {\n\"use strict\";\n" + WebFiles.scripts.joined(separator: "\n")
        + InsidePage.script + "})();\n"

    /// What a server says of it besides: the page's own policy cannot forbid that it stands within
    /// another page.
    package static let policy = "frame-ancestors 'none'"

    /// The page up to its data.
    package var head: Bytes {
        let title = sessions.count == 1 ? sessions[0] + " · bridgetap" : "bridgetap"
        let head = PageFrame.head(
            title: title, style: Self.style, script: Self.script,
            inside: comparisons.isEmpty ? nil : ComparisonPage.asInside, connects: isLive)
        var bytes = Bytes((head + WebFiles.body).utf8)
        bytes += Bytes("<script type=\"application/json\" id=\"config\">".utf8)
        PageFrame.append(
            data: .object([
                .init("live", .bool(isLive)), .init("tab", .string(tab.rawValue)),
                .init(
                    "comparisons",
                    .array(
                        comparisons.map { [.integer($0.first), .integer($0.second)] })),
                .init(
                    "sessions",
                    .array(
                        sessions.map { .string(visible($0, escapingBackslash: false)) })),
            ]), to: &bytes)
        bytes += Bytes("</script>\n".utf8)
        return bytes
    }

    /// The script, which stands behind what it begins with.
    package var scriptElement: Bytes { Bytes("<script>\(Self.script)</script>\n".utf8) }

    /// The page's end.
    package var tail: Bytes { Bytes("</body>\n</html>\n".utf8) }

    /// All of a page whose data comes from a server.
    package var whole: Bytes { head + scriptElement + tail }
}

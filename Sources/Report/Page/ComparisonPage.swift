import Capture
package import Wire

/// One page that shows compared sessions side by side, for a browser without a network.
///
/// Everything is in the page: a strict policy lets it load nothing and run no script but its own,
/// which it names by its digest. What comes from sessions stands in JSON blocks that no browser
/// runs, with every `<` escaped, and becomes text only. It is written part by part, so memory does
/// not grow with the sessions.
package struct ComparisonPage {
    /// One comparison: two sessions and what came of it.
    package struct Comparison {
        /// Its place among the others of the page.
        package var index: Int
        package var name: String
        /// One word, such as `same`.
        package var verdict: String
        /// Whether it is to be looked at.
        package var isDifferent: Bool
        /// One line about the whole.
        package var summary: String
        /// What else is to be said, a line each.
        package var remarks: [String] = []
        /// The command that does it again.
        package var again: String?
        /// What the two sides are called.
        package var sides: (first: String, second: String)
        package var items: [ComparedItem]
        package var rows: (first: SessionRows, second: SessionRows)
        /// Gives the page that shows both sessions one by one, part by part; nil for none.
        package var sessionsPage: (((Bytes) throws -> Void) throws -> Void)?

        package init(
            index: Int = 0, name: String, verdict: String, isDifferent: Bool, summary: String,
            sides: (first: String, second: String), items: [ComparedItem],
            rows: (first: SessionRows, second: SessionRows)
        ) {
            self.index = index
            self.name = name
            self.verdict = verdict
            self.isDifferent = isDifferent
            self.summary = summary
            self.sides = sides
            self.items = items
            self.rows = rows
        }
    }

    private let title: String
    private let showsValues: Bool
    private let mask: PersonalMask
    private let inside: InsidePage?

    /// What this page runs, for a page that has it within.
    package static let asInside = InsidePage(style: PageStyle.text, script: PageScript.text)

    /// So much is written at once.
    private static let blockSize = 256 << 10

    /// - Parameters:
    ///   - title: what the page is about.
    ///   - showsValues: shows what messages say; else only what kind of values differ, and no line
    ///     with what was said.
    ///   - inside: what pages run that show the sessions of comparisons one by one.
    package init(title: String, showsValues: Bool, inside: InsidePage? = nil) {
        self.inside = inside
        self.title = title
        self.showsValues = showsValues
        mask = PersonalMask(isOpen: showsValues)
    }

    /// The page's beginning.
    package var head: Bytes {
        let head = PageFrame.head(
            title: title, style: PageStyle.text, script: PageScript.text, inside: inside)
        return Bytes(
            """
            \(head)\(PageStyle.body(title: xmlText(title)))
            <noscript>The sessions are shown by a script of this page, which loads nothing.</noscript>

            """.utf8)
    }

    /// Its end, with the script.
    package var tail: Bytes {
        Bytes("<script>\(PageScript.text)</script>\n</body>\n</html>\n".utf8)
    }

    // MARK: A comparison

    /// Writes a comparison, some hundred kilobytes at a time.
    package func write(
        _ comparison: Comparison, to output: (Bytes) throws -> Void
    ) throws {
        let layout = RowLayout(
            comparison.rows.first, comparison.rows.second, items: comparison.items)
        var bytes = Bytes()
        func add(_ value: JSON) throws {
            PageFrame.append(data: value, to: &bytes)
            guard bytes.count >= Self.blockSize else { return }
            try output(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        func list<Values: Sequence>(
            _ values: Values, _ element: (Values.Element) throws -> JSON
        ) throws {
            bytes += Bytes("[".utf8)
            var isFirst = true
            for value in values {
                if !isFirst { bytes += Bytes(",\n".utf8) }
                isFirst = false
                try add(element(value))
            }
            bytes += Bytes("]".utf8)
        }
        let number = comparison.index
        bytes += Bytes("<script type=\"application/json\" class=\"about\">".utf8)
        try add(about(comparison))
        bytes += Bytes("</script>\n<script type=\"application/json\" id=\"items-\(number)\">".utf8)
        try list(comparison.items.indices) { item(comparison.items[$0], layout.places[$0] ?? []) }
        bytes += Bytes(
            "</script>\n<script type=\"application/json\" id=\"rows-\(number)\">{\"first\":".utf8)
        try list(0..<comparison.rows.first.count) { row(try comparison.rows.first.line(at: $0)) }
        bytes += Bytes(",\n\"second\":".utf8)
        try list(0..<comparison.rows.second.count) { row(try comparison.rows.second.line(at: $0)) }
        bytes += Bytes(",\n\"lines\":".utf8)
        try list(layout.lines) { line in
            .array([line.left, line.right, line.item].map { .integer($0 ?? -1) })
        }
        bytes += Bytes("}</script>\n".utf8)
        try output(bytes)
        if let sessions = comparison.sessionsPage {
            try InsidePage.write(id: "inside-\(number)", page: sessions, to: output)
        }
    }

    private func about(_ comparison: Comparison) -> JSON {
        var remarks = comparison.remarks
        for (name, rows) in [
            (comparison.sides.first, comparison.rows.first),
            (comparison.sides.second, comparison.rows.second),
        ] where rows.left > 0 {
            remarks.append("\(name): \(counted(rows.left, "line")) more are not in this page")
        }
        return .object([
            .init("index", .integer(comparison.index)), .init("name", text(comparison.name)),
            .init("verdict", text(comparison.verdict)),
            .init("different", .bool(comparison.isDifferent)),
            .init("summary", text(comparison.summary)),
            .init("remarks", .array(remarks.map(text))),
            .init("again", comparison.again.map(text) ?? .null),
            .init("inside", .bool(comparison.sessionsPage != nil)),
            .init("first", text(comparison.sides.first)),
            .init("second", text(comparison.sides.second)),
        ])
    }

    private func item(_ item: ComparedItem, _ places: [Int]) -> JSON {
        var members: [JSON.Member] = [
            .init("kind", .string(item.kind)), .init("outcome", .string(item.outcome.word)),
            .init("counts", .bool(item.outcome.counts)), .init("group", text(item.group)),
            .init("name", text(item.name)), .init("lines", .array(places.map { .integer($0) })),
        ]
        var remarks = item.remarks.map { JSON.string($0) }
        if item.left > 0 {
            remarks.append(.string("and \(counted(item.left, "difference")) more"))
        }
        if !remarks.isEmpty { members.append(.init("remarks", .array(remarks))) }
        let differences = item.differences.filter { !DiffText.isExpected($0.kind) }
        if !differences.isEmpty {
            members.append(.init("differences", .array(differences.map(difference))))
        }
        return .object(members)
    }

    private func difference(_ difference: FieldDifference) -> JSON {
        let (first, second) = mask.both(difference)
        let why = [DiffText.word(difference.kind), difference.why].compactMap { $0 }
        return .array([
            text(difference.path), .string(first), .string(second),
            text(why.joined(separator: ": ")), .bool(difference.counts),
        ])
    }

    /// A line of a timeline: time, connection, direction, label, whether something broke, and the
    /// runs of its text, each with its style in front.
    private func row(_ line: TimelineLine) -> JSON {
        let line = showsValues ? line : line.withoutValues
        let direction =
            switch line.direction {
            case .none: ""
            case .from(.app): "→"
            case .from(.board): "←"
            case .both: "⇄"
            }
        return .array([
            .string(line.time.map(clockTime) ?? ""),
            .string(line.conn == 0 ? "" : "\(line.conn)"), .string(direction),
            .string(line.label.text), .bool(line.isBroken),
            .array(
                line.text.filter { !$0.text.isEmpty }
                    .flatMap { [.string($0.style.rawValue), .string($0.text)] }),
        ])
    }

    private func text(_ text: String) -> JSON { .string(visible(text, escapingBackslash: false)) }
}

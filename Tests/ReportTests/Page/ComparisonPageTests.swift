import Capture
import Report
import Testing
import Wire

@Suite struct ComparisonPageTests {
    private static let attack =
        #"</script><script>alert(1)</script><!--<img src=x onerror=a()>&lt;"#

    /// A page of two sessions that say hostile things wherever they can.
    private static func hostile(showsValues: Bool = true, title: String = "diff") throws -> String {
        let json = JSON.string(attack).description
        func session(_ id: String, _ text: String) -> SessionSketch {
            DiffProbe.session { sketch in
                sketch.command(10, 1, id, "clipboard_read")
                sketch.result(20, 1, id, "clipboard_read", data: #"{"text":\#(text)}"#)
                sketch.exchange(30, 2, 1, "POST /\(attack)", body: attack, 200, attack)
                sketch.frame(40, 1, .board, .close, [3, 232] + Bytes(attack.utf8))
            }
        }
        let probe = try PageProbe(session("<b>c1</b>", json), session("<b>c1</b>", #""other""#))
        return try page(probe, showsValues: showsValues, title: title, name: attack)
    }

    private static func page(
        _ probe: PageProbe, showsValues: Bool = true, title: String = "diff", name: String = "a"
    ) throws -> String {
        let page = ComparisonPage(title: title, showsValues: showsValues)
        var bytes = page.head
        try page.write(
            ComparisonPage.Comparison(
                name: name, verdict: "different", isDifferent: true, summary: "1 changed",
                sides: ("recorded", "live"), items: probe.items,
                rows: (probe.first, probe.second))
        ) { bytes += $0 }
        return String(decoding: bytes + page.tail, as: UTF8.self)
    }

    /// The data blocks of a page, by id, `about` for the one without.
    private static func blocks(_ page: String) throws -> [String: JSON] {
        var blocks: [String: JSON] = [:]
        for match in page.matches(
            of: /<script type="application\/json" (?:id|class)="([^"]*)">(.*?)<\/script>/
                .dotMatchesNewlines())
        {
            blocks[String(match.1)] = try JSON(parsing: String(match.2))
        }
        return blocks
    }

    @Test func `what was captured stays text, whatever it says`() throws {
        let page = try Self.hostile()
        #expect(page.matches(of: /<script/).count == 4, "three blocks of data and one script")
        #expect(page.matches(of: /<\/script>/).count == 4)
        #expect(!page.contains("<!--"))
        #expect(!page.contains("<img"))
        #expect(!page.contains("<b>c1"))
        let blocks = try Self.blocks(page)
        #expect(blocks["about"]?["name"]?.stringValue == Self.attack)
        let item = try #require(
            blocks["items-0"]?.elements?.first { $0["group"]?.stringValue == "clipboard_read" })
        #expect(item["name"]?.stringValue == "<b>c1</b> 1")
        #expect(item["differences"]?[0]?[1]?.stringValue == JSON.string(Self.attack).description)
    }

    @Test func `a title stays text too`() throws {
        let page = try Self.hostile(title: "</title><script>")
        #expect(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"))
    }

    @Test func `the data names every difference, with the lines at which it stands`() throws {
        let first = DiffProbe.session { sketch in
            for number in 1...9 {
                sketch.command(Int64(number * 10), 1, "c\(number)", "clipboard_read")
                sketch.result(
                    Int64(number * 10 + 5), 1, "c\(number)", "clipboard_read",
                    data: #"{"text":"\#(number)"}"#)
            }
        }
        let second = DiffProbe.session { sketch in
            for number in 1...9 {
                sketch.command(Int64(number * 10), 1, "c\(number)", "clipboard_read")
                guard number != 5 else { continue }
                sketch.result(
                    Int64(number * 10 + 5), 1, "c\(number)", "clipboard_read",
                    data: #"{"text":"\#(number == 7 ? 70 : number)"}"#)
            }
        }
        let blocks = try Self.blocks(try Self.page(try PageProbe(first, second)))
        let items = try #require(blocks["items-0"]?.elements)
        let differing = items.filter { $0["counts"]?.boolValue == true }
        #expect(
            differing.map { $0["name"]?.stringValue } == ["c5 5", "c7 7"])
        #expect(differing.map { $0["outcome"]?.stringValue } == ["unanswered", "changed"])
        let lines = try #require(blocks["rows-0"]?["lines"]?.elements)
        for item in differing {
            let places = try #require(item["lines"]?.elements)
            #expect(places.count == 2)
            for place in places {
                let index = try #require(place.integerValue.flatMap { Int(exactly: $0) })
                let owner = try #require(lines[index][2]?.integerValue)
                #expect(items[Int(owner)]["name"] == item["name"])
            }
        }
    }

    @Test func `the page loads nothing and runs nothing but its own script`() throws {
        let page = try Self.hostile()
        #expect(page.contains("default-src 'none'; script-src 'sha256-"))
        let script = try #require(
            page.split(separator: "<script>").last?.split(separator: "</script>").first)
        let sum = try #require(sha256(Bytes(script.utf8)))
        var digest = Bytes()
        appendBase64(sum.span, to: &digest)
        #expect(page.contains("script-src 'sha256-\(String(decoding: digest, as: UTF8.self))'"))
        #expect(!page.contains("unsafe-inline"))
        #expect(!page.contains(/\s(?:src|href|action|style|on[a-z]+)=["']/))
        for word in ["http:", "https:", "@import", "url(", "fetch(", "eval(", "innerHTML"] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test func `values that tell about a person are left out where they are not to be shown`()
        throws
    {
        let shown = try Self.page(
            try PageProbe(SessionRowsTests.talkative, SessionRowsTests.talkative))
        #expect(shown.contains("SECRET"))
        let hidden = try Self.page(
            try PageProbe(
                SessionRowsTests.talkative,
                DiffProbe.session { sketch in
                    sketch.command(10, 1, "c1", "clipboard_write", payload: #"{"text":"SECRET 2"}"#)
                    sketch.result(20, 1, "c1", "clipboard_write", data: #"{"text":"SECRET 3"}"#)
                }), showsValues: false)
        #expect(!hidden.contains("SECRET"))
        #expect(hidden.contains("characters›"))
    }

    @Test func `a large session is written in parts`() throws {
        let sketch = DiffProbe.session { sketch in
            for number in 1...1000 {
                sketch.command(Int64(number), 1, "c\(number)", "open_app")
                sketch.result(Int64(number), 1, "c\(number)", "open_app")
            }
        }
        let probe = try PageProbe(sketch, sketch)
        let page = ComparisonPage(title: "diff", showsValues: true)
        var sizes: [Int] = []
        try page.write(
            ComparisonPage.Comparison(
                name: "a", verdict: "same", isDifferent: false, summary: "",
                sides: ("a", "b"), items: probe.items, rows: (probe.first, probe.second))
        ) { sizes.append($0.count) }
        #expect(sizes.count > 2)
        #expect(sizes.allSatisfy { $0 < 300 << 10 })
    }
}

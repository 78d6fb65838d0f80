import Capture
import Inspector
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct SessionFeedTests {
    @Test(arguments: FedSession.names)
    func `the rows are the lines of the timeline and the rules that are broken`(
        name: String
    ) throws {
        let session = try FedSession.example(name)
        var timeline = Timeline()
        var checker = RuleChecker()
        var reader = MeaningReader(contract: .current)
        var lines: [String] = []
        var broken = 0
        let layout = TimelineText(isColoured: false, width: nil)
        for original in try FedSession.events(of: name) {
            var event = original
            reader.annotate(&event)
            if !original.bridge.isEmpty { event.bridge = original.bridge }
            lines += timeline.receive(event).filter { $0.time != nil }.map { layout.text($0) }
            broken += checker.receive(event).count
        }
        lines += timeline.finish().filter { $0.time != nil }.map { layout.text($0) }
        broken += checker.finish().count
        let rows = try session.records("r")
        #expect(try session.records("b").count == broken)
        let marks: Set = ["rule", "doubt"]
        let own = rows.filter { !marks.contains($0[8]?.stringValue ?? "") }
        #expect(rows.count - own.count == broken)
        // A rule that breaks ends a fold, so there may be more lines than the terminal has.
        #expect(broken > 0 ? own.count >= lines.count : own.count == lines.count)
        if broken == 0 {
            for (row, line) in zip(own, lines) { #expect(line.contains(FedSession.text(row))) }
        }
    }

    @Test(arguments: FedSession.names)
    func `every event is to be had, as it is in the file`(name: String) throws {
        let session = try FedSession.example(name)
        var expected: [Bytes] = []
        let encoder = EventEncoder()
        for event in try FedSession.events(of: name) {
            var line = Bytes()
            encoder.encode(event, into: &line)
            expected.append(Bytes(line.dropLast()))
        }
        #expect(try session.lines == expected)
        let blocks = session.feed.log.blocks
        #expect(try session.records("d").count == blocks.count)
        #expect(blocks.last?.last == expected.count - 1)
    }

    @Test func `a command is a span with its time-out, and its result says that it was late`()
        throws
    {
        let session = try FedSession.example("late-answer")
        let commands = try session.records("r").compactMap { $0[10]?.elements }
        let late = try #require(
            commands.first { $0[2] == "answered" && $0[4].boolValue == true })
        let sent = try #require(commands.first { $0[0] == late[0] && $0[2] == "sent" })
        let answer = try #require(
            try session.records("r").first { $0[10]?.elements == late }?[2]?.integerValue)
        #expect(try #require(sent[3].integerValue) < answer)
        let marks = try session.records("r").compactMap { $0[8]?.stringValue }
        #expect(marks.contains("late"))
    }

    @Test func `a fold says which events it counts`() throws {
        let session = try FedSession.example("all-commands")
        let folds = try session.records("r").compactMap { $0.elements }.filter { $0.count > 11 }
        #expect(!folds.isEmpty)
        for fold in folds {
            let first = try #require(fold[11].integerValue)
            let last = try #require(fold[12].integerValue)
            #expect(first <= last && first > 0)
        }
    }

    @Test func `what is still counted is told while it goes on`() throws {
        var session = FedSession()
        let events = try FedSession.events(of: "silence")
        var hasSeen = false
        for event in events {
            try session.feed.receive(event)
            let pending = try #require(session.feed.pending.elements)
            if let row = pending.first, row[5]?.stringValue == "alive" { hasSeen = true }
        }
        #expect(hasSeen)
        try session.feed.finish()
        #expect(session.feed.pending == .array([]))
        #expect(session.feed.log.isFinished)
    }

    @Test func `the app's states, its heartbeats, connections and routes are told`() throws {
        let session = try FedSession.example("pip-queue")
        #expect(try session.records("a").contains { $0[3] == "background" })
        #expect(try !session.records("k").isEmpty)
        let all = try FedSession.example("all-commands")
        #expect(try !all.records("u").isEmpty)
        #expect(try !all.records("h").isEmpty)
        let opened = try Set(all.records("c").compactMap { $0[1]?.integerValue })
        let closed = try Set(all.records("x").compactMap { $0[1]?.integerValue })
        #expect(closed.isSubset(of: opened) && !opened.isEmpty)
    }

    @Test func `a remark about the file stands among the rows`() throws {
        var session = FedSession()
        for event in try FedSession.events(of: "errors").prefix(10) {
            try session.feed.receive(event)
        }
        try session.feed.remark("line 11: cut short")
        try session.feed.advance(to: 9_000_000_000)
        try session.feed.finish()
        let rows = try session.records("r")
        #expect(rows.contains { FedSession.text($0).contains("cut short") && $0[8] == "broken" })
        #expect(try session.records("e").map { $0[1]?.integerValue } == [9_000_000_000])
        #expect(try session.records("f").count == 1)
    }

    @Test func `characters that turn or hide text are escaped`() throws {
        var session = FedSession()
        let name = "a\u{202e}b\u{7}<img src=x onerror=taken()>"
        try session.feed.receive(
            Event(
                seq: 1, time: 1, conn: 1, kind: .open(Event.Open(app: name, board: "b\u{200b}"))))
        try session.feed.receive(
            Event(seq: 2, time: 2, kind: .note(Event.Note(code: "mark", text: name))))
        try session.feed.finish()
        let text = String(
            decoding: try session.feed.log.records(from: 0, maximum: 1 << 20), as: UTF8.self)
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(scalar.properties.generalCategory != .format && scalar.value >= 0x20)
        }
        #expect(text.contains("<img src=x onerror=taken()>"))
    }

    @Test func `the command that plays it names the board that it was recorded with`() throws {
        let session = try FedSession.example("errors")
        let about = try #require(try session.records("i").first)
        #expect(
            about[1]?["replay"]?.stringValue
                == "bridgetap replay lab.ndjson --as app --to ws://192.168.42.1:8080/api/phone-bridge"
        )
        var unknown = FedSession()
        try unknown.feed.receive(Event(time: 0, kind: .note(.init(code: "mark", text: "here"))))
        let word = try #require(try unknown.records("i").first)
        #expect(
            word[1]?["replay"]?.stringValue?.hasSuffix("ws://BOARD:8080/api/phone-bridge") == true)
    }
}

import Capture
import Foundation
import PhoneBridge
import Testing

/// A session that lacks something breaks nothing that the whole session does not break.
@Suite struct HoleTests {
    private static let files = RecordedSessionsTests.own + RecordedSessionsTests.board

    private func events(_ file: String) throws -> [Event] {
        var reader = SessionReader(
            try SessionFileSource(path: RecordedSessionsTests.root.appending(path: file).path))
        var events: [Event] = []
        while let item = try reader.next() {
            if case .event(let event) = item { events.append(event) }
        }
        return events
    }

    /// The rules that are broken, but for weak ones.
    ///
    /// - Parameter goesOn: whether nothing happens for an hour behind the last event.
    private func broken(_ events: [Event], goesOn: Bool = true) -> Set<String> {
        var checker = RuleChecker(profile: .board12)
        var breaches = events.flatMap { checker.receive($0) }
        if goesOn {
            breaches += checker.advance(to: (events.last?.time ?? 0) + 3_600_000_000_000)
        }
        breaches += checker.finish()
        return Set(breaches.filter { $0.rule.rating != .weak }.map(\.rule.id))
    }

    /// The connections that are open behind `events`.
    private func open(_ events: ArraySlice<Event>) -> [Int] {
        var open: Set<Int> = []
        for event in events where event.conn > 0 {
            if case .close = event.kind { open.remove(event.conn) } else { open.insert(event.conn) }
        }
        return open.sorted()
    }

    private func gaps(_ events: ArraySlice<Event>, at time: Int64, _ why: String) -> [Event] {
        open(events).flatMap { conn in
            Side.allCases.map { side in
                Event(
                    time: time, conn: conn, from: side,
                    kind: .gap(Event.Gap(length: nil, why: why)))
            }
        }
    }

    /// Cuts of a session, spread over all of it.
    private func cuts(_ events: [Event]) -> [Range<Int>] {
        let lengths = [1, 6]
        let step = max(1, events.count / 12)
        return stride(from: 1, to: events.count, by: step).flatMap { start in
            lengths.map { start..<min(events.count, start + $0) }
        }
    }

    @Test(arguments: files)
    func `a pause of the recording is no breach`(_ file: String) throws {
        let events = try events(file)
        let whole = broken(events)
        for cut in cuts(events) {
            let time = events[cut.upperBound - 1].time
            let note = Event(
                time: time, kind: .note(Event.Note(code: "recording_gap", text: "")))
            let torn =
                events[..<cut.lowerBound] + [note]
                + gaps(events[..<cut.lowerBound], at: time, "disk_full")
                + events[cut.upperBound...]
            #expect(broken(Array(torn)).subtracting(whole) == [], "\(file) without \(cut)")
        }
    }

    @Test(arguments: files)
    func `missing packets of one side are no breach`(_ file: String) throws {
        let events = try events(file)
        let whole = broken(events)
        for cut in cuts(events) {
            let first = events[cut.lowerBound]
            guard first.conn > 0, let side = first.from else { continue }
            if case .close = first.kind { continue }
            let rest = events[cut].filter { event in
                if case .close = event.kind { return true }
                return event.conn != first.conn || event.from != side
            }
            let gap = Event(
                time: first.time, conn: first.conn, from: side,
                kind: .gap(Event.Gap(length: nil, why: "missing_packets")))
            let torn = events[..<cut.lowerBound] + [gap] + rest + events[cut.upperBound...]
            #expect(
                broken(Array(torn)).subtracting(whole) == [], "\(file) without \(cut) of \(side)")
        }
    }

    @Test(arguments: files)
    func `a session that begins or ends anywhere breaks nothing more`(_ file: String) throws {
        let events = try events(file)
        let whole = broken(events)
        for cut in cuts(events) where cut.count == 1 {
            let place = cut.lowerBound
            #expect(
                broken(Array(events[..<place]), goesOn: false).subtracting(whole) == [],
                "\(file) up to \(place)")
            #expect(
                broken([events[0]] + events[place...]).subtracting(whole) == [],
                "\(file) from \(place) on")
        }
    }
}

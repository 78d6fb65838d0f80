import BridgeProxy
import Capture
import ExampleSessions
import PhoneBridge
import Replay
import Testing
import Wire

/// What a ring keeps of a session is a session.
@Suite struct RingReplayTests {
    /// A ring of `duration` that was triggered behind the first `count` events of a session.
    private struct Cut: CustomStringConvertible {
        let name: String
        let count: Int
        let duration: Int64
        let bytes: Bytes

        var description: String { "\(name), \(duration / 1_000_000) ms before event \(count)" }
    }

    private static func events(_ name: String) throws -> (SessionInfo, [Event]) {
        var reader = try SessionReader(SessionFileSource(path: Captures.path(name)))
        var info: SessionInfo?
        var events: [Event] = []
        while let item = try reader.next() {
            guard case .event(let event) = item else { continue }
            if case .session(let first) = event.kind { info = first } else { events.append(event) }
        }
        return (try #require(info), events)
    }

    /// Rings of several lengths, triggered at places all over a session.
    private static func cuts(
        _ name: String, _ durations: [Int64], places: Int
    ) throws -> [Cut] {
        let (info, events) = try events(name)
        let step = max(1, events.count / places)
        return durations.flatMap { duration in
            let ring = EventRing(
                info, bounds: EventRing.Bounds(duration: duration, size: 64 << 20))
            var cuts: [Cut] = []
            for (index, event) in events.enumerated() {
                ring.receive(event)
                guard index % step == step - 1 || index == events.count - 1 else { continue }
                cuts.append(
                    Cut(
                        name: name, count: index + 1, duration: duration,
                        bytes: ring.session().inMemory().bytes))
            }
            return cuts
        }
    }

    private func events(_ bytes: Bytes) throws -> (events: [Event], remarks: [SessionRemark]) {
        var reader = SessionReader(MemorySource(bytes))
        var events: [Event] = []
        var remarks: [SessionRemark] = []
        while let item = try reader.next() {
            switch item {
            case .event(let event): events.append(event)
            case .remark(let remark): remarks.append(remark)
            }
        }
        return (events, remarks)
    }

    private func broken(_ events: [Event]) -> Set<String> {
        var checker = RuleChecker(profile: .board12)
        var breaches = events.flatMap { checker.receive($0) }
        breaches += checker.finish()
        return Set(breaches.map(\.rule.id))
    }

    @Test(arguments: Captures.names)
    func `its file is whole, and breaks no rule that the session does not break`(
        name: String
    ) throws {
        let whole = broken(try Self.events(name).1)
        for cut in try Self.cuts(name, [0, 300_000_000, 15_000_000_000], places: 8) {
            let (events, remarks) = try events(cut.bytes)
            #expect(remarks.isEmpty, "\(cut): \(remarks)")
            #expect(broken(events).subtracting(whole) == [], "\(cut)")
            let result = try SessionVerifier.verify(MemorySource(cut.bytes))
            let errors = result.findings.filter { $0.severity == .error }
            #expect(errors.isEmpty, "\(cut): \(errors)")
        }
    }
}

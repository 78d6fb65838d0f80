import Network
import PhoneBridge
import Simulator
import Testing
import Wire

/// Long sessions between clean peers, of what users and systems do to a phone, over slow and fast
/// links: none of it is a breach.
@Suite struct CleanPeersTests {
    /// A small source of chance that gives the same for the same seed.
    private struct Dice: RandomNumberGenerator {
        private var state: UInt64

        init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    private static let commands: [(String, JSON?)] = [
        ("clipboard_read", nil), ("clipboard_write", ["text": "Grüße, 你好"]),
        (
            "calendar_create",
            [
                "title": "t", "start_at": "2026-06-02T15:00:00+08:00",
                "end_at": "2026-06-02T16:00:00+08:00",
            ]
        ),
        ("calendar_query", ["from": "2026-06-01T00:00:00Z", "to": "2026-06-04T00:00:00Z"]),
        ("calendar_delete", ["event_id": "ios_event_1"]), ("contacts_query", ["query": "Wei"]),
        ("contacts_create", ["name": "Ana Beispiel"]),
        ("contacts_update", ["contact_id": "ios_contact_1", "name": "Bo Beispiel"]),
        ("notification_send", ["title": "Reminder"]),
    ]

    private func play(_ lab: DefectLab, _ platform: Platform, _ dice: inout Dice) {
        let mode: BackgroundMode = platform == .ios ? .pip : .fgs
        for number in 0..<40 {
            switch Int.random(in: 0..<14, using: &dice) {
            case 0...3:
                let (type, payload) = Self.commands[Int(dice.next() % UInt64(Self.commands.count))]
                lab.send(
                    BridgeCommand(
                        id: "w\(number)", type: type, timeoutMilliseconds: 8000, payload: payload))
            case 4: lab.send(BridgeCommand(id: "w\(number)", type: "open_app", app: "weixin"))
            case 5, 6: lab.enqueue("q\(number)")
            case 7: lab.query("q\(Int.random(in: 0...number, using: &dice))")
            case 8: lab.status()
            case 9: lab.app?.perform(.inactive)
            case 10: lab.app?.perform(.background(Bool.random(using: &dice) ? mode : .suspended))
            case 11: lab.app?.perform(.foreground)
            case 12: lab.app?.perform(.dropConnection)
            default: lab.app?.perform(.closeConnection(code: 1000, reason: "bye"))
            }
            lab.run(Double(Int.random(in: 0...200, using: &dice)) / 10)
        }
        lab.app?.perform(.foreground)
        lab.run(30)
    }

    @Test(arguments: 1...24)
    func `a long session between clean peers breaks nothing`(seed: Int) throws {
        var dice = Dice(seed)
        let platform: Platform = seed % 2 == 0 ? .ios : .android
        let latencies = [20_000...60_000, 1_000_000...40_000_000, 60_000_000...90_000_000]
        let lab = try DefectLab(
            nil, hasApp: true, seed: UInt64(seed),
            conditions: { conditions in
                conditions.latency = latencies[seed % 3]
                conditions.segment = seed % 4 == 0 ? 1...200 : 1448...1448
            }, app: { $0.platform = platform })
        play(lab, platform, &dice)
        let found = try lab.breaches().filter { $0.rule.rating != .weak }
        #expect(found.map { "\($0.rule.id) \($0.rule.rating.rawValue) \($0.text)" } == [])
    }
}

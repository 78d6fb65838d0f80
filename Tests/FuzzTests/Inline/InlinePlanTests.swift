import Capture
import Fuzz
import PhoneBridge
import Testing
import Wire

/// Which live messages are mutated, and how.
@Suite struct InlinePlanTests {
    private static let command =
        #"{"id":"c1","type":"clipboard_read","timeout_ms":4000}"#
    private static let texts: [(Side, String)] = [
        (.app, #"{"id":"heartbeat"}"#),
        (
            .app,
            #"{"id":"phone_app_state","method":"phone_app_state","data":{"app_state":"active"}}"#
        ),
        (.app, #"{"id":"phone_environment","data":{"platform":"ios"}}"#),
        (.app, #"{"id":"c1","method":"clipboard_read","data":{"text":"x"}}"#),
        (.board, command),
        (
            .board,
            #"{"id":"c2","type":"calendar_query","payload":{"start_at":"2026-06-01T00:00:00Z","end_at":"2026-07-01T00:00:00Z"}}"#
        ),
    ]

    static let messages: [LiveMessage] = texts.compactMap { side, text in
        LiveMessage(
            Bytes(text.utf8), from: side, contract: .current,
            command: { $0 == "c1" ? LiveMessage.Command(Bytes(command.utf8)) : nil })
    }

    private func strikes(_ plan: InlinePlan, _ count: Int) -> [String: InlineStrike] {
        var strikes: [String: InlineStrike] = [:]
        for message in Self.messages {
            for number in 0..<count {
                strikes["\(message.kind(.current)) \(number)"] =
                    plan.strike(message, number: number)
            }
        }
        return strikes
    }

    @Test func `a message is what it says, and what belongs to nothing is let be`() {
        #expect(
            Self.messages.map { $0.kind(.current) } == [
                "heartbeat of the app", "phone_app_state of the app",
                "phone_environment of the app", "answer to clipboard_read",
                "command clipboard_read", "command calendar_query",
            ])
        for (side, text) in [
            (Side.app, #"{"id":"nobody","data":{}}"#), (.app, "no JSON"), (.app, "{}"),
            (.board, #"{"id":"heartbeat"}"#), (.board, #"{"id":"c1"}"#), (.board, "[]"),
        ] {
            #expect(
                LiveMessage(
                    Bytes(text.utf8), from: side, contract: .current, command: { _ in nil })
                    == nil, "\(text)")
        }
    }

    @Test func `what is done follows from the seed, the number and the message alone`() {
        let first = strikes(InlinePlan(seed: 5), 40)
        var plan = InlinePlan(seed: 5)
        // Whatever was asked before.
        _ = plan.strike(Self.messages[0], number: 99)
        let again = strikes(plan, 40)
        #expect(Set(first.keys) == Set(again.keys))
        for (name, strike) in first {
            #expect(again[name]?.steps == strike.steps, "\(name)")
            #expect(again[name]?.script == strike.script, "\(name)")
        }
        plan = InlinePlan(seed: 6)
        let other = strikes(plan, 40)
        #expect(first.contains { other[$0.key]?.script != $0.value.script })
    }

    @Test func `most messages of a kind pass, and many kinds of mutations are among the others`() {
        let plan = InlinePlan(seed: 1)
        let all = strikes(plan, 300)
        let beats = all.filter { $0.key.hasPrefix("heartbeat") }
        #expect((10...80).contains(beats.count))
        #expect(all.count < Self.messages.count * 300 * 6 / 10)
        let rows = Set(all.values.map(\.mutation.id))
        #expect(rows.isSuperset(of: ["C1", "C4", "C6", "C10", "F1", "J1", "J3", "J7"]), "\(rows)")
        // The contract is silent about the others, and nothing could be told of them.
        #expect(all.values.allSatisfy { $0.mutation.rating != .weak })
    }

    @Test func `ids of two sessions differ, and nothing else does`() {
        let one = strikes(InlinePlan(seed: 5, mark: "aa"), 60)
        let other = strikes(InlinePlan(seed: 5, mark: "bb"), 60)
        #expect(Set(one.keys) == Set(other.keys))
        for (name, strike) in one {
            #expect(strike.mutation == other[name]?.mutation)
            if !strike.injected.isEmpty {
                #expect(Set(strike.injected).isDisjoint(with: other[name]?.injected ?? []))
            }
        }
        // No two messages get the same one.
        let ids = one.values.flatMap { Set($0.injected) }
        #expect(Set(ids).count == ids.count)
    }

    @Test func `levels narrow it`() {
        let all = strikes(InlinePlan(seed: 1, levels: [.frames]), 200)
        #expect(!all.isEmpty)
        #expect(all.values.allSatisfy { $0.mutation.id.hasPrefix("F") })
    }

    @Test func `a mutation is a script as well, whose control is the exchange as it was`() throws {
        for strike in strikes(InlinePlan(seed: 3), 150).values {
            let text = strike.script.description
            #expect(try FuzzScript(parsing: text) == strike.script, "\(text)")
            #expect(!strike.script.mutations.isEmpty, "\(text)")
            #expect(strike.script.control.mutations.isEmpty)
            #expect(strike.script.steps.count > strike.script.control.steps.count - 1)
            #expect(strike.steps.map(\.delay) == strike.steps.map(\.delay).sorted())
        }
    }

    @Test func `what was done to one message is done to a later one`() throws {
        let plan = InlinePlan(seed: 4)
        let message = Self.messages[3]
        let strike = try #require(
            (0..<100).lazy.compactMap { plan.strike(message, number: $0) }
                .first { $0.mutation.id == "C4" })
        let later = try #require(
            LiveMessage(
                Bytes(#"{"id":"c9","method":"clipboard_read","data":{"text":"y"}}"#.utf8),
                from: .app, contract: .current,
                command: { _ in
                    LiveMessage.Command(Bytes(#"{"id":"c9","type":"clipboard_read"}"#.utf8))
                }))
        let again = try #require(plan.again(strike.recipe, later, number: 7))
        #expect(again.mutation == strike.mutation)
        #expect(again.steps.count == strike.steps.count)
        #expect(
            again.steps.contains { step in
                if case .text(let bytes, _) = step.part {
                    String(decoding: bytes, as: UTF8.self).contains(#""id":"c9""#)
                } else {
                    false
                }
            })
    }
}

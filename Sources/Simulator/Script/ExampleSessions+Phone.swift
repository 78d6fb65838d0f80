import PhoneBridge
import Wire

/// Sessions about phones that do not do as they should, or nothing at all.
extension ExampleSession {
    /// Pings, a clock that is wrong, answers that nobody asked for, and a report of wrong types.
    package static var oddPhone: ExampleSession {
        let wrongClock =
            #"{"id":"phone_app_state","method":"phone_app_state","data":"#
            + #"{"app_state":"active","reported_at":"1999-01-01T00:00:00Z"}}"#
        let wrongTypes =
            #"{"id":"phone_environment","method":"phone_environment","data":"#
            + #"{"platform":"ios","system_name":18}}"#
        return ExampleSession(
            name: "odd-phone",
            summary: "A phone pings, has a wrong clock, and says what nobody asked for.",
            scenario: AppScenario([
                .init(second: 1, step: .say(#"{"id":"ping"}"#)),
                .init(second: 1.8, step: .decide(.contacts, .pending)),
                .init(second: 3, step: .decide(.contacts, .granted)),
                .init(second: 2.3, step: .say(#"{"id":"p0","data":{"text":"nobody asked"}}"#)),
                .init(second: 2.5, step: .say(#"{"id":"p","data":{"text":"nearly"}}"#)),
                .init(second: 4, step: .say(wrongClock)), .init(second: 6, step: .say(wrongTypes)),
            ]),
            script: BoardScript([
                .init(second: 2, step: .send(contacts("p1"))),
                .init(second: 12, step: .send(BridgeCommand(id: "p2", type: "clipboard_read"))),
            ]),
            tool: RequestScript([
                .init(second: 1.5, step: .status), .init(second: 4.2, step: .status),
                .init(second: 6.5, step: .status),
            ]), duration: 14)
    }

    /// The newest connection wins: what waits on the old one is over, and the old one's end does
    /// no harm to the new one.
    package static var replaced: ExampleSession {
        var session = ExampleSession(
            name: "replaced",
            summary: "Another phone connects while a command waits; the first one comes back.",
            scenario: AppScenario([
                .init(second: 3, step: .decide(.calendar, .pending)),
                .init(second: 10, step: .decide(.calendar, .granted)),
            ]),
            script: BoardScript([
                .init(second: 2, step: .send(BridgeCommand(id: "u1", type: "clipboard_read"))),
                .init(second: 4, step: .send(day("u2"))),
                // An answer shows that the environment before it has arrived.
                .init(second: 5.6, step: .send(contacts("u3"))),
                .init(second: 11, step: .send(contacts("u4"))),
            ]),
            tool: RequestScript([
                .init(second: 1.5, step: .status), .init(second: 5.8, step: .status),
                .init(second: 7.9, step: .status), .init(second: 11.2, step: .status),
            ]), duration: 14)
        session.visitor = Visitor(app: secondPhone, comes: 5.4, goes: 7.5)
        return session
    }

    private static var secondPhone: AppOptions {
        var other = AppOptions()
        other.platform = .android
        other.phoneID = "phone-b2"
        other.seed = 2
        return other
    }

    /// What is said on a connection that was replaced counts no more.
    package static var lateWords: ExampleSession {
        let words =
            #"{"id":"phone_environment","method":"phone_environment","data":"#
            + #"{"platform":"ios","language":"de"}}"#
        var session = ExampleSession(
            name: "late-words",
            summary: "A phone does not see at once that another one has taken its place.",
            scenario: AppScenario([
                .init(second: 5.2, step: .deaf(true)), .init(second: 5.8, step: .say(words)),
                .init(second: 6.5, step: .deaf(false)),
            ]),
            script: BoardScript([
                .init(second: 2, step: .send(BridgeCommand(id: "h1", type: "clipboard_read"))),
                .init(second: 5.5, step: .send(contacts("h2"))),
                .init(second: 11, step: .send(contacts("h3"))),
            ]),
            tool: RequestScript([
                .init(second: 1.5, step: .status), .init(second: 5.6, step: .status),
                .init(second: 6.2, step: .status), .init(second: 7, step: .status),
                .init(second: 7.2, step: .status), .init(second: 11.2, step: .status),
            ]), duration: 12)
        session.visitor = Visitor(app: secondPhone, comes: 5.4, goes: 7.5)
        return session
    }

    /// A board that comes and goes, and one reply that an app waits for in vain.
    package static var oddBoard: ExampleSession {
        let closings = [2.0, 8, 14, 20].map { second in
            BoardScript.Entry(second: second, step: .close(code: 1001, reason: "restart"))
        }
        return ExampleSession(
            name: "odd-board",
            summary:
                "A board closes the connection four times, and leaves a poll without an answer.",
            script: BoardScript(
                closings + [
                    .init(second: 7, step: .send(BridgeCommand(id: "o1", type: "clipboard_read"))),
                    .init(second: 26, step: .holdPoll),
                ]),
            tool: RequestScript([
                .init(
                    second: 41, step: .enqueue(BridgeCommand(id: "o2", type: "clipboard_read"))),
                .init(second: 47, step: .query("o2")),
            ]), duration: 49)
    }

    /// A connection on which nobody speaks: the board ends it after a minute.
    package static var silence: ExampleSession {
        ExampleSession(
            name: "silence",
            summary:
                "A suspended app is silent for over a minute; the board closes its connection.",
            scenario: AppScenario([
                .init(second: 8, step: .background(.suspended)),
                .init(second: 82, step: .foreground),
            ]),
            script: BoardScript([
                .init(
                    second: 20,
                    step: .send(
                        BridgeCommand(
                            id: "i1", type: "clipboard_read", timeoutMilliseconds: 3000))),
                .init(second: 88, step: .send(BridgeCommand(id: "i2", type: "clipboard_read"))),
            ]),
            tool: RequestScript([
                .init(second: 10.5, step: .status), .init(second: 60.5, step: .status),
                .init(second: 80.5, step: .status), .init(second: 86, step: .status),
            ]), duration: 90)
    }
}

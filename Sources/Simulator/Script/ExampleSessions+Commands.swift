import PhoneBridge
import Wire

/// Sessions about commands over the WebSocket.
extension ExampleSession {
    /// The ten commands, one after the other, in the foreground.
    package static var allCommands: ExampleSession {
        ExampleSession(
            name: "all-commands", summary: "An iOS app does all ten commands in the foreground.",
            script: BoardScript(tenCommands(prefix: "c", from: 1)),
            tool: RequestScript([
                .init(second: 0.8, step: .status), .init(second: 12.5, step: .status),
            ]), duration: 14)
    }

    /// The structured errors, and a command that times out behind a prompt.
    package static var errors: ExampleSession {
        let commands = [
            BridgeCommand(id: "e1", type: "open_app", app: "Douyin"),
            BridgeCommand(id: "e2", type: "open_app", url: "file:///etc/hosts"),
            BridgeCommand(
                id: "e3", type: "calendar_delete", payload: ["event_id": "event-missing"]),
            BridgeCommand(
                id: "e4", type: "contacts_update",
                payload: ["contact_id": "contact-missing", "name": "Nobody"]),
            BridgeCommand(id: "e5", type: "calendar_create", payload: ["title": "No times"]),
            BridgeCommand(id: "e6", type: "contacts_query", payload: ["query": "Wei"]),
            BridgeCommand(
                id: "e7", type: "notification_send", timeoutMilliseconds: 2000,
                payload: ["title": "Behind a prompt"]),
            BridgeCommand(id: "e8", type: "future_command"),
        ]
        return ExampleSession(
            name: "errors",
            summary: "Each structured error, and a command that times out behind a prompt.",
            scenario: AppScenario([
                .init(second: 0.5, step: .decide(.contacts, .denied)),
                .init(second: 0.5, step: .decide(.notifications, .pending)),
                .init(second: 11, step: .decide(.notifications, .granted)),
            ]),
            script: BoardScript(
                commands.enumerated().map {
                    .init(second: 1 + Double($0.offset), step: .send($0.element))
                }), duration: 13)
    }

    /// A connection that breaks off while a command waits, and the next one.
    package static var reconnect: ExampleSession {
        ExampleSession(
            name: "reconnect",
            summary: "The connection breaks off while a command waits; the app comes back.",
            scenario: AppScenario([
                .init(second: 2.5, step: .decide(.contacts, .pending)),
                .init(second: 4, step: .dropConnection),
                .init(second: 6, step: .decide(.contacts, .granted)),
            ]),
            script: BoardScript([
                .init(second: 1, step: .send(BridgeCommand(id: "r1", type: "clipboard_read"))),
                .init(second: 3, step: .send(contacts("r2"))),
                .init(second: 11, step: .send(contacts("r3"))),
            ]),
            tool: RequestScript([
                .init(second: 2, step: .status), .init(second: 4.5, step: .status),
                .init(second: 10.5, step: .status),
            ]), duration: 16)
    }

    /// Android with permessage-deflate and messages large enough to be compressed.
    package static var compressedAndroid: ExampleSession {
        let text = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40)
        var app = AppOptions()
        app.platform = .android
        return ExampleSession(
            name: "compressed-android",
            summary: "An Android app that offers compression; long texts cross compressed.",
            app: app,
            script: BoardScript([
                .init(
                    second: 1,
                    step: .send(
                        BridgeCommand(
                            id: "z1", type: "clipboard_write", payload: ["text": .string(text)]))),
                .init(second: 2, step: .send(BridgeCommand(id: "z2", type: "clipboard_read"))),
                .init(
                    second: 3,
                    step: .send(BridgeCommand(id: "z3", type: "open_app", app: "weixin"))),
                .init(second: 4, step: .send(BridgeCommand(id: "z4", type: "clipboard_read"))),
            ]), duration: 8)
    }

    /// A board that cuts its messages; an echo is short enough to stay whole.
    package static var fragmented: ExampleSession {
        var board = BoardOptions()
        board.framing = .fragments(of: 24)
        return ExampleSession(
            name: "fragmented", summary: "The board sends its commands in fragments.",
            board: board,
            script: BoardScript([
                .init(
                    second: 1,
                    step: .send(
                        BridgeCommand(
                            id: "f1", type: "clipboard_write", payload: ["text": "in pieces, 分段"]))
                ),
                .init(second: 2, step: .send(BridgeCommand(id: "f2", type: "clipboard_read"))),
                .init(second: 3, step: .send(contacts("f3"))),
            ]), duration: 9)
    }

    /// One id on every way on which it can come again.
    package static var sameID: ExampleSession {
        let create = event("s1", from: "15:00:00+08:00", to: "16:00:00+08:00")
        return ExampleSession(
            name: "same-id",
            summary: "A command comes again: at once, after a reconnect, and over the queue.",
            scenario: AppScenario([.init(second: 3, step: .dropConnection)]),
            script: BoardScript([
                .init(second: 1, step: .send(create)), .init(second: 2, step: .send(create)),
                .init(second: 9, step: .send(create)),
                .init(second: 17, step: .send(day("s2"))),
            ]),
            tool: RequestScript([
                .init(second: 10.5, step: .enqueue(create)), .init(second: 16, step: .query("s1")),
            ]), duration: 19)
    }

    /// Two ids for the same content: two events.
    package static var sameContent: ExampleSession {
        ExampleSession(
            name: "same-content", summary: "Two commands with equal content are two commands.",
            script: BoardScript([
                .init(
                    second: 1,
                    step: .send(event("d1", from: "09:00:00+08:00", to: "09:30:00+08:00"))),
                .init(
                    second: 2,
                    step: .send(event("d2", from: "09:00:00+08:00", to: "09:30:00+08:00"))),
                .init(second: 3, step: .send(day("d3"))),
            ]), duration: 9)
    }

    /// Two commands at once, the second one answered first; one id begins with the other.
    package static var twoAtOnce: ExampleSession {
        ExampleSession(
            name: "two-at-once",
            summary: "Two commands wait at once, with ids that are nearly equal.",
            scenario: AppScenario([
                .init(second: 0.8, step: .decide(.calendar, .pending)),
                .init(second: 2, step: .decide(.calendar, .granted)),
                .init(second: 3.8, step: .decide(.calendar, .pending)),
                .init(second: 5.5, step: .decide(.calendar, .granted)),
            ]),
            script: BoardScript([
                .init(second: 1, step: .send(day("x_10"))),
                .init(second: 1.1, step: .send(BridgeCommand(id: "x_1", type: "clipboard_read"))),
                .init(second: 4, step: .send(day("Y_1"))),
                .init(second: 4.1, step: .send(contacts("y_1"))),
                // In one go: both are being done before the first is answered.
                .init(second: 7, step: .send(day("z1"))),
                .init(second: 7, step: .send(contacts("z2"))),
            ]), duration: 9)
    }

    /// What the app says while a command waits, and none of it is its answer.
    package static var lateAnswer: ExampleSession {
        var impatient = contacts("l1")
        impatient.timeoutMilliseconds = 1000
        return ExampleSession(
            name: "late-answer",
            summary: "A late answer and an event come while other commands wait.",
            scenario: AppScenario([
                .init(second: 0.8, step: .decide(.contacts, .pending)),
                .init(second: 2.8, step: .decide(.calendar, .pending)),
                .init(second: 4, step: .decide(.contacts, .granted)),
                .init(second: 6.2, step: .decide(.calendar, .granted)),
                .init(second: 7.8, step: .decide(.calendar, .pending)),
                .init(second: 9, step: .inactive),
                .init(second: 11, step: .decide(.calendar, .granted)),
                .init(second: 14, step: .foreground),
            ]),
            script: BoardScript([
                .init(second: 1, step: .send(impatient)), .init(second: 3, step: .send(day("l2"))),
                .init(second: 8, step: .send(day("l3"))),
                .init(second: 12, step: .send(BridgeCommand(id: "l4", type: "clipboard_read"))),
            ]), duration: 16)
    }

    /// Two commands that wait for the phone's user longer than the board waits for them.
    package static var prompts: ExampleSession {
        var patient = day("j1")
        // It waits as long as one that does not say how long.
        patient.timeoutMilliseconds = nil
        var impatient = contacts("j2")
        impatient.timeoutMilliseconds = 2000
        return ExampleSession(
            name: "prompts",
            summary: "Two commands run out of time behind prompts; a later one is answered.",
            scenario: AppScenario([
                .init(second: 0.5, step: .decide(.calendar, .pending)),
                .init(second: 0.5, step: .decide(.contacts, .pending)),
                .init(second: 5.5, step: .decide(.contacts, .granted)),
                .init(second: 9, step: .decide(.calendar, .granted)),
            ]),
            script: BoardScript([
                .init(second: 2, step: .send(patient)), .init(second: 2.5, step: .send(impatient)),
                .init(second: 11, step: .send(BridgeCommand(id: "j3", type: "clipboard_read"))),
            ]), duration: 14)
    }

    /// Two commands that may take a minute; one takes as long as four heartbeats, one as one.
    package static var slowCommands: ExampleSession {
        var slow = day("w1")
        slow.timeoutMilliseconds = 60_000
        var next = contacts("w2")
        next.timeoutMilliseconds = 60_000
        return ExampleSession(
            name: "slow-commands",
            summary: "Two commands wait for their prompts, 22 and 6 seconds; heartbeats go on.",
            scenario: AppScenario([
                .init(second: 0.5, step: .decide(.calendar, .pending)),
                .init(second: 0.5, step: .decide(.contacts, .pending)),
                .init(second: 24, step: .decide(.calendar, .granted)),
                .init(second: 31, step: .decide(.contacts, .granted)),
            ]),
            script: BoardScript([
                .init(second: 2, step: .send(slow)), .init(second: 25, step: .send(next)),
            ]), duration: 34)
    }

    /// One hour in several spellings, and one that says no offset.
    package static var times: ExampleSession {
        ExampleSession(
            name: "times", summary: "Times with other offsets name the same hour.",
            script: BoardScript([
                .init(
                    second: 1,
                    step: .send(event("t1", from: "15:00:00+08:00", to: "16:00:00+08:00"))),
                .init(
                    second: 2,
                    step: .send(event("t2", from: "07:00:00Z", to: "07:30:00.250Z"))),
                .init(second: 3, step: .send(event("t3", from: "15:00:00", to: "16:00:00"))),
                .init(
                    second: 4,
                    step: .send(
                        BridgeCommand(
                            id: "t4", type: "calendar_query",
                            payload: [
                                "from": "2026-06-02T01:00:00-06:00",
                                "to": "2026-06-02T02:00:00-06:00",
                            ]))),
                .init(second: 5, step: .send(day("t5"))),
            ]), duration: 9)
    }

    // MARK: - Commands

    /// An event on a day of June 2026.
    static func event(_ id: String, from start: String, to end: String) -> BridgeCommand {
        BridgeCommand(
            id: id, type: "calendar_create", timeoutMilliseconds: 8000,
            payload: [
                "title": "Team meeting", "start_at": .string("2026-06-02T" + start),
                "end_at": .string("2026-06-02T" + end),
            ])
    }

    /// All events of that day.
    static func day(_ id: String) -> BridgeCommand {
        BridgeCommand(
            id: id, type: "calendar_query", timeoutMilliseconds: 8000,
            payload: ["from": "2026-06-02T00:00:00+08:00", "to": "2026-06-03T00:00:00+08:00"])
    }

    static func contacts(_ id: String) -> BridgeCommand {
        BridgeCommand(
            id: id, type: "contacts_query", timeoutMilliseconds: 8000, payload: ["query": "Wei"])
    }

    /// The ten commands in the contract's order, a second apart.
    ///
    /// The ids that they name are those which a fresh reference app gives.
    private static func tenCommands(prefix: String, from start: Double) -> [BoardScript.Entry] {
        let commands: [(String, String?, String?, JSON?)] = [
            ("open_app", "微信", nil, nil),
            ("open_app", nil, "https://example.com/a?b=c&d=%E4%BD%A0", nil),
            ("clipboard_write", nil, nil, ["text": "content to copy"]),
            ("clipboard_read", nil, nil, nil),
            (
                "calendar_create", nil, nil,
                [
                    "title": "Dentist appointment", "start_at": "2026-06-02T15:00:00+08:00",
                    "end_at": "2026-06-02T16:00:00+08:00", "all_day": false,
                    "location": "Clinic", "notes": "Bring insurance card",
                ]
            ),
            (
                "calendar_query", nil, nil,
                ["from": "2026-06-02T00:00:00+08:00", "to": "2026-06-03T00:00:00+08:00"]
            ),
            ("calendar_delete", nil, nil, ["event_id": "ios_event_1"]),
            ("contacts_query", nil, nil, ["query": "Wei Testmann", "limit": 20]),
            (
                "contacts_create", nil, nil,
                ["name": "Ana Beispiel", "phone_numbers": ["+1 202 555 0147"]]
            ),
            (
                "contacts_update", nil, nil,
                ["contact_id": "ios_contact_2", "emails": ["ana@example.org"]]
            ),
            (
                "notification_send", nil, nil,
                ["title": "Reminder", "body": "Time to water the plants", "sound": true]
            ),
        ]
        return commands.enumerated().map { index, command in
            let (type, app, url, payload) = command
            return .init(
                second: start + Double(index),
                step: .send(
                    BridgeCommand(
                        id: "\(prefix)\(index + 1)", type: type, app: app, url: url,
                        timeoutMilliseconds: 8000, payload: payload)))
        }
    }
}

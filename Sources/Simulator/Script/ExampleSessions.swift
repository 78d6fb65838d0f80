import PhoneBridge
import Wire

/// A scenario of the app with the board's script that goes with it: one example session.
package struct ExampleSession: Sendable {
    /// A short name, fit for a file.
    package let name: String
    /// What it shows, in one sentence.
    package let summary: String
    package let app: AppOptions
    package let scenario: AppScenario
    package let script: BoardScript
    /// Seconds until nothing happens any more, before they are scaled.
    package let duration: Double

    /// All example sessions, by name.
    package static var all: [ExampleSession] {
        [allCommands, errors, reconnect, pipQueue, fgsQueue, compressedAndroid]
    }

    /// The ten commands, one after the other, in the foreground.
    package static var allCommands: ExampleSession {
        ExampleSession(
            name: "all-commands", summary: "An iOS app does all ten commands in the foreground.",
            app: options(.ios), scenario: AppScenario([]),
            script: BoardScript(tenCommands(prefix: "c", from: 1)), duration: 14)
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
            app: options(.ios),
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
        var app = options(.ios)
        app.commandDurations["contacts_query"] = 3
        return ExampleSession(
            name: "reconnect",
            summary: "The connection breaks off while a command waits; the app comes back.",
            app: app,
            scenario: AppScenario([.init(second: 4, step: .dropConnection)]),
            script: BoardScript([
                .init(second: 1, step: .send(BridgeCommand(id: "r1", type: "clipboard_read"))),
                .init(
                    second: 3,
                    step: .send(
                        BridgeCommand(
                            id: "r2", type: "contacts_query", timeoutMilliseconds: 8000,
                            payload: ["query": "Wei"]))),
                .init(
                    second: 11,
                    step: .send(
                        BridgeCommand(
                            id: "r3", type: "contacts_query", timeoutMilliseconds: 8000,
                            payload: ["query": "Wei"]))),
            ]), duration: 16)
    }

    /// iOS in the background with PiP: the queue, and what waits for the foreground.
    package static var pipQueue: ExampleSession {
        queue(
            name: "pip-queue",
            summary: "An iOS app in the background polls with PiP; open_app waits for its return.",
            app: options(.ios), mode: .pip)
    }

    /// Android in the background with its foreground service.
    package static var fgsQueue: ExampleSession {
        queue(
            name: "fgs-queue",
            summary: "An Android app in the background polls from its foreground service.",
            app: options(.android), mode: .fgs)
    }

    /// Android with permessage-deflate and messages large enough to be compressed.
    package static var compressedAndroid: ExampleSession {
        let text = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 40)
        return ExampleSession(
            name: "compressed-android",
            summary: "An Android app that offers compression; long texts cross compressed.",
            app: options(.android), scenario: AppScenario([]),
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

    private static func queue(
        name: String, summary: String, app: AppOptions, mode: BackgroundMode
    ) -> ExampleSession {
        let commands = [
            BridgeCommand(id: "q1", type: "open_app", app: "WeChat"),
            BridgeCommand(id: "q2", type: "clipboard_read"),
            BridgeCommand(
                id: "q3", type: "contacts_query", payload: ["query": "Wei", "limit": 5]),
            BridgeCommand(
                id: "q4", type: "notification_send",
                payload: ["title": "Reminder", "body": "Time to water the plants"]),
        ]
        return ExampleSession(
            name: name, summary: summary, app: app,
            scenario: AppScenario([
                .init(second: 2, step: .background(mode)), .init(second: 12, step: .foreground),
            ]),
            script: BoardScript(commands.map { .init(second: 4, step: .enqueue($0)) }),
            duration: 18)
    }

    private static func options(_ platform: Platform) -> AppOptions {
        var options = AppOptions()
        options.platform = platform
        return options
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

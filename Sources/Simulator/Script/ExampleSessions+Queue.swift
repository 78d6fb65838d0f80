import PhoneBridge
import Wire

/// Sessions about the HTTP queue; a tool on the board's side enqueues and asks for the results.
extension ExampleSession {
    /// iOS in the background with PiP: the queue, and what waits for the foreground.
    package static var pipQueue: ExampleSession {
        queue(
            name: "pip-queue",
            summary: "An iOS app in the background polls with PiP; open_app waits for its return.",
            platform: .ios, mode: .pip)
    }

    /// Android in the background with its foreground service.
    package static var fgsQueue: ExampleSession {
        queue(
            name: "fgs-queue",
            summary: "An Android app in the background polls from its foreground service.",
            platform: .android, mode: .fgs)
    }

    private static func queue(
        name: String, summary: String, platform: Platform, mode: BackgroundMode
    ) -> ExampleSession {
        var app = AppOptions()
        app.platform = platform
        let commands = [
            BridgeCommand(id: "q1", type: "open_app", app: "WeChat"),
            BridgeCommand(id: "q2", type: "clipboard_read"),
            BridgeCommand(
                id: "q3", type: "contacts_query", payload: ["query": "Wei", "limit": 5]),
            BridgeCommand(
                id: "q4", type: "notification_send",
                payload: ["title": "Reminder", "body": "Time to water the plants"]),
        ]
        var requests = RequestScript.entries(
            commands.map { .enqueue($0) }, from: 4.5, every: 0.1)
        requests += RequestScript.entries(
            [.query("q1"), .query("q3")], from: 9, every: 0.1)
        requests += RequestScript.entries(
            commands.map { .query($0.id.text) }, from: 17.4, every: 0.1)
        requests += RequestScript.entries([.status, .status], from: 3, every: 5.5)
        return ExampleSession(
            name: name, summary: summary, app: app,
            scenario: AppScenario([
                .init(second: 2, step: .background(mode)), .init(second: 12, step: .foreground),
            ]),
            tool: RequestScript(requests), duration: 18)
    }

    /// iOS suspended: a BLE wake lets it run for ten seconds, for some commands.
    package static var bleQueue: ExampleSession {
        let commands = [
            BridgeCommand(id: "b1", type: "clipboard_read"),
            BridgeCommand(
                id: "b2", type: "contacts_update",
                payload: ["contact_id": "contact_41", "emails": ["wei@example.org"]]),
            contacts("b3"), event("b4", from: "10:00:00+08:00", to: "11:00:00+08:00"),
        ]
        let queries = commands.map { BoardRequest.query($0.id.text) }
        var requests = RequestScript.entries(
            commands.map { .enqueue($0) }, from: 2, every: 0.1)
        requests += RequestScript.entries([.status], from: 5.5, every: 1)
        requests += RequestScript.entries(queries, from: 8.4, every: 0.1)
        requests += RequestScript.entries(queries, from: 19.4, every: 0.1)
        return ExampleSession(
            name: "ble-queue",
            summary: "A suspended iOS app is woken over BLE; the rest waits for its return.",
            scenario: AppScenario([
                .init(second: 1, step: .background(.ble)), .init(second: 3, step: .bleWake),
                .init(second: 14, step: .foreground),
            ]),
            tool: RequestScript(requests), duration: 21)
    }

    /// Ids that are taken, ids that are not quite, and one that must be escaped.
    package static var queueIDs: ExampleSession {
        let first = BridgeCommand(id: "n1", type: "clipboard_read")
        let quoted = BridgeCommand(id: #"n"1"#, type: "clipboard_read")
        var requests = RequestScript.entries(
            [
                .enqueue(first), .enqueue(first),
                .enqueue(BridgeCommand(id: "N1", type: "contacts_query", payload: [:])),
                .enqueue(BridgeCommand(id: "n10", type: "open_app", app: "weixin")),
                .enqueue(quoted), .enqueue(quoted), .query("n1"),
            ], from: 1, every: 0.2)
        // Answered by now; a result is kept for two minutes.
        requests += RequestScript.entries(
            [
                .query("n1"), .enqueue(first), .query("n1"), .query("N1"), .query("n10"),
                .query(#"n"1"#), .query("n"),
            ], from: 7, every: 0.2)
        return ExampleSession(
            name: "queue-ids", summary: "The queue refuses an id that it has, and no other.",
            tool: RequestScript(requests), duration: 11)
    }

    /// A second phone that takes one command at a time, and says one thing twice.
    package static var queueLimit: ExampleSession {
        let commands = ["m1", "m2", "m3", "m4"].map { id in
            var command = BridgeCommand(id: id, type: "clipboard_read")
            command.phoneID = CommandID("phone-b2")
            return command
        }
        let poll = "platform=ios&phone_id=phone-b2&app_state=active&limit="
        func answer(_ id: String, _ text: String) -> BoardRequest {
            .result(CommandResponse(id: CommandID(id), data: ["text": .string(text)]))
        }
        var requests = RequestScript.entries(
            commands.map { .enqueue($0) }, from: 1, every: 0.1)
        requests += RequestScript.entries([.query("m1"), .query("m2")], from: 4.4, every: 0.1)
        requests += RequestScript.entries(
            [.query("m3"), .query("m4"), .status], from: 7, every: 0.2)
        return ExampleSession(
            name: "queue-limit",
            summary: "A second phone polls one command at a time, and posts a result twice.",
            script: BoardScript([
                .init(second: 6.6, step: .send(BridgeCommand(id: "w1", type: "clipboard_read")))
            ]),
            tool: RequestScript(requests),
            otherPhone: RequestScript(
                RequestScript.entries(
                    [
                        .poll(poll + "1"), .poll(poll + "1"), answer("m1", "one"),
                        answer("m1", "another"), answer("m2", "two"), .poll(poll + "10"),
                        answer("m4", "four"), answer("m3", "three"),
                        answer("m5", "never asked for"),
                    ], from: 2.2, every: 0.5)), duration: 9)
    }

    /// A command that takes longer than the board waits before it hands it out again.
    package static var redelivery: ExampleSession {
        ExampleSession(
            name: "redelivery",
            summary:
                "A command behind a prompt is handed out again, one with a result is not.",
            scenario: AppScenario([
                .init(second: 0.5, step: .decide(.calendar, .pending)),
                .init(second: 67, step: .decide(.calendar, .granted)),
            ]),
            tool: RequestScript([
                .init(
                    second: 1,
                    step: .enqueue(
                        BridgeCommand(
                            id: "v1", type: "calendar_create", timeoutMilliseconds: 90_000,
                            payload: event("", from: "12:00:00+08:00", to: "13:00:00+08:00")
                                .payload))),
                .init(second: 2, step: .enqueue(BridgeCommand(id: "v2", type: "clipboard_read"))),
                .init(second: 7, step: .query("v1")), .init(second: 61.5, step: .query("v1")),
                .init(second: 68.5, step: .query("v1")), .init(second: 72, step: .status),
            ]), duration: 74)
    }

    /// A request that never was whole, and one that is.
    package static var cutRequest: ExampleSession {
        ExampleSession(
            name: "cut-request",
            summary: "A request whose body is cut short does nothing; the next one does.",
            tool: RequestScript([
                .init(
                    second: 1,
                    step: .cutEnqueue(BridgeCommand(id: "k1", type: "clipboard_read"))),
                .init(second: 2, step: .query("k1")),
                .init(second: 2.5, step: .enqueue(BridgeCommand(id: "k2", type: "clipboard_read"))),
                .init(second: 7, step: .query("k1")), .init(second: 7.2, step: .query("k2")),
            ]), duration: 9)
    }
}

import PhoneBridge
import Testing

@Suite struct QueueFilterTests {
    static let all = Contract.v1_2.commands.map(\.name)
    static let data = all.filter { $0 != "open_app" }
    static let wake = [
        "calendar_create", "calendar_query", "calendar_delete", "contacts_query",
        "contacts_create", "notification_send",
    ]

    @Test func `a poll is given what the contract lets its route carry`() {
        let rows: [(PollState, [String])] = [
            (.init(platform: "ios", appState: "active"), Self.all),
            (.init(platform: "ios"), Self.all),
            (.init(platform: "other", appState: "ACTIVE"), Self.all),
            (.init(platform: "android", appState: "active"), Self.all),
            (.init(platform: "Android", appState: "active", fgsEnabled: false), []),
            (.init(platform: "iOS", appState: "background", pipEnabled: true), Self.data),
            (.init(platform: "ios", appState: "inactive", pipEnabled: true), Self.data),
            (.init(platform: "ios", appState: "background", pipEnabled: false), Self.wake),
            (.init(platform: "ios", appState: "background"), Self.wake),
            (.init(platform: "android", appState: "background", fgsEnabled: true), Self.data),
            (.init(platform: "android", appState: "background"), []),
        ]
        for (poll, expected) in rows {
            let given = Self.all.filter { Contract.v1_2.mayHandOut($0, to: poll) }
            #expect(given == expected, "\(poll)")
        }
    }

    @Test func `an unknown type stays back unless the app is active`() {
        #expect(Contract.v1_2.mayHandOut("calendar_move", to: .init(platform: "ios")))
        #expect(
            !Contract.v1_2.mayHandOut(
                "calendar_move",
                to: .init(platform: "ios", appState: "background", pipEnabled: true)))
    }

    @Test func `a poll's target says what it tells of the phone`() {
        let rows: [(String, PollState)] = [
            ("?platform=iOS&app_state=ACTIVE", .init(platform: "iOS", appState: "active")),
            ("?platform=ios&app_state=asleep", .init(platform: "ios")),
            (
                "?pip_bridge_enabled=Yes&fgs_bridge_enabled=0",
                .init(platform: "", pipEnabled: true, fgsEnabled: false)
            ),
            ("?pip_bridge_enabled=maybe", .init(platform: "")), ("", .init(platform: "")),
        ]
        for (query, state) in rows {
            let target = RequestTarget("/api/phone-bridge/commands" + query)
            #expect(Contract.v1_2.pollState(target) == state, "\(query)")
        }
    }
}

import PhoneBridge
import Simulator
import Testing
import Wire

/// What commands leave behind on the phone.
@Suite struct PhoneTests {
    private static func command(_ id: Int, _ type: String, _ payload: String) -> String {
        "{\"id\":\"p\(id)\",\"type\":\"\(type)\",\"payload\":\(payload)}"
    }

    @Test func `a fresh phone has two invented people, four apps and all permissions`() {
        let phone = Phone(platform: .ios)
        #expect(PhoneContacts().entries.map(\.name) == ["Wei Testmann", "张测试"])
        #expect(phone.contacts.entries == PhoneContacts().entries)
        #expect(PhoneCalendar().entries.isEmpty)
        #expect(PhoneNotifications().entries.isEmpty)
        #expect(phone.apps.filter(\.isInstalled).map(\.name) == ["Camera", "Contacts", "WeChat"])
        #expect(phone.permissions.values.allSatisfy { $0 == .granted })
    }

    @Test func `an app that is put on the phone can be opened by any of its names`() {
        var bench = AppBench()
        bench.app.phone.apps.append(
            InstallableApp(
                name: "Maps", aliases: ["地图"], isInstalled: true, isBuiltIn: false,
                iosURL: "maps://", androidPackage: "com.example.maps"))
        let link = bench.connect()
        _ = bench.ask(#"{"id":"1","type":"open_app","app":"maps"}"#, on: link)
        _ = bench.ask(#"{"id":"2","type":"open_app","app":"地图"}"#, on: link)
        #expect(bench.app.phone.opened == ["Maps", "Maps"])
        #expect(bench.sent().first?.contains("maps://") == true, "the environment shows it")
    }

    @Test func `events keep what they were created with`() {
        var bench = AppBench()
        let link = bench.connect()
        _ = bench.ask(
            Self.command(
                1, "calendar_create",
                """
                {"title":"All day","start_at":"2026-06-02T00:00:00+08:00",\
                "end_at":"2026-06-03T00:00:00+08:00","all_day":true,"notes":"n"}
                """), on: link)
        _ = bench.ask(
            Self.command(
                2, "calendar_create",
                """
                {"title":"A moment","start_at":"2026-06-02T00:00:00Z",\
                "end_at":"2026-06-02T00:00:00Z"}
                """), on: link)
        let found = bench.ask(
            Self.command(
                3, "calendar_query",
                #"{"from":"2026-06-02T00:00:00Z","to":"2026-06-02T01:00:00Z"}"#), on: link)
        let events = found?["data"]?["events"]?.elements ?? []
        #expect(events.map { $0["title"] } == ["All day", "A moment"])
        #expect(events.first?["all_day"] == true)
        #expect(events.first?["notes"] == "n")
        #expect(events.last?["all_day"] == nil)
    }

    @Test func `an update overwrites what it names and nothing when part of it is wrong`() {
        var bench = AppBench { $0.platform = .android }
        let link = bench.connect()
        _ = bench.ask(
            Self.command(
                1, "contacts_update",
                #"{"contact_id":"contact_41","emails":[],"organization":"Lab","notes":"N"}"#),
            on: link)
        _ = bench.ask(
            Self.command(
                2, "contacts_update",
                #"{"contact_id":"contact_41","name":"New","phone_numbers":[1]}"#), on: link)
        let contact = bench.app.phone.contacts.entries[0]
        #expect(contact.name == "Wei Testmann")
        #expect(contact.emails == [])
        #expect(contact.phoneNumbers == ["+1 202 555 0123"])
        #expect(contact.organization == "Lab")
        #expect(contact.notes == "N")
    }

    @Test func `a notification may be for now or for later`() {
        var bench = AppBench()
        let link = bench.connect()
        _ = bench.ask(Self.command(1, "notification_send", #"{"title":"now"}"#), on: link)
        _ = bench.ask(
            Self.command(
                2, "notification_send",
                #"{"title":"later","schedule_at":"2026-06-04T18:00:00+08:00","sound":false}"#),
            on: link)
        let entries = bench.app.phone.notifications.entries
        #expect(entries.map(\.scheduledAt) == [nil, Timestamp("2026-06-04T10:00:00Z")])
        #expect(entries.map(\.hasSound) == [true, false])
    }

    @Test func `memory of what was opened and sent is bounded`() {
        var bench = AppBench { $0.commandDuration = 0.001 }
        let link = bench.connect()
        for index in 0..<1010 {
            bench.say(
                "{\"id\":\"o\(index)\",\"type\":\"open_app\",\"url\":\"tel:\(index)\"}", on: link,
                working: 0.002)
            bench.say(
                Self.command(index, "notification_send", #"{"title":"t"}"#), on: link,
                working: 0.002)
        }
        #expect(bench.app.phone.opened.count == 1000)
        #expect(bench.app.phone.opened.last == "tel:1009")
        #expect(bench.app.phone.notifications.entries.count == 1000)
    }
}

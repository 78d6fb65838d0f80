import Capture
import PhoneBridge
import Testing
import Wire

@Suite struct ContractTests {
    @Test func `version 1.2 has the ten commands and two events of the contract`() {
        let contract = Contract.v1_2
        #expect(
            contract.commands.map(\.section) == [
                "1. open_app", "2. clipboard_read", "3. clipboard_write", "4. calendar_create",
                "5. calendar_query", "6. calendar_delete", "7. contacts_query",
                "8. contacts_create", "9. contacts_update", "10. notification_send",
            ])
        #expect(contract.commands.allSatisfy { $0.section.hasSuffix(" " + $0.name) })
        #expect(
            contract.reservedIDs == ["heartbeat", "ping", "phone_environment", "phone_app_state"])
        #expect(contract.timing.defaultTimeoutMilliseconds == 5000)
        #expect(Contract.version("1.2")?.version == "1.2")
        #expect(Contract.version("9.9") == nil)
    }

    @Test func `fields that tell when something took place are told apart`() {
        let contract = Contract.v1_2
        let bodies = contract.bodies
        let fields =
            bodies.enqueue + bodies.result + bodies.query + bodies.status
            + contract.events.flatMap(\.data)
        #expect(
            fields.filter(\.isMoment).map(\.name) == [
                "queued_at", "completed_at", "last_heartbeat_at", "app_state_updated_at",
                "fgs_bridge_updated_at", "environment_updated_at", "captured_at", "reported_at",
            ])
        #expect(contract.commands.flatMap { $0.payload + $0.data }.allSatisfy { !$0.isMoment })
    }

    @Test func `a content's hash does not depend on its spelling or order`() throws {
        func hash(_ text: String, _ names: [String] = []) throws -> Int {
            try JSONDocument(Bytes(text.utf8)).root.contentHash(without: names)
        }
        let one = try hash(#"{"id":"a","x":[1,2],"y":{"b":1}}"#)
        #expect(try hash(#" {"y" : {"b":1.0}, "x":[1, 2], "id":"a"}"#) == one)
        #expect(try hash(#"{"id":"a","x":[2,1],"y":{"b":1}}"#) != one)
        let other = try hash(#"{"id":"b","x":[1,2],"y":{"b":1}}"#)
        #expect(other != one)
        #expect(
            try hash(#"{"id":"b","x":[1,2],"y":{"b":1}}"#, ["id"])
                == hash(#"{"x":[1,2],"y":{"b":1}}"#))
        #expect(try hash("[1]") != hash("[2]"))
    }

    @Test func `required fields and defaults are those of the contract`() {
        let required: [String: [String]] = [
            "open_app": [], "clipboard_read": [], "clipboard_write": ["text"],
            "calendar_create": ["title", "start_at", "end_at"], "calendar_query": ["from", "to"],
            "calendar_delete": ["event_id"], "contacts_query": [], "contacts_create": ["name"],
            "contacts_update": ["contact_id"], "notification_send": ["title"],
        ]
        for command in Contract.v1_2.commands {
            #expect(
                command.payload.filter(\.isRequired).map(\.name) == required[command.name],
                "\(command.name)")
        }
        let defaults = Contract.v1_2.commands.flatMap { command in
            command.payload.compactMap { field in
                field.defaultValue.map { "\(command.name).\(field.name)=\($0)" }
            }
        }
        #expect(
            defaults == [
                "calendar_create.all_day=false", "contacts_query.limit=20",
                "notification_send.sound=true",
            ])
    }

    @Test
    func `an id that is born in a result is a field of it, and one that is used of a payload`() {
        var born: [String: String] = [:]
        for command in Contract.v1_2.commands {
            if let id = command.bornID {
                born[command.name] = id
                #expect(command.data.contains { $0.name == id && $0.personal == .id })
            }
            if let id = command.usedID {
                #expect(command.payload.contains { $0.name == id && $0.isRequired })
            }
        }
        #expect(
            born == [
                "calendar_create": "event_id", "contacts_create": "contact_id",
                "notification_send": "notification_id",
            ])
    }

    @Test func `every text of the contract's examples is marked for what it tells`() {
        // Open or closed on purpose: texts that tell nothing about a person.
        let harmless: Set = [
            "app", "source", "platform", "system_name", "system_version", "locale", "language",
            "utc_offset", "state", "name", "category", "availability_source", "ios_url",
            "android_package", "return_entry",
        ]
        func check(_ fields: [Contract.Field], in place: String) {
            for field in fields {
                switch field.type {
                case .string, .instant, .array(.string):
                    #expect(
                        field.personal != .none || harmless.contains(field.name),
                        "\(place).\(field.name)")
                case .object(let inner), .array(.object(let inner)):
                    check(inner, in: place + "." + field.name)
                default: break
                }
            }
        }
        for command in Contract.v1_2.commands {
            check(command.fields + command.payload + command.data, in: command.name)
        }
        for event in Contract.v1_2.events { check(event.data, in: event.name) }
    }

    @Test func `each error code has one category`() {
        let codes = Contract.v1_2.errors.flatMap(\.codes)
        #expect(Set(codes).count == codes.count)
        #expect(Contract.v1_2.category(ofCode: "permission_denied") == "user_action_required")
        #expect(Contract.v1_2.category(ofCode: "invented") == nil)
    }

    // MARK: - Another version

    /// What a later version would be: its own tables, and nothing else.
    static let invented: Contract = {
        var contract = Contract.v1_2
        contract.version = "1.3"
        contract.commands.append(
            .init(
                name: "torch_set", section: "11. torch_set",
                payload: [.init("on", .boolean, required: true)],
                data: [.init("torch_id", .string, required: true, personal: .id)],
                effect: .creates, bornID: "torch_id", backgroundRoutes: [.fgs]))
        contract.events.append(
            .init(
                name: "phone_battery", section: "AppEvent",
                data: [.init("level", .number, required: true)]))
        contract.timing.defaultTimeoutMilliseconds = 100
        return contract
    }()

    @Test func `a new command type and event work by being in the tables`() {
        var talk = Conversation(MeaningReader(contract: Self.invented))
        _ = talk.board(#"{"id":"t1","type":"torch_set","payload":{"on":true}}"#, at: 0)
        #expect(
            talk.app(#"{"id":"t1","data":{"torch_id":"x"}}"#, at: 101) == [
                #"{"kind":"result","id":"t1","type":"torch_set","ok":true,"latency_ms":101.000,"late":true,"duplicate":false,"route":"websocket"}"#
            ])
        #expect(
            talk.app(#"{"id":"phone_battery","data":{"level":0.5}}"#)
                == [#"{"kind":"app_event","id":"phone_battery"}"#])
        #expect(Self.invented.isReserved("phone_battery"))
        #expect(!Contract.v1_2.isReserved("phone_battery"))
        let background = PollState(platform: "android", appState: "background", fgsEnabled: true)
        #expect(Self.invented.mayHandOut("torch_set", to: background))
        #expect(!Contract.v1_2.mayHandOut("torch_set", to: background))
        #expect(Self.invented.command(named: "torch_set")?.bornID == "torch_id")
    }
}

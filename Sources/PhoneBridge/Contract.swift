package import Wire

/// One version of the Phone Bridge contract, as tables.
///
/// Everything that a version can change is here, and nothing above this module repeats it. A
/// version is a folder (`V1_2/`) with one static value; `Contract.all` lists them.
package struct Contract: Sendable {
    /// `1.2`.
    package var version: String
    package var commands: [CommandType]
    package var events: [EventType]
    package var errors: [ErrorCategory]
    package var paths: Paths
    package var poll: PollParameters
    package var timing: Timing
    package var bodies = ResponseBodies()
    /// The ids of heartbeats (contract, "Heartbeat").
    package var heartbeatIDs: [String]
    package var missingThing = MissingThing()
    /// Codes of errors that the board makes itself (board facts, "Commands over WebSocket").
    package var boardCodes = [
        "bridge_not_connected", "bridge_timeout", "bridge_connection_closed",
        "bridge_write_failed", "command_id_collision", "command_marshal_failed",
        "tool_execution_failed", "app_backgrounded",
    ]

    package init(
        version: String, commands: [CommandType], events: [EventType], errors: [ErrorCategory],
        paths: Paths = Paths(), poll: PollParameters = PollParameters(),
        timing: Timing = Timing(), heartbeatIDs: [String] = ["heartbeat", "ping"]
    ) {
        self.version = version
        self.commands = commands
        self.events = events
        self.errors = errors
        self.paths = paths
        self.poll = poll
        self.timing = timing
        self.heartbeatIDs = heartbeatIDs
    }

    /// The versions that this program knows, the newest last.
    package static let all: [Contract] = [.v1_2]

    /// The version that sessions are read by unless something else is said.
    package static let current = Contract.v1_2

    /// The version with this number; nil for an unknown one.
    package static func version(_ number: String) -> Contract? {
        all.first { $0.version == number }
    }

    /// The ids that no command may have: those of heartbeats and of events.
    package var reservedIDs: [String] { heartbeatIDs + events.map(\.name) }

    /// Whether `id` is one of the reserved ids.
    package func isReserved(_ id: String) -> Bool {
        isHeartbeat(id) || event(named: id) != nil
    }

    /// Whether `id` marks a heartbeat.
    package func isHeartbeat(_ id: String) -> Bool {
        heartbeatIDs.contains { $0.hasSameScalars(as: id) }
    }

    /// The command type with this name; nil for one that the version does not know.
    package func command(named name: String) -> CommandType? {
        commands.first { $0.name.hasSameScalars(as: name) }
    }

    /// The event with this name; nil for one that the version does not know.
    package func event(named name: String) -> EventType? {
        events.first { $0.name.hasSameScalars(as: name) }
    }

    /// The category that an error code belongs to; nil for an unknown code.
    package func category(ofCode code: String) -> String? {
        errors.first { $0.codes.contains(code) }?.name
    }
}

// MARK: - Commands and events

extension Contract {
    /// A type of command (contract, "Command Types").
    package struct CommandType: Sendable {
        package var name: String
        /// The heading in the contract.
        package var section: String
        /// Fields of the command itself beside `id`, `type`, `timeout_ms` and `payload`.
        package var fields: [Field]
        /// Whether exactly one of `fields` is given.
        package var needsOneField: Bool
        package var payload: [Field]
        /// Fields of `data` in the response of a success; empty where none is due.
        package var data: [Field]
        /// Values of `method` that the contract names for its response.
        package var methods: [String]
        /// What running it does to the phone.
        package var effect: Effect
        /// The field of `data` that gives a new thing its id.
        package var bornID: String?
        /// The field of `payload` that names a thing which an earlier answer gave its id.
        package var usedID: String?
        /// The field of `payload` that puts its effect off to a later time.
        package var postponedBy: String?
        /// The background routes of the queue that may carry it.
        package var backgroundRoutes: Set<BackgroundRoute>
        /// The permission that the phone's user must have granted; nil for none.
        package var permission: Permission?
        /// What bounds the length of a list in `data`; nil for none.
        package var listLimit: ListLimit?

        package init(
            name: String, section: String, fields: [Field] = [], needsOneField: Bool = false,
            payload: [Field] = [], data: [Field] = [], methods: [String] = [], effect: Effect,
            bornID: String? = nil, usedID: String? = nil, postponedBy: String? = nil,
            backgroundRoutes: Set<BackgroundRoute> = [], permission: Permission? = nil,
            listLimit: ListLimit? = nil
        ) {
            self.name = name
            self.section = section
            self.fields = fields
            self.needsOneField = needsOneField
            self.payload = payload
            self.data = data
            self.methods = methods
            self.effect = effect
            self.bornID = bornID
            self.usedID = usedID
            self.postponedBy = postponedBy
            self.backgroundRoutes = backgroundRoutes
            self.permission = permission
            self.listLimit = listLimit
        }
    }

    /// A field of `payload` that bounds how many elements a list in `data` has.
    package struct ListLimit: Sendable {
        package var field: String
        package var list: String

        package init(field: String, list: String) {
            self.field = field
            self.list = list
        }
    }

    /// How an answer says that the thing which a command names is not there.
    ///
    /// Contract, "calendar_delete" and "contacts_update".
    package struct MissingThing: Sendable {
        package var code = "invalid_arguments"
        /// The field of `details` that holds the platform's own code.
        package var detail = "native_code"

        package init() {}
    }

    /// What running a command does to the phone.
    package enum Effect: String, Sendable {
        case reads
        case creates
        case updates
        case deletes
        case overwrites
        /// Opens something outside of the app.
        case opens
    }

    /// What the phone's user is asked for (contract, "Permission Management").
    package enum Permission: String, Sendable, CaseIterable {
        case calendar
        case contacts
        case notifications
    }

    /// A route for commands while the app is in the background (contract, "Connection").
    package enum BackgroundRoute: String, Sendable, CaseIterable {
        /// iOS with the picture-in-picture bridge on.
        case pip
        /// The foreground service of Android.
        case fgs
        /// A wake hint over Bluetooth to iOS without the picture-in-picture bridge.
        case bleWake = "ios_ble_wake"
    }

    /// An event that the app sends unasked (contract, "AppEvent").
    package struct EventType: Sendable {
        /// Its id, which is its `method` as well.
        package var name: String
        package var section: String
        /// Fields of `data`.
        package var data: [Field]

        package init(name: String, section: String, data: [Field]) {
            self.name = name
            self.section = section
            self.data = data
        }
    }

    /// A field of an object.
    package struct Field: Sendable {
        package var name: String
        package var type: FieldType
        package var isRequired: Bool
        /// What its absence means.
        package var defaultValue: JSON?
        /// What its text tells about a person.
        package var personal: Personal
        /// Whether it tells when something took place, which no two sessions share.
        package var isMoment: Bool

        package init(
            _ name: String, _ type: FieldType, required: Bool = false,
            default defaultValue: JSON? = nil, personal: Personal = .none, isMoment: Bool = false
        ) {
            self.name = name
            self.type = type
            isRequired = required
            self.defaultValue = defaultValue
            self.personal = personal
            self.isMoment = isMoment
        }
    }

    /// The type of a field's value.
    package indirect enum FieldType: Sendable {
        case string
        /// A number without a fraction.
        case integer
        case number
        case boolean
        /// RFC 3339 with an offset (contract, "Time Format").
        case instant
        /// The text of a URL with one of these schemes, in lower case.
        case url([String])
        /// A string out of a closed set.
        case choice([String])
        case array(FieldType)
        case object([Field])
        /// An object whose members the contract leaves open.
        case anyObject
    }

    /// Kinds of personal data, by which redaction chooses a stand-in.
    package enum Personal: String, Sendable, CaseIterable {
        case none
        case name
        case phone
        case email
        case place
        case note
        case clipboard
        case url
        case title
        /// An id that links a command to a thing, or things to a phone.
        case id
        /// A moment: shifted, not replaced.
        case instant
        /// Facts of the device, such as its name and model.
        case device
    }

    /// Error codes of one category (contract, "Error Handling").
    package struct ErrorCategory: Sendable {
        package var name: String
        package var codes: [String]

        package init(name: String, codes: [String]) {
            self.name = name
            self.codes = codes
        }
    }
}

// MARK: - Routes and times

extension Contract {
    /// The paths of the board's HTTP service (board facts, "Routes").
    package struct Paths: Sendable {
        /// Where the app upgrades to WebSocket; all others lie below it.
        package var base = "/api/phone-bridge"

        package init() {}

        package var status: String { base + "/status" }
        package var commands: String { base + "/commands" }
        package var results: String { base + "/results" }
    }

    /// Fields of the board's HTTP responses (board facts, "JSON" and "Status document").
    package struct ResponseBodies: Sendable {
        /// The response to an enqueue request that was taken.
        package var enqueue: [Field] = []
        /// The response to a result that was taken.
        package var result: [Field] = []
        /// The response to a query, but for the `result` in it, which is that of the command.
        package var query: [Field] = []
        package var status: [Field] = []

        package init() {}
    }

    /// Names and bounds of a poll's parameters (board facts, "Poll parameters").
    package struct PollParameters: Sendable {
        package var platform = "platform"
        package var phoneID = "phone_id"
        package var appState = "app_state"
        package var pipEnabled = "pip_bridge_enabled"
        package var fgsEnabled = "fgs_bridge_enabled"
        package var limit = "limit"
        package var platforms = ["ios", "android"]
        package var appStates = ["active", "background", "inactive"]
        package var trueTexts = ["true", "1", "yes"]
        package var falseTexts = ["false", "0", "no"]
        package var limits: ClosedRange<Int64> = 1...50
        package var defaultLimit: Int64 = 10

        package init() {}
    }

    /// Times in milliseconds (contract, "Heartbeat" and "Timeout and Reconnection").
    package struct Timing: Sendable {
        /// What an absent `timeout_ms` means.
        package var defaultTimeoutMilliseconds: Int64 = 5_000
        package var heartbeatIntervalMilliseconds: Int64 = 5_000
        /// Without a heartbeat for longer than this, a connection is unhealthy.
        package var heartbeatLimitMilliseconds: Int64 = 60_000
        package var reconnectMilliseconds: ClosedRange<Int64> = 3_000...5_000

        package init() {}
    }
}

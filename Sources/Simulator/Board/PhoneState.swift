import PhoneBridge
import Wire

/// What the board knows about the phone: from the handshake, polls and events
/// (board-http-facts, "Status document").
struct PhoneState {
    /// The app's lifecycle states that the contract names.
    enum AppState: String {
        case active
        case background
        case inactive

        /// In any case of letters; nil for an unknown one.
        init?(text: String) {
            self.init(rawValue: text.lowercased())
        }
    }

    var platform = ""
    var phoneID = CommandID("")
    var appState: AppState?
    /// As the phone wrote it, or the board's clock.
    var appStateUpdatedAt = ""
    var returnEntry: String?
    var isReturnEntryAvailable: Bool?
    var isPiPEnabled: Bool?
    var isFGSEnabled: Bool?
    var fgsUpdatedAt = ""
    /// When the bridges were last reported, on the monotonic clock.
    private var pipReportedAt: Int64?
    private var fgsReportedAt: Int64?

    mutating func reportPiP(_ isEnabled: Bool, at now: Moment) {
        isPiPEnabled = isEnabled
        pipReportedAt = now.monotonic
    }

    mutating func reportFGS(_ isEnabled: Bool, at now: Moment) {
        isFGSEnabled = isEnabled
        fgsReportedAt = now.monotonic
        fgsUpdatedAt = Timestamp(wall: now.wall).exactText
    }

    mutating func report(_ state: AppState, writtenAt: String?, at now: Moment) {
        appState = state
        appStateUpdatedAt = writtenAt ?? Timestamp(wall: now.wall).exactText
    }

    /// The last report of PiP, as long as it is fresh; nil when there is none.
    func freshPiP(at now: Moment, scale: TimeScale) -> Bool? {
        Self.isFresh(pipReportedAt, at: now, scale: scale) ? isPiPEnabled : nil
    }

    /// The last report of the foreground service, as long as it is fresh; nil when there is none.
    func freshFGS(at now: Moment, scale: TimeScale) -> Bool? {
        Self.isFresh(fgsReportedAt, at: now, scale: scale) ? isFGSEnabled : nil
    }

    private static func isFresh(_ reportedAt: Int64?, at now: Moment, scale: TimeScale) -> Bool {
        guard let reportedAt else { return false }
        return now.monotonic - reportedAt
            <= scale.nanoseconds(seconds: BoardTimes.stateFreshness)
    }

    /// Whether the queue refuses a command of `type`, because only a BLE wake could reach the
    /// phone and does not carry it (board-http-facts, "Status codes").
    func needsForeground(_ type: String, at now: Moment, options: BoardOptions) -> Bool {
        guard options.isBLEWakeAvailable, platform.lowercased() == "ios",
            appState == .background || appState == .inactive,
            freshPiP(at: now, scale: options.timeScale) != true,
            isReturnEntryAvailable != true
        else { return false }
        let routes = Contract.current.command(named: type)?.backgroundRoutes ?? []
        return !routes.contains(.bleWake)
    }

    /// Takes a `phone_app_state` event; throws, unchanged, for wrong types and unknown states.
    ///
    /// Returns the phone's own time when it is an RFC 3339 one.
    mutating func apply(
        appStateEvent data: JSON, at now: Moment
    ) throws(FieldError) -> Timestamp? {
        let fields = try JSONFields(data, path: "data", ignoresCase: true)
        guard let stateText = try fields.string("app_state") else {
            throw .wrongType(field: "data.app_state", found: "absent", expected: "a string")
        }
        guard let state = AppState(text: stateText) else {
            throw .wrongType(
                field: "data.app_state", found: "another text", expected: "a known state")
        }
        let reportedAt = try fields.string("reported_at")
        let entry = try fields.string("return_entry")
        let isAvailable = try fields.bool("return_entry_available")
        let pip = try fields.bool("pip_bridge_enabled")

        let reported = reportedAt.flatMap { Timestamp($0) }
        report(state, writtenAt: reported == nil ? nil : reportedAt, at: now)
        if let entry { returnEntry = entry.lowercased() }
        if let isAvailable { isReturnEntryAvailable = isAvailable }
        if let pip { reportPiP(pip, at: now) }
        return reported
    }
}

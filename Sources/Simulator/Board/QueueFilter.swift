/// Which command types one poll may take (contract, "Connection"; board-http-facts, "Poll
/// parameters").
///
/// The table knows four rows; what it leaves open is decided so that a phone which may be in the
/// background gets nothing that its background route does not carry.
enum QueueFilter: Equatable {
    case everything
    case route(CommandRoute)
    case nothing

    /// The filter for what is known of the polling phone.
    ///
    /// `pip` and `fgs` are what the poll says or, where it says nothing, a fresh report.
    init(platform: String, appState: PhoneState.AppState?, pip: Bool?, fgs: Bool?) {
        switch (platform.lowercased(), appState) {
        case ("ios", .active): self = .everything
        case ("ios", .background), ("ios", .inactive):
            self = pip == true ? .route(.backgroundBridge) : .route(.bleWake)
        case ("ios", nil):
            self = pip == true ? .route(.backgroundBridge) : .everything
        case ("android", .active):
            self = fgs == false ? .nothing : .everything
        case ("android", .background), ("android", .inactive):
            self = fgs == true ? .route(.backgroundBridge) : .nothing
        case ("android", nil):
            switch fgs {
            case true?: self = .route(.backgroundBridge)
            case false?: self = .nothing
            case nil: self = .everything
            }
        case (_, .active), (_, nil): self = .everything
        case (_, .background), (_, .inactive): self = .nothing
        }
    }

    /// Whether a command of `type` may be handed out.
    func lets(_ type: String, defects: Set<Defect> = []) -> Bool {
        switch self {
        case .everything: true
        case .nothing: false
        case .route(let route):
            if defects.contains(.b30) {
                Self.carelessPrefixes(of: route).contains { type.hasPrefix($0) }
            } else {
                route.carries(type)
            }
        }
    }

    /// What defect B30 takes for the types of a route.
    private static func carelessPrefixes(of route: CommandRoute) -> [String] {
        switch route {
        case .backgroundBridge: ["clipboard_", "calendar_", "contacts_", "notification_", "open_"]
        case .bleWake: ["calendar_", "contacts_", "notification_"]
        }
    }
}

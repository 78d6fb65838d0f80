import PhoneBridge

/// The systems that the app runs on.
package enum Platform: String, CaseIterable, Sendable {
    case ios
    case android
}

extension BackgroundMode {
    /// Whether the app goes on running.
    var isRunning: Bool { self == .pip || self == .fgs }

    /// The route whose rules say what it does; a suspended app does what a wake may ask for.
    var route: Contract.BackgroundRoute {
        switch self {
        case .pip: .pip
        case .fgs: .fgs
        case .ble, .suspended: .bleWake
        }
    }
}

/// How a reference app is set up.
package struct AppOptions: Sendable {
    package var platform = Platform.ios
    /// The stable id of the phone; none is sent when empty.
    package var phoneID = "phone-a1"
    /// The people that the phone knows from before.
    package var contacts = PhoneContacts()
    /// The path of the board's interface.
    package var basePath = Contract.current.paths.base
    /// Further query fields of the handshake, such as `a=1&b=2`; sent as they are.
    package var extraQuery = ""
    /// Every duration is divided by this one's factor.
    package var timeScale = TimeScale()
    /// The planted bugs; none for the reference.
    package var defects: Set<Defect> = []
    /// Decides what the contract leaves to chance: the wait before a reconnect.
    package var seed: UInt64 = 1
    /// Whether permessage-deflate is offered; by default Android offers it and iOS does not
    /// (clients-in-the-field).
    package var offersCompression: Bool {
        get { compressionChoice ?? (platform == .android) }
        set { compressionChoice = newValue }
    }
    private var compressionChoice: Bool?
    /// The size in bytes from which messages are compressed; Android's library has this.
    package var compressionThreshold = 1024
    /// The longest message in bytes that the app takes; Apple's library has this.
    package var maximumMessageSize = 1 << 20
    /// Whether the queue is polled in the foreground too.
    package var pollsInForeground = true
    /// Seconds that a command takes.
    package var commandDuration = 0.02
    /// Seconds that commands of some types take instead.
    package var commandDurations: [String: Double] = [:]
    /// Seconds after which a permission's prompt is answered with yes; nil to leave it pending.
    package var promptAnswerDelay: Double?

    /// Commands that run at once; one more is answered with an error.
    package var maximumRunningCount = 1000
    /// Ids whose answers are remembered (contract, "Timeout and Reconnection": idempotence).
    package var maximumCacheCount = 10_000
    /// Bytes of the answers that are remembered.
    package var maximumCacheSize = 32 << 20
    /// Results that wait for being posted at once.
    package var maximumOutboxCount = 1000

    package init() {}
}

/// The app's durations in seconds, before they are scaled.
enum AppTimes {
    /// Contract, "Heartbeat".
    static let heartbeat = 5.0
    /// Without an echo for so long the link counts as dead: three heartbeats.
    static let echoLimit = 15.0
    /// The least and the most that pass before a reconnect (contract: 3 to 5 s), kept off the
    /// edges so that neither a slow nor a coarse clock steps over them.
    static let reconnect = 3.3...4.7
    /// How long a handshake may take.
    static let connectLimit = 10.0
    static let foregroundPoll = 5.0
    static let backgroundPoll = 2.0
    /// How long a reply to a poll or a result may take.
    static let requestLimit = 10.0
    /// How long a BLE wake lets the app run, and how often it polls then.
    static let wakeWindow = 10.0
    static let wakePoll = 1.0
    /// The wait before a result that was not taken is posted again.
    static let postRetry = 2.0
}

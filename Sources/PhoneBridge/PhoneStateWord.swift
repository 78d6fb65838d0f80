/// What a phone's app may do in the background (contract, "Connection").
package enum BackgroundMode: String, CaseIterable, Sendable {
    /// iOS: PiP keeps the app running, and it polls the queue.
    case pip
    /// Android: the foreground service polls the queue.
    case fgs
    /// iOS: suspended; a BLE wake opens a short window in which the app polls.
    case ble
    /// Suspended without a way to be woken.
    case suspended
}

/// What a phone's user has said about a permission.
package enum PermissionDecision: String, CaseIterable, Sendable {
    case granted
    case denied
    /// A command raises a prompt and waits until it is answered.
    case pending
}

/// A state that a phone's app can be brought into, in the words of hooks and of the reference
/// app's control: `active`, `background pip`, `calendar=denied`, `disconnect`.
package enum PhoneStateWord: Hashable, Sendable {
    case active
    case inactive
    /// `background ble` is the app that a BLE wake lets run for a while.
    case background(BackgroundMode)
    case permission(Contract.Permission, PermissionDecision)
    /// The WebSocket's connection breaks off; the app comes back by itself.
    case disconnect

    /// All words, in the order in which they are listed to a person.
    package static let all: [PhoneStateWord] =
        [.active, .inactive]
        + BackgroundMode.allCases.map { .background($0) }
        + Contract.Permission.allCases.flatMap { permission in
            PermissionDecision.allCases.map { .permission(permission, $0) }
        } + [.disconnect]

    /// Reads a word as `text` writes it, with spaces or a line's end around it; nil for another.
    package init?(parsing text: String) {
        let spaces = [UInt8](" \t\r\n".utf8)
        let parts = text.utf8.split { spaces.contains($0) }
        let word = parts.map { String(Substring($0)) }.joined(separator: " ")
        guard let known = Self.all.first(where: { $0.text == word }) else { return nil }
        self = known
    }

    /// The word as it is written.
    package var text: String {
        switch self {
        case .active: "active"
        case .inactive: "inactive"
        case .background(let mode): "background \(mode.rawValue)"
        case .permission(let permission, let decision):
            "\(permission.rawValue)=\(decision.rawValue)"
        case .disconnect: "disconnect"
        }
    }
}

extension PhoneStateWord: CustomStringConvertible {
    package var description: String { text }
}

// MARK: - What a phone reported

extension PhoneStateWord {
    /// Where a report about a phone's state stands.
    package enum Report: Sendable {
        /// A `phone_app_state` event, or the status document.
        case event
        /// A poll's parameters: whoever polls runs, be it for a wake's short while.
        case poll
    }

    /// The state that a phone reported; nil where it named none, or one that the contract does
    /// not have.
    ///
    /// In the background a bridge that is on decides: PiP on iOS, the foreground service on
    /// Android, as the board takes it (contract, "Connection"). Without one the app is suspended,
    /// and a poll of iOS comes from a BLE wake. An event does not tell of the foreground service:
    /// `fgsEnabled` is what polls last said.
    package init?(_ state: PollState, reportedBy report: Report) {
        switch state.appState?.lowercased() {
        case "active": self = .active
        case "inactive": self = .inactive
        case "background":
            let isAndroid = state.platform.lowercased() == "android"
            let bridge: BackgroundMode = isAndroid ? .fgs : .pip
            let isOn = isAndroid ? state.fgsEnabled == true : state.pipEnabled == true
            let other: BackgroundMode = report == .poll && !isAndroid ? .ble : .suspended
            self = .background(isOn ? bridge : other)
        default: return nil
        }
    }
}

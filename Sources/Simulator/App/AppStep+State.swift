package import PhoneBridge

extension AppStep {
    /// What happens to an app on its way into a state from the one that it is in.
    ///
    /// Nothing does where it is in it; only a BLE wake can come again and again, and a connection
    /// can break off once more. A permission is decided whatever it was.
    package static func steps(
        into state: PhoneStateWord, from present: PhoneStateWord
    ) -> [AppStep] {
        switch state {
        case .active: present == .active ? [] : [.foreground]
        case .inactive: present == .inactive ? [] : [.inactive]
        case .background(.ble):
            isSuspended(present) ? [.bleWake] : [.background(.ble), .bleWake]
        case .background(let mode):
            // Suspended in whatever way: an app that does not run says nothing of a change.
            present == state || (mode == .suspended && isSuspended(present))
                ? [] : [.background(mode)]
        case .permission(let permission, let decision): [.decide(permission, decision)]
        case .disconnect: [.dropConnection]
        }
    }

    private static func isSuspended(_ state: PhoneStateWord) -> Bool {
        if case .background(let mode) = state { !mode.isRunning } else { false }
    }
}

/// What a poll tells the board about the phone, as far as it decides what is handed out.
package struct PollState: Sendable, Equatable {
    /// Compared without regard to case.
    package var platform: String
    /// `active`, `background` or `inactive`; nil where none of them is known.
    package var appState: String?
    package var pipEnabled: Bool?
    package var fgsEnabled: Bool?

    package init(
        platform: String, appState: String? = nil, pipEnabled: Bool? = nil,
        fgsEnabled: Bool? = nil
    ) {
        self.platform = platform
        self.appState = appState
        self.pipEnabled = pipEnabled
        self.fgsEnabled = fgsEnabled
    }
}

extension Contract {
    /// What the target of a poll says of the phone; nothing that earlier ones said.
    package func pollState(_ target: RequestTarget) -> PollState {
        func flag(_ name: String) -> Bool? {
            guard let text = target[name]?.lowercased() else { return nil }
            if poll.trueTexts.contains(text) { return true }
            return poll.falseTexts.contains(text) ? false : nil
        }
        let state = target[poll.appState]?.lowercased()
        return PollState(
            platform: target[poll.platform] ?? "",
            appState: state.flatMap { poll.appStates.contains($0) ? $0 : nil },
            pipEnabled: flag(poll.pipEnabled), fgsEnabled: flag(poll.fgsEnabled))
    }

    /// What a poll may be given.
    package enum HandOut: Sendable, Equatable {
        case everything
        case nothing
        /// The types that may go over this route.
        case only(BackgroundRoute)
    }

    /// What a phone in this state may be given (contract, "Connection"; board facts, "Poll
    /// parameters").
    ///
    /// A phone that never said its state counts as active.
    package func handOut(to poll: PollState) -> HandOut {
        let isAndroid = poll.platform.lowercased() == "android"
        let appState = poll.appState?.lowercased() ?? "active"
        if appState == "active" {
            return isAndroid && poll.fgsEnabled == false ? .nothing : .everything
        }
        if isAndroid { return poll.fgsEnabled == true ? .only(.fgs) : .nothing }
        return .only(poll.pipEnabled == true ? .pip : .bleWake)
    }

    /// Whether a command of this type may be given to a phone in this state.
    ///
    /// A type that the version does not know goes to active phones only: nothing says that it is
    /// safe in the background.
    package func mayHandOut(_ type: String, to poll: PollState) -> Bool {
        switch handOut(to: poll) {
        case .everything: true
        case .nothing: false
        case .only(let route): command(named: type)?.backgroundRoutes.contains(route) ?? false
        }
    }
}

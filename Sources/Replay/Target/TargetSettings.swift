package import Capture
package import Network
package import Simulator

/// The target as the flags of a command line say it, before it is seen whether that makes sense.
package struct TargetSettings: Sendable, Equatable {
    /// `--as`: the side that is played.
    package var played: Side?
    /// `--to`: where a board is.
    package var url: WebSocketURL?
    /// `--listen`: where an app comes to.
    package var listen: Endpoint?
    package var spawn: String?
    package var restart: String?
    package var readyText: String?
    package var readyFile: String?
    package var stimulus: String?
    package var probe: String?
    package var before: String?
    package var after: String?
    package var onState: String?
    package var effects: TargetEffects?
    /// `--raw`: reports show what messages say, whosever the target is.
    package var isRaw = false

    /// Makes settings of which nothing is said.
    package init() {}

    /// The target that is meant; throws the first thing that does not go together.
    package func options() throws(TargetSettingsError) -> TargetOptions {
        var options = TargetOptions(try reach())
        options.launch = try launch()
        options.stimulus = try parsed("--stimulus", stimulus) { (text) throws(TargetTextError) in
            try TargetStimulus(parsing: text)
        }
        options.probe = try command("--probe", probe)
        options.before = try command("--before", before)
        options.after = try command("--after", after)
        options.onState = try parsed("--on-state", onState, Self.stateCall)
        options.effects = effects
        return options
    }

    private func reach() throws(TargetSettingsError) -> TargetOptions.Reach {
        switch played {
        case nil:
            throw TargetSettingsError(
                "--as SIDE is missing",
                hint: "--as app plays the app against a board, --as board the board against an app")
        case .app?:
            try refuse("--listen", listen != nil, as: .app, "the board is dialled, see --to")
            try refuse("--on-state", onState != nil, as: .app, "the app's states are played")
            try refuse(
                "--effects", effects != nil, as: .app, "there is no phone that could be hurt")
            return .dial(try boardURL())
        case .board?:
            try refuse("--to", url != nil, as: .board, "the app dials us, see --listen")
            try refuse(
                "--stimulus", stimulus != nil, as: .board, "the board's commands are played")
            guard let listen = listen ?? (spawn == nil ? nil : Endpoint(.loopback())) else {
                throw TargetSettingsError(
                    "--listen HOST:PORT is missing",
                    hint: "where does the app come to? --spawn starts one that comes to {port}")
            }
            return .listen(listen)
        }
    }

    private func boardURL() throws(TargetSettingsError) -> WebSocketURL {
        guard let url else {
            let address = Endpoint(.loopback())
            guard spawn != nil,
                let url = try? WebSocketURL(parsing: "ws://\(address)\(Self.linkPath)")
            else {
                throw TargetSettingsError(
                    "--to URL is missing",
                    hint: "write it like ws://192.168.42.1:8080\(Self.linkPath); "
                        + "--spawn starts a board that serves on {port}")
            }
            return url
        }
        guard url.endpoint.port != 0 || spawn != nil else {
            throw TargetSettingsError(
                "--to: port 0 stands for a free one, which only a board of --spawn can take",
                hint: nil)
        }
        return url
    }

    /// The WebSocket's route (board-http-facts, "Routes").
    private static let linkPath = "/api/phone-bridge"

    private func refuse(
        _ flag: String, _ isGiven: Bool, as side: Side, _ why: String
    ) throws(TargetSettingsError) {
        guard isGiven else { return }
        throw TargetSettingsError("\(flag) means nothing with --as \(side.rawValue)", hint: why)
    }

    private func launch() throws(TargetSettingsError) -> TargetLaunch {
        if readyText != nil, readyFile != nil {
            throw TargetSettingsError(
                "--target-ready-text and --target-ready-file exclude each other", hint: nil)
        }
        let file = try command("--target-ready-file", readyFile)
        let readiness: TargetReadiness =
            readyText.map { .text($0) } ?? file.map { .file($0) } ?? .connection
        switch (try command("--spawn", spawn), try command("--restart", restart)) {
        case (_?, _?):
            throw TargetSettingsError(
                "--spawn and --restart exclude each other",
                hint: "a target that was spawned is restarted by spawning it again")
        case (let spawn?, nil): return .spawn(spawn, ready: readiness)
        case (nil, let restart?):
            guard readyText == nil else {
                throw TargetSettingsError(
                    "--target-ready-text needs --spawn",
                    hint: "the output of --restart is not the target's; use --target-ready-file")
            }
            return .restart(restart, ready: readiness)
        case (nil, nil):
            guard readiness == .connection else {
                let flag = readyText == nil ? "file" : "text"
                throw TargetSettingsError("--target-ready-\(flag) needs --spawn", hint: nil)
            }
            return .byOthers
        }
    }

    private func command(
        _ flag: String, _ text: String?
    ) throws(TargetSettingsError) -> TargetTemplate? {
        try parsed(flag, text) { (text) throws(TargetTextError) in
            guard text.contains(where: { !$0.isWhitespace }) else { throw .empty }
            return try TargetTemplate(
                parsing: text, known: played == .board ? TargetPlace.ofApp : TargetPlace.general)
        }
    }

    private static func stateCall(_ text: String) throws(TargetTextError) -> TargetCall {
        if TargetRequest.isMeant(by: text) {
            return .request(try TargetRequest(parsing: text, needed: .state))
        }
        let template = try TargetTemplate(
            parsing: text, known: TargetPlace.ofApp.union([.state]))
        guard template.places.contains(.state) else { throw .missing(.state) }
        return .command(template)
    }

    private func parsed<Value>(
        _ flag: String, _ text: String?, _ parse: (String) throws(TargetTextError) -> Value
    ) throws(TargetSettingsError) -> Value? {
        guard let text else { return nil }
        do throws(TargetTextError) {
            return try parse(text)
        } catch {
            var hint: String?
            if case .unknownPlace = error {
                hint =
                    "braces that are meant for something else have a space inside, as in { word }"
            }
            throw TargetSettingsError("\(flag): \(error)", hint: hint)
        }
    }
}

/// Flags that do not go together: what is wrong, and what to try.
package struct TargetSettingsError: Error, Sendable, Equatable {
    /// One sentence in lower case without a full stop.
    package let message: String
    package let hint: String?

    init(_ message: String, hint: String?) {
        self.message = message
        self.hint = hint
    }
}

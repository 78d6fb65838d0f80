import Arguments
import Capture
import Fuzz
import Network
import Replay
import Simulator

/// What the flags mean with `--inline`.
extension FuzzCommandOptions {
    func checkInline() throws(UsageError) {
        guard !isSimulated else { return try checkSimulatedInline() }
        guard defects.isEmpty else {
            throw .rule(
                message: "--defect is for the simulated peers",
                hint: "--inline --listen simulated --upstream simulated")
        }
        guard let listen = target.listen else {
            throw .rule(
                message: "--listen HOST:PORT is missing", hint: "where does the app come to?")
        }
        guard board != nil || target.spawn != nil else {
            throw .rule(
                message: "--upstream HOST:PORT is missing",
                hint: "where is the board? --spawn starts one that serves on {port}")
        }
        try HostAndPort(host: listen.host, port: listen.port).check(
            allowing: allowFrom, "listening on \(listen) opens the board to the network")
        _ = try boardOptions()
    }

    private func checkSimulatedInline() throws(UsageError) {
        let given = [
            ("--listen HOST:PORT", target.listen != nil), ("--upstream HOST:PORT", board != nil),
            ("--spawn", target.spawn != nil), ("--stimulus", target.stimulus != nil),
            ("--before", target.before != nil), ("--after", target.after != nil),
            ("--allow-from", !allowFrom.isEmpty),
            ("--target-ready-text", target.readyText != nil),
            ("--target-ready-file", target.readyFile != nil),
        ]
        if let (flag, _) = given.first(where: { $0.1 }) {
            throw .rule(message: "\(flag) means nothing with the simulated peers", hint: nil)
        }
    }

    /// The board as a target.
    func boardOptions() throws(UsageError) -> TargetOptions {
        var settings = target
        settings.played = .app
        settings.listen = nil
        // It is about the phone.
        settings.effects = nil
        if let board {
            guard let url = try? WebSocketURL(parsing: "ws://\(board)\(Self.linkPath)") else {
                throw .rule(message: "--upstream: \(board) is no place of a board", hint: nil)
            }
            settings.url = url
        }
        do throws(TargetSettingsError) {
            return try settings.options()
        } catch {
            throw .rule(message: error.message, hint: error.hint)
        }
    }

    /// The WebSocket's route (board-http-facts, "Routes").
    private static let linkPath = "/api/phone-bridge"

    /// The path of the board's interface.
    var basePath: String { Self.linkPath }

    /// The flags that reach one side alone, for `--reproduce`.
    func flags(for side: Side) -> String {
        var words = ["--as", side.peer.rawValue]
        if isSimulated {
            words += [side == .board ? "--to" : "--listen", "simulated"]
            let mine: Defect.Side = side == .board ? .board : .app
            for defect in defects where defect.side == mine {
                words += ["--defect", defect.rawValue]
            }
        } else if side == .app {
            words += ["--listen", target.listen.map { "\($0)" } ?? "HOST:PORT"]
            if let effects = target.effects { words += ["--effects", effects.rawValue] }
        } else {
            if let spawn = target.spawn { words += ["--spawn", spawn] }
            if let board { words += ["--to", "ws://\(board)\(Self.linkPath)"] }
            if let stimulus = target.stimulus { words += ["--stimulus", stimulus] }
        }
        if let profile { words += ["--profile", profile] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}

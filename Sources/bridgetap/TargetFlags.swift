import Arguments
import Capture
import Network
import Replay
import Simulator

/// Options of a command that reaches an implementation under test.
protocol TargetedOptions: Sendable {
    var target: TargetSettings { get set }
}

extension TargetedOptions {
    /// The target that the flags mean.
    func targetOptions() throws(UsageError) -> TargetOptions {
        do throws(TargetSettingsError) {
            return try target.options()
        } catch {
            throw .rule(message: error.message, hint: error.hint)
        }
    }

    /// Refuses several jobs where the targets could not be told apart.
    func checkJobs(_ jobs: Int) throws(UsageError) {
        let options = try targetOptions()
        if jobs > 1, !options.isSpawned {
            throw .rule(
                message: "--jobs needs a target for each job",
                hint: "--spawn starts them; a board or an app serves one peer at a time")
        }
        if jobs > 1, case .dial(let url) = options.reach, url.endpoint.port != 0 {
            throw .rule(
                message: "--jobs: the targets cannot share port \(url.endpoint.port)",
                hint: "give port 0 in --to, and take {port} in --spawn")
        }
        if jobs > 1, case .listen(let endpoint) = options.reach, endpoint.port != 0 {
            throw .rule(
                message: "--jobs: the players cannot share port \(endpoint.port)",
                hint: "give port 0 in --listen, and take {port} in --spawn")
        }
    }
}

extension Argument where Options: TargetedOptions {
    /// The flags by which a target is reached, in the order of a help page.
    static var target: [Argument] {
        [
            .option(
                "as", \.target.played, .choice("app|board"),
                help: "the side that is played; the other one is the target"),
            .option(
                "to", \.target.url, .webSocketURL,
                help: "where the board is, such as ws://192.168.42.1:8080/api/phone-bridge"),
            .option(
                "listen", \.target.listen, .endpoint,
                help: "where the app comes to; port 0 takes any free one"),
            .option(
                "spawn", \.target.spawn, .text("COMMAND"),
                help: "start the target with this command, and end it afterwards. {port} and {job} "
                    + "are filled in, {control}, a second port, {dir}, a private folder, and for an "
                    + "app {platform}, ios or android; PORT, JOB, CONTROL and PLATFORM are in its "
                    + "environment"),
            .option(
                "restart", \.target.restart, .text("COMMAND"),
                help: "a command that brings back a fresh target, where it is not spawned"),
            .option(
                "target-ready-text", \.target.readyText, .text("TEXT"),
                help: "the target is ready when a line of its output has this text (default: when "
                    + "it accepts a connection)"),
            .option(
                "target-ready-file", \.target.readyFile, .file,
                help: "the target is ready when this file comes, such as {dir}/ready"),
            .option(
                "stimulus", \.target.stimulus, .text("CALL"),
                help: "how to make a board send a command: 'METHOD URL [BODY]' with {command} in "
                    + "the body, 'exec:COMMAND', which gets it on standard input, or reference. The "
                    + "reference board needs none"),
            .option(
                "before", \.target.before, .text("COMMAND"),
                help: "run this to its end before the target is started"),
            .option(
                "after", \.target.after, .text("COMMAND"),
                help: "run this to its end when the target has ended"),
            .option(
                "on-state", \.target.onState, .text("CALL"),
                help: "how to bring an app into a {state}: 'COMMAND {state}' or 'METHOD URL [BODY]'"
            ),
            .option(
                "effects", \.target.effects, .choice("none|own|all"),
                help: "what may be done on the app's phone (default: all where the app is spawned, "
                    + "none elsewhere)"),
            .flag(
                "raw", \.target.isRaw,
                help: "show what messages say in reports about a target that was not spawned too"),
        ]
    }
}

extension ArgumentValue where Value == Endpoint {
    /// `HOST:PORT` as the network takes it.
    static var endpoint: ArgumentValue {
        ArgumentValue("HOST:PORT") { (text) throws(ValueError) in
            let place = try ArgumentValue<HostAndPort>.hostAndPort().parse(text)
            return Endpoint(host: place.host, port: place.port)
        }
    }
}

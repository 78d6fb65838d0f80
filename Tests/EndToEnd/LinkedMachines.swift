import Foundation
import Glibc

/// A phone and a board with the link between them: two network namespaces, and in each its end
/// of the cable, `usb0`, with the addresses of the board's USB network.
final class LinkedMachines {
    enum Machine: String {
        case phone
        case board
    }

    private let folder: TestFolder
    private let id = UUID().uuidString.prefix(8).lowercased()

    /// Whether this machine can have them.
    static let areThere: Bool = {
        guard geteuid() == 0, let folder = try? TestFolder() else { return false }
        let name = "bt-probe-\(getpid())"
        guard (try? run("ip", ["netns", "add", name], in: folder)) != nil else { return false }
        return (try? run("ip", ["netns", "del", name], in: folder)) != nil
    }()

    /// Makes both, and plugs the cable in.
    init(in folder: TestFolder) throws {
        self.folder = folder
        for machine in [Machine.phone, .board] {
            try Self.run("ip", ["netns", "add", name(of: machine)], in: folder)
            try on(machine, "ip", ["link", "set", "lo", "up"])
        }
    }

    deinit {
        for machine in [Machine.phone, .board] {
            _ = try? Self.run("ip", ["netns", "del", name(of: machine)], in: folder)
        }
    }

    private func name(of machine: Machine) -> String { "bt-\(id)-\(machine.rawValue)" }

    /// Plugs the cable in.
    func plug() throws {
        try Self.run(
            "ip",
            ["-n", name(of: .board), "link", "add", "usb0", "type", "veth", "peer", "name", "usb0"]
                + ["netns", name(of: .phone)], in: folder)
        for (machine, address) in [(Machine.phone, "192.168.42.2"), (.board, "192.168.42.1")] {
            try on(machine, "ip", ["addr", "add", "\(address)/24", "dev", "usb0"])
            try on(machine, "ip", ["link", "set", "usb0", "up"])
        }
    }

    /// Pulls the cable: the interfaces are gone.
    func unplug() throws {
        try on(.board, "ip", ["link", "del", "usb0"])
    }

    /// Starts a program on one of them.
    func start(_ machine: Machine, _ program: String, _ arguments: [String]) throws -> Child {
        try Child(
            "ip", ["netns", "exec", name(of: machine), program] + arguments, in: folder)
    }

    /// Runs a program on one of them to its end, which has to be a good one; gives its output.
    @discardableResult
    func on(_ machine: Machine, _ program: String, _ arguments: [String]) throws -> String {
        try Self.run(
            "ip", ["netns", "exec", name(of: machine), program] + arguments, in: folder)
    }

    @discardableResult
    private static func run(
        _ program: String, _ arguments: [String], in folder: TestFolder
    ) throws -> String {
        let outcome = try Child(program, arguments, in: folder).finish()
        guard outcome.exitCode == 0 else {
            throw Trouble("\(arguments) ended with \(outcome.exitCode): \(outcome.errors)")
        }
        return outcome.output
    }
}

/// `bridgetap sniff` on the board's end of the cable, running.
final class RunningSniffer {
    let child: Child
    let file: String

    /// Starts it; with `waitsUntilReady` it is listening when this returns.
    ///
    /// Its session also goes to standard output, where a test can wait for what happens.
    init(
        on machines: LinkedMachines, in folder: TestFolder, _ arguments: [String] = [],
        also outputs: [String] = [], waitsUntilReady: Bool = true
    ) throws {
        file = folder.file("sniffed-\(UUID().uuidString).ndjson")
        let ready = folder.file("sniffer-\(UUID().uuidString)")
        child = try machines.start(
            .board, BuiltProgram.url.path,
            ["sniff", "-i", "usb0", "-o", file, "-o", "-"] + outputs.flatMap { ["-o", $0] }
                + ["--ready-file", ready] + arguments)
        if waitsUntilReady { _ = try child.waitForFile(ready) }
    }

    /// Ends it as a user does, and gives how it ended.
    func stop() throws -> Child.Outcome {
        try child.signal(SIGINT)
        return try child.finish()
    }

    /// What it wrote.
    func session() throws -> RecordedSession { try RecordedSession([file]) }
}

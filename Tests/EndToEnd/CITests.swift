import Foundation
import Testing

/// The jobs of docs/ci.md, run as they stand there.
///
/// Of a CI's machine three things are made up here: the repository under test, whose board is the
/// reference board; `sudo` and `apt-get`, which only say what they were asked for; and the values
/// that the CI puts in.
@Suite struct CITests {
    /// A machine with the job's checkout in it.
    private final class Machine {
        let folder: TestFolder
        let checkout: String

        /// - Parameter defect: one of the board's, such as `B28`.
        init(defect: String? = nil) throws {
            folder = try TestFolder()
            checkout = folder.file("checkout")
            let bin = folder.file("bin")
            for path in [bin, checkout, checkout + "/captures"] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                atPath: bin + "/bridgetap", withDestinationPath: BuiltProgram.url.path)
            try write("#!/bin/sh\nexec \"$@\"\n", to: bin + "/sudo")
            try write("#!/bin/sh\necho \"apt-get $*\"\n", to: bin + "/apt-get")
            for name in ["two-at-once", "queue-limit", "times"] {
                try FileManager.default.copyItem(
                    atPath: BuiltProgram.root.appending(path: ReplayProgram.capture(name)).path,
                    toPath: checkout + "/captures/\(name).ndjson")
            }
            let flags = defect.map { " --defect \($0)" } ?? ""
            let board =
                #"#!/bin/sh\nexec bridgetap board --listen "127.0.0.1:$$2""# + flags + #"\n"#
            try write(
                "board:\n\tprintf '\(board)' > board\n\tchmod +x board\n",
                to: checkout + "/Makefile")
        }

        private func write(_ text: String, to path: String) throws {
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: path)
        }

        /// Runs a script as a step of a job.
        func run(_ script: String, environment: [String: String] = [:]) throws
            -> BuiltProgram.Outcome
        {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            return try BuiltProgram.run(
                ["-c", "cd \"$0\" && exec bash -eo pipefail -c \"$1\"", checkout, script],
                environment: environment.merging(["PATH": folder.file("bin") + ":" + path]) { $1 },
                program: URL(filePath: "/bin/bash"))
        }

        func has(_ artifact: String) -> Bool {
            FileManager.default.fileExists(atPath: checkout + "/" + artifact)
        }
    }

    private static func jobs(_ heading: String) throws -> CIJobs {
        let page = try String(
            contentsOf: BuiltProgram.root.appending(path: "docs/ci.md"), encoding: .utf8)
        return try #require(CIJobs(of: heading, in: page))
    }

    /// A job as its CI runs it: with the values put in, a script after the other until one fails.
    private static func run(
        _ job: CIJobs, shard: Int, on machine: Machine
    ) throws -> BuiltProgram.Outcome {
        var last = BuiltProgram.Outcome(exitCode: 0, output: "", errors: "")
        for script in job.scripts where last.exitCode == 0 {
            let filled = script.replacingOccurrences(of: "${{ matrix.shard }}", with: "\(shard)")
            #expect(!filled.contains("${{"), "\(filled)")
            last = try machine.run(
                filled, environment: ["CI_NODE_INDEX": "\(shard)", "CI_NODE_TOTAL": "2"])
        }
        return last
    }

    private static let pages: [(heading: String, scripts: Int, artifacts: Set<String>)] = [
        ("GitHub Actions", 3, ["live", "replay.xml"]), ("GitLab", 2, ["live", "replay.xml"]),
    ]

    @Test(arguments: pages)
    func `the jobs of the page replay all sessions, and keep what they say`(
        heading: String, scripts: Int, artifacts: Set<String>
    ) throws {
        let job = try Self.jobs(heading)
        #expect(job.scripts.count == scripts, "\(job.scripts)")
        #expect(Set(job.artifacts) == artifacts)
        var sessions = 0
        for shard in 1...2 {
            let machine = try Machine()
            let outcome = try Self.run(job, shard: shard, on: machine)
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
            for artifact in artifacts { #expect(machine.has(artifact), "\(artifact)") }
            sessions += try FileManager.default.contentsOfDirectory(
                atPath: machine.checkout + "/live"
            ).count
        }
        #expect(sessions == 3)
    }

    @Test(arguments: pages)
    func `a board that is broken fails the job, which keeps what took place`(
        heading: String, scripts: Int, artifacts: Set<String>
    ) throws {
        let job = try Self.jobs(heading)
        var codes: [Int32] = []
        for shard in 1...2 {
            // Defect B28: a poll gets more commands than its limit says.
            let machine = try Machine(defect: "B28")
            codes.append(try Self.run(job, shard: shard, on: machine).exitCode)
            for artifact in artifacts { #expect(machine.has(artifact), "\(artifact)") }
        }
        #expect(codes.sorted() == [0, 1])
    }
}

import Foundation
import Fuzz
import Network
import PhoneBridge
import Replay
import Simulator
import Testing

/// Scripts against targets that are spawned: the built program, boards that nobody here wrote, and
/// targets that are of no use.
@Suite struct FuzzTargetTests {
    /// A runner on a loop of its own.
    private final class Lab {
        let loop: UVLoop
        let runner: TargetRunner

        init(
            _ reach: TargetOptions.Reach, spawn command: String, scale: Double = 1,
            ready: Int64 = 30
        ) throws {
            loop = try UVLoop()
            var target = TargetOptions(reach)
            let places: Set<TargetPlace> =
                if case .dial = reach { TargetPlace.general } else { TargetPlace.ofApp }
            target.launch = .spawn(
                try TargetTemplate(parsing: command, known: places), ready: .connection)
            target.readyTime = ready * nanosecondsPerSecond
            var options = TargetRunner.Options()
            options.profile.timeScale = scale
            runner = TargetRunner(target, options: options, on: loop)
        }

        func run(
            _ text: String, isFresh: Bool = false, keepsSession: Bool = false
        ) throws -> CaseOutcome {
            let script = try FuzzScript(parsing: text)
            var outcome: CaseOutcome?
            runner.run(script, isFresh: isFresh, keepsSession: keepsSession) { [loop] in
                outcome = $0
                loop.stop()
            }
            let limit = loop.schedule(after: 50 * nanosecondsPerSecond) { [loop] in loop.stop() }
            loop.run()
            limit.cancel()
            return try #require(outcome)
        }

        func end() {
            runner.end { [loop] in loop.stop() }
            let limit = loop.schedule(after: 20 * nanosecondsPerSecond) { [loop] in loop.stop() }
            loop.run()
            limit.cancel()
            loop.close()
        }
    }

    private func board(
        _ command: String, scale: Double = 1, ready: Int64 = 30
    ) throws -> Lab {
        try Lab(
            .dial(try WebSocketURL(parsing: "ws://127.0.0.1:0/api/phone-bridge")),
            spawn: command, scale: scale, ready: ready)
    }

    private func reference(_ flags: String, scale: Double = 1) throws -> Lab {
        try board(
            "'\(BuiltProgram.url.path)' board --listen 127.0.0.1:{port} "
                + "--time-scale \(Int(scale)) \(flags)", scale: scale)
    }

    private static let ping = """
        bridgetap-fuzz 1 as app
        connect a platform=ios&phone_id=p
        text a {"id":"phone_environment","method":"phone_environment","data":{"platform":"ios"}}
        !C10 text a {"id":"ping"}
        wait 1s
        stimulate c1 {"id":"c1","type":"clipboard_read"}
        await c1 5s
        text a {"id":"$(c1)","data":{"text":"x"}}
        wait 1s
        alive
        bystander
        """

    @Test func `a planted defect of a spawned board is observed, and a clean one gives no cause`()
        throws
    {
        let clean = try reference("", scale: 4)
        for _ in 0..<3 {
            let outcome = try clean.run(Self.ping)
            #expect(outcome.target == .well)
            #expect(outcome.observations.map(\.text) == [])
        }
        #expect(clean.runner.starts == 1, "a board is kept over several cases")
        _ = try clean.run(Self.ping, isFresh: true)
        #expect(clean.runner.starts == 2)
        clean.end()
        let broken = try reference("--defect B16", scale: 4)
        let outcome = try broken.run(Self.ping, keepsSession: true)
        #expect(outcome.observations.map(\.check) == ["heartbeat-echo-id"])
        #expect(String(decoding: outcome.session, as: UTF8.self).contains(#""id":"ping""#))
        broken.end()
    }

    @Test func `a defect that needs a minute shows in a second where time is scaled`() throws {
        // Contract, "Heartbeat": over 60 s without one is unhealthy.
        let lab = try reference("", scale: 60)
        let outcome = try lab.run(
            """
            bridgetap-fuzz 1 as app
            connect a platform=ios
            text a {"id":"heartbeat"}
            !T9 stall a
            wait 80s
            get status
            heal
            alive
            """)
        #expect(outcome.observations.map(\.text) == [])
        #expect(outcome.duration > 80 * nanosecondsPerSecond)
        lab.end()
    }

    @Test func `an app that is spawned comes for each case`() throws {
        let script = """
            bridgetap-fuzz 1 as board
            accept a 10s
            command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
            await c 8s
            !C1 command c {"id":"c","type":"calendar_create","payload":{"title":"t","start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
            await c 8s
            alive
            """
        for (flags, checks) in [("", []), ("--defect A1", ["one-effect"])] {
            let lab = try Lab(
                .listen(Endpoint(.loopback())),
                spawn: "'\(BuiltProgram.url.path)' app --to ws://127.0.0.1:{port}/api/phone-bridge "
                    + "--time-scale 4 \(flags)", scale: 4)
            for _ in 0..<2 {
                let outcome = try lab.run(script)
                #expect(outcome.target == .well)
                #expect(outcome.observations.map(\.check) == checks)
            }
            lab.end()
        }
    }

    private func python(_ body: String) -> String {
        // One that a target's shell reads as it is.
        let server =
            "import socket,sys,time,os; s=socket.socket(); "
            + "s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); "
            + "s.bind((\"127.0.0.1\",int(sys.argv[1]))); s.listen(50); k=[]"
        return "python3 -c '\(server)\n\(body)' {port}"
    }

    @Test(arguments: [
        ("mute", "while True: k.append(s.accept())"),
        (
            "resetting",
            "import struct\nwhile True:\n c,_=s.accept(); c.setsockopt(socket.SOL_SOCKET,socket.SO_LINGER,struct.pack(\"ii\",1,0)); c.close()"
        ),
        (
            "flooding",
            "while True:\n c,_=s.accept()\n try:\n  while True: c.sendall(b\"x\"*65536)\n except OSError: pass"
        ),
        (
            "redirecting",
            "while True:\n c,_=s.accept(); c.recv(9999); c.sendall(b\"HTTP/1.1 307 x\\r\\nLocation: /api/phone-bridge\\r\\nContent-Length: 0\\r\\n\\r\\n\"); k.append(c)"
        ),
    ])
    func `a target that is of no use never hangs a case`(_ name: String, _ body: String) throws {
        let lab = try board(python(body), scale: 10)
        let outcome = try lab.run(Self.ping)
        #expect(outcome.target == .well)
        #expect(outcome.observations.contains { $0.check == "alive" }, "\(outcome.observations)")
        lab.end()
    }

    @Test func `a target that dies is told with its last words`() throws {
        let lab = try board(
            python(
                "c,_=s.accept(); c.recv(9)\nc,_=s.accept(); c.recv(9)\nc,_=s.accept(); "
                    + "sys.stderr.write(\"out of cheese\\n\"); os._exit(3)"), scale: 10)
        let outcome = try lab.run(Self.ping)
        #expect(outcome.target == .died("the target died: it exited with code 3"))
        #expect(outcome.observations.first?.check == "process")
        #expect(outcome.output == ["out of cheese"])
        // The next case has a new one.
        #expect(try lab.run(Self.ping).observations.first?.check == "process")
        #expect(lab.runner.starts == 2)
        lab.end()
    }

    @Test func `a target that never comes is lost`() throws {
        let lab = try board("echo no; sleep 40", ready: 1)
        let outcome = try lab.run(Self.ping)
        guard case .lost(let words) = outcome.target else {
            Issue.record("\(outcome.target)")
            return
        }
        #expect(words.contains("not ready within 1 s"))
        #expect(outcome.output == ["no"])
        lab.end()
    }
}

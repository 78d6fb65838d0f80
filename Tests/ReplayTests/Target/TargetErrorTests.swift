import Network
import Replay
import Testing
import Wire

@Suite struct TargetErrorTests {
    private static let said: TargetOutput = {
        var output = TargetOutput()
        output.append(.error, Bytes("panic: nil map".utf8))
        return output
    }()

    private static let sentences: [(error: TargetError, sentence: String)] = [
        (.noPrograms(.before), "--before: no programs are run in a simulated world"),
        (
            .portTaken(Endpoint(host: "127.0.0.1", port: 8080)),
            "somebody else listens on 127.0.0.1:8080 already, where the target is to serve"
        ),
        (
            .noPort(NetworkError(errno: 98, call: "bind")),
            "no free port was found for the target: address already in use (bind, EADDRINUSE)"
        ),
        (
            .noFolder(FileError(errno: 28, call: "mkdtemp", path: "/tmp")),
            "the private folder of the target, /tmp: no space left on device (mkdtemp, ENOSPC)"
        ),
        (
            .cannotStart(.spawn, NetworkError(errno: 11, call: "execve")),
            "--spawn: the command cannot be started: "
                + "resource temporarily unavailable (execve, EAGAIN)"
        ),
        (.died(.code(2), said), "the target died: it exited with code 2"),
        (.died(.signal(11), said), "the target died: it was killed by SIGSEGV"),
        (.died(.signal(40), said), "the target died: it was killed by signal 40"),
        (
            .notReady(waitedFor: "no connection to 127.0.0.1:8080 was accepted", seconds: 30, said),
            "the target was not ready within 30 s: no connection to 127.0.0.1:8080 was accepted"
        ),
        (
            .unreachable(
                Endpoint(host: "board", port: 8080), NetworkError(errno: 111, call: "connect")),
            "the target cannot be reached at board:8080: connection refused (connect, ECONNREFUSED)"
        ),
        (.failed(.onState, .code(1), said), "--on-state: the command exited with code 1"),
        (
            .tookTooLong(.after, seconds: 60, said),
            "--after: the command had not ended after 60 s, and was ended"
        ),
        (
            .refused(.stimulus, status: 404, body: "404 page not found"),
            "--stimulus: the target refused it with HTTP status 404: 404 page not found"
        ),
        (
            .refused(.onState, status: 500, body: ""),
            "--on-state: the target refused it with HTTP status 500"
        ),
        (
            .noAnswer(.stimulus, .http(.timeout)),
            "--stimulus: the request failed: no answer came in time"
        ),
        (
            .noAnswer(.stimulus, .http(.closed(isWithinResponse: true))),
            "--stimulus: the request failed: the connection ended before the answer"
        ),
        (
            .wrongText(.onState, .scheme("ftp://x")),
            "--on-state: \"ftp://x\" does not begin with http://"
        ),
        (
            .noWay(.stimulus),
            "there is no way to do that with this target; --stimulus says how"
        ),
        (
            .strangeState("a\"; rm x"),
            "--on-state: a state may have letters, digits, spaces and - _ . , : = only, "
                + "not \"a\\\"; rm x\""
        ),
        (.stopped, "the target was stopped"),
    ]

    @Test(arguments: sentences)
    func `each says what was wrong in a sentence`(error: TargetError, sentence: String) {
        #expect("\(error)" == sentence)
    }

    @Test func `what the program said goes along`() {
        #expect(TargetError.died(.code(2), Self.said).output.last(1) == ["panic: nil map"])
        #expect(TargetError.died(.code(2), Self.said).exit == .code(2))
        #expect(TargetError.stopped.output.lines.isEmpty)
        #expect(TargetError.failed(.before, .code(1), Self.said).exit == nil)
    }

    @Test func `a step is named as its flag is`() {
        #expect(TargetStep.allCases.allSatisfy { $0.rawValue.hasPrefix("--") })
    }
}

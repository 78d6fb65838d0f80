import Capture
import Network
import Replay
import Simulator
import Testing

@Suite struct TargetOptionsTests {
    private func options() throws -> TargetOptions {
        TargetOptions(.dial(try WebSocketURL(parsing: "ws://127.0.0.1:8080/api/phone-bridge")))
    }

    @Test func `a stimulus is a request, a command line or the reference board's`() throws {
        #expect(try TargetStimulus(parsing: "reference") == .reference)
        #expect(
            try TargetStimulus(parsing: "exec:./send --to {port}")
                == .call(.command(try TargetTemplate(parsing: "./send --to {port}"))))
        let text = "POST http://127.0.0.1:{port}/send {command}"
        #expect(
            try TargetStimulus(parsing: text)
                == .call(.request(try TargetRequest(parsing: text, needed: .command))))
        #expect(throws: TargetTextError.empty) { try TargetStimulus(parsing: "exec: ") }
        #expect(throws: TargetTextError.noRequest("./send")) {
            try TargetStimulus(parsing: "./send")
        }
        // It comes on standard input: a shell would take its quotes apart.
        #expect(throws: TargetTextError.self) {
            try TargetStimulus(parsing: "exec:./send {command}")
        }
    }

    @Test func `the side that is played follows from where the target is`() throws {
        #expect(try options().played == .app)
        #expect(TargetOptions(.listen(Endpoint(host: "127.0.0.1", port: 0))).played == .board)
    }

    @Test func `a phone that may be somebody's is not written to unless that was asked for`() throws
    {
        var options = try options()
        #expect(options.effects(isReferencePeer: false) == .none)
        #expect(options.effects(isReferencePeer: true) == .all)
        options.launch = .spawn(try TargetTemplate(parsing: "./app"), ready: .connection)
        #expect(options.isSpawned)
        #expect(options.effects(isReferencePeer: false) == .all)
        options.effects = .own
        #expect(options.effects(isReferencePeer: false) == .own)
        #expect(TargetEffects.allCases.map(\.rawValue) == ["none", "own", "all"])
    }

    @Test func `a call knows its places`() throws {
        let command = TargetCall.command(try TargetTemplate(parsing: "run {port}"))
        #expect(command.places == [.port])
    }
}

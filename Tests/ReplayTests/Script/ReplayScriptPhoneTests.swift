import Capture
import ExampleSessions
import Replay
import Simulator
import Testing

@Suite struct ReplayScriptPhoneTests {
    @Test(arguments: [("compressed-android", Platform.android), ("pip-queue", .ios)])
    func `the recorded phone is who its requests say`(name: String, platform: Platform) throws {
        let session = try Captures.session(name)
        for script in [ReplayScript.board(session), .app(session, canStimulate: true)] {
            #expect(script.phone()?.platform == platform)
            #expect(script.phone()?.id?.isEmpty == false)
        }
    }

    @Test func `a recording may not tell who it was`() {
        #expect(ReplayScript(role: .board).phone() == nil)
    }
}

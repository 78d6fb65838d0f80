import Simulator
import Testing

@Suite struct CommandIDTests {
    @Test func `ids are the same when their bytes are`() {
        #expect(CommandID("c_1") == CommandID(Array("c_1".utf8)))
        for other in ["C_1", "c_1 ", "c_", "c_10", "c_1\u{0}", "c\u{332}_1"] {
            #expect(CommandID("c_1") != CommandID(other))
        }
        #expect(CommandID("\u{e9}") != CommandID("e\u{301}"))
        #expect(CommandID("\u{212b}") != CommandID("\u{c5}"))
    }

    @Test(arguments: ["heartbeat", "ping", "phone_environment", "phone_app_state"])
    func `four ids are reserved, and nothing near them`(id: String) {
        #expect(CommandID(id).isReserved)
        #expect(!CommandID(id + " ").isReserved)
        #expect(!CommandID(id.uppercased()).isReserved)
    }

    @Test func `bytes that are no text are an id of their own`() {
        #expect(CommandID([0xff]) != CommandID("\u{fffd}"))
        #expect(CommandID([0xff]).text == "\u{fffd}")
        #expect(CommandID("").isEmpty)
    }
}

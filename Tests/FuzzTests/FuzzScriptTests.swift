import Capture
import Fuzz
import Network
import PhoneBridge
import Testing
import Wire

/// The text form of a script: what is written is read back as it was.
@Suite struct FuzzScriptTests {
    private static let everything = """
        bridgetap-fuzz 1 as app
        connect a platform=ios&phone_id=p1 deflate <Origin: http://x> <X-A: b>
        connect b
        text a {"id":"heartbeat"}
        text a "not json\\n\\x00\\"\\\\" "A"*70000 "é"
        binary a "\\xff\\xfe"
        frame a text more rsv=4 unmasked announced=9223372036854775808 form=2 "ab"
        frame a op3 ""
        bytes a "\\x81"
        beats a 5s
        beats a off
        stimulate c1 {"id":"c1","type":"clipboard_read"}
        await c1 5s
        !C4 & text a {"id":"$(c1)","data":{"text":"y"}}
        - text a {"id":"$(c1)","data":{"text":"x"}}
        !C3:L enqueue q1 {"id":"q1","type":"clipboard_write","payload":{"text":"ü"}}
        get status
        get commands?platform=ios&limit=1
        post results <Content-Type: text/plain> {"id":"q1"}
        post results "x"
        raw "GET / HTTP/1.1\\r\\n" 100ms "Host: x\\r\\n\\r\\n" fin
        raw "\\x16\\x03" reset
        stall a
        pause a
        resume a
        chop a 1
        chop a off
        cork a
        uncork a
        fragment a 7
        fragment a off
        close a 1000 "bye"
        close a
        close a "no code"
        reset a
        fin b
        wait 61s
        wait 1500ms
        heal
        alive
        bystander

        """

    @Test func `what is written is read back`() throws {
        let script = try FuzzScript(parsing: Self.everything)
        #expect(script.description == Self.everything)
        #expect(try FuzzScript(parsing: script.description) == script)
        #expect(script.mutations.map(\.id) == ["C4", "C3"])
        #expect(script.rating == .likely)
    }

    @Test func `what a board does is read back`() throws {
        let text = """
            bridgetap-fuzz 1 as board to android
            serve connections status 503
            serve polls body {"commands":null}
            serve polls cut 12
            serve results hang
            serve echoes delay 10s
            serve echoes other-id
            serve connections refuse-not

            """
        #expect(throws: ScriptTextError.self) { try FuzzScript(parsing: text) }
        let right =
            text.replacing("serve connections refuse-not\n", with: "") + """
                accept a 10s
                command c1 {"id":"c1","type":"calendar_delete","payload":{"event_id":"$(c0.event_id)"}}
                state background pip
                await c1 8s

                """
        #expect(try FuzzScript(parsing: right).description == right)
    }

    @Test func `the control does what was there before the mutations`() throws {
        let control = try FuzzScript(parsing: Self.everything).control.description
        #expect(control.contains(#"& text a {"id":"$(c1)","data":{"text":"x"}}"#))
        #expect(!control.contains("!"))
        #expect(!control.contains("enqueue"))
    }

    @Test(arguments: [
        ("", "empty"), ("bridgetap-fuzz 2 as app", "version 2"), ("hello", "first line"),
        ("bridgetap-fuzz 1 as app\nfly a", "line 2: `fly` is no step"),
        ("bridgetap-fuzz 1 as app\nwait 5", "line 2: a time"),
        ("bridgetap-fuzz 1 as app\nwait 5s now", "line 2: there is too much"),
        ("bridgetap-fuzz 1 as app\n- wait 5s", "line 2: `-` does not follow"),
        ("bridgetap-fuzz 1 as app\ntext a \"x", "line 2: a closing quote"),
        ("bridgetap-fuzz 1 as app\ntext a \"x\\", "line 2: an escape"),
        ("bridgetap-fuzz 1 as app\ntext a \"x\"*99999999999999", "line 2: it is too long"),
        ("bridgetap-fuzz 1 as app\nframe a what \"\"", "line 2: the opcode"),
    ])
    func `a text that is no script says where and why`(_ text: String, _ words: String) {
        do throws(ScriptTextError) {
            _ = try FuzzScript(parsing: text)
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
    }

    @Test func `times are written in the largest unit that fits, and read back`() {
        let times: [(Int64, String)] = [
            (0, "0s"), (1, "1ns"), (2000, "2us"), (1_500_000, "1500us"), (3_000_000_000, "3s"),
            (60_000_000_000, "60s"), (300_000_000_000, "5min"),
        ]
        for (time, text) in times {
            #expect(ScriptTime.text(time) == text)
            #expect(ScriptTime.parse(text[...]) == time)
            #expect(FuzzAction.wait(time).description == "wait \(text)")
        }
        for text in ["", "s", "5", "-1s", "90000s", "1.5s", "99999999999999999999s"] {
            #expect(ScriptTime.parse(text[...]) == nil, "\(text)")
        }
    }

    @Test func `any bytes are read back`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let length = random.below(80)
            var bytes = Bytes()
            while bytes.count < length {
                switch random.below(4) {
                case 0: bytes += Bytes(repeating: UInt8(random.below(256)), count: 30)
                case 1: bytes += Bytes("é\"\\{".utf8)
                default: bytes.append(UInt8(random.below(256)))
                }
            }
            let script = FuzzScript(as: .app, [FuzzStep(.text("a", bytes))])
            #expect(try FuzzScript(parsing: script.description) == script)
        }
    }
}

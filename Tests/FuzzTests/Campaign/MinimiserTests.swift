import Capture
import Fuzz
import Network
import Testing
import Wire

/// The minimiser against questions whose answers are known.
@Suite struct MinimiserTests {
    /// The shortest script that still fits, and how many questions it took.
    private func minimise(
        _ text: String, limit: Int = 1000, _ fits: (String) -> Bool
    ) throws -> (text: String, questions: Int) {
        var minimiser = Minimiser(try FuzzScript(parsing: text), limit: limit)
        while let script = minimiser.next() { minimiser.answer(fits(script.description)) }
        return (minimiser.best.description, minimiser.questions)
    }

    @Test func `steps that nothing needs are dropped`() throws {
        let steps = (0..<64).map { "get s\($0)" }.joined(separator: "\n")
        let best = try minimise("bridgetap-fuzz 1 as app\n\(steps)\n") {
            $0.contains("s7\n") && $0.contains("s41\n")
        }
        #expect(best.text == "bridgetap-fuzz 1 as app\nget s7\nget s41\n")
        #expect(best.questions < 100)
    }

    @Test func `the last step is never dropped`() throws {
        let best = try minimise("bridgetap-fuzz 1 as app\nget status\nalive\n") { _ in true }
        #expect(best.text.split(separator: "\n").count == 2)
    }

    @Test func `a mutation that nothing needs is taken back`() throws {
        let best = try minimise(
            """
            bridgetap-fuzz 1 as app
            !J3 text a "x1"
            - text a "y1"
            !C4 text a "x2"
            - text a "y2"

            """
        ) { text in
            text.split(separator: "\n").filter { $0.hasPrefix("!") || $0.hasPrefix("text") }.count
                == 2 && text.contains("!C4 text a \"x2\"")
        }
        #expect(
            best.text.hasPrefix(
                "bridgetap-fuzz 1 as app\ntext a {\"id\":\"heartbeat\"}\n"))
        #expect(best.text.hasSuffix("- text a \"y2\"\n"))
        #expect(!best.text.contains("J3"))
    }

    @Test func `a wait becomes the shortest that means something`() throws {
        let best = try minimise(
            """
            bridgetap-fuzz 1 as app
            enqueue c1 {"id":"c1","type":"clipboard_read","timeout_ms":7000}
            wait 5min

            """
        ) { text in
            guard text.contains("timeout_ms"),
                let time = text.split(separator: "wait ").dropFirst().first
            else { return false }
            return ScriptTime.parse(time.dropLast()).map { $0 > 6_500_000_000 } ?? false
        }
        #expect(best.text.hasSuffix("wait 7s\n"))
    }

    @Test func `a command becomes the contract's example, loses members, and stays one`() throws {
        let best = try minimise(
            """
            bridgetap-fuzz 1 as board
            command c1 {"id":"c1","type":"contacts_create","payload":{"name":"A","emails":["b"]},"x":1}

            """
        ) { $0.contains("\"id\":\"c1\"") && $0.contains("payload") }
        #expect(
            best.text == """
                bridgetap-fuzz 1 as board
                command c1 {"id":"c1","type":"clipboard_write","payload":{}}

                """)
    }

    @Test func `a message becomes a heartbeat, or keeps its id`() throws {
        let script = """
            bridgetap-fuzz 1 as app
            text a {"id":"c1","method":"x","data":{"text":"abc"}}

            """
        #expect(
            try minimise(script) { $0.contains("text a {") }.text
                == "bridgetap-fuzz 1 as app\ntext a {\"id\":\"heartbeat\"}\n")
        #expect(
            try minimise(script) { !$0.contains("heartbeat") && $0.contains("text a {") }.text
                == "bridgetap-fuzz 1 as app\ntext a {\"id\":\"c1\"}\n")
    }

    @Test func `bytes are shortened`() throws {
        let best = try minimise("bridgetap-fuzz 1 as app\nraw \"abcdefghijkl\" 1s \"xyz\" fin\n") {
            $0.contains("g") && $0.contains("fin")
        }
        // The word `bridgetap` has one too.
        #expect(best.text == "bridgetap-fuzz 1 as app\nraw fin\n")
        let rest = try minimise("bridgetap-fuzz 1 as app\nbytes a \"abcdefqhijkl\"\n") {
            $0.contains("q") && $0.contains("bytes")
        }
        #expect(rest.text == "bridgetap-fuzz 1 as app\nbytes a \"q\"\n")
    }

    @Test(arguments: [0, 1, 10, 50])
    func `no more questions are asked than allowed`(limit: Int) throws {
        let steps = (0..<64).map { "get s\($0)" }.joined(separator: "\n")
        let best = try minimise("bridgetap-fuzz 1 as app\n\(steps)\n", limit: limit) {
            $0.contains("s7\n") && $0.contains("s41\n")
        }
        #expect(best.questions <= limit)
        #expect(best.text.contains("s7\n") && best.text.contains("s41\n"))
    }

    @Test func `whatever the answers, it comes to its end`() throws {
        let text = FakePlan.script(7).description
        for seed in 0..<40 {
            var state = UInt64(seed)
            let best = try minimise(text, limit: 5000) { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return state >> 62 == 0
            }
            #expect(best.questions < 5000)
        }
    }
}

import Network
import PhoneBridge
import Simulator
import Testing
import Wire

@Suite struct AppControlTests {
    /// An app with a control, a board, and whoever asks the control on the phone itself.
    private final class Lab {
        let world = SimulatedWorld(seed: 1)
        let phone: SimulatedLoop
        let board: BoardHost
        let app: AppHost
        let control: AppControl
        let client: HTTPClient

        init() throws {
            phone = try #require(world.addHost("192.168.42.2"))
            let boardLoop = try #require(world.addHost("192.168.42.1"))
            board = BoardHost(loop: boardLoop)
            try board.listen(on: SocketAddress(boardLoop.ip, port: 8080))
            app = AppHost(
                loop: phone, board: Endpoint(SocketAddress(boardLoop.ip, port: 8080)))
            control = AppControl(of: app, on: phone)
            let address = try control.listen(on: SocketAddress(.loopback, port: 0))
            client = HTTPClient(to: Endpoint(address), on: phone)
            app.start()
            run(1)
        }

        deinit {
            control.stop()
            app.stop()
            board.stop()
        }

        func run(_ seconds: Double) { world.run(for: Int64(seconds * 1e9)) }

        func ask(
            _ method: String, _ body: String = "", target: String = "/simulate/state",
            _ fieldLines: [FieldLine] = []
        ) -> (status: Int?, text: String) {
            var answer: (Int?, String) = (nil, "")
            let request = HTTPMessage.request(
                method, target, host: "phone", fieldLines: fieldLines, body: Bytes(body.utf8))
            client.send(request, timeout: nanosecondsPerSecond) { result in
                guard case .success(let response) = result else { return }
                answer = (response.head.status, String(decoding: response.body, as: UTF8.self))
            }
            run(0.2)
            return answer
        }
    }

    @Test func `a word moves the app, and is the answer once it is so`() throws {
        let lab = try Lab()
        for word in ["background pip", "inactive", "background suspended", "active"] {
            let answer = lab.ask("POST", word)
            #expect(answer.status == 200)
            #expect(answer.text == word + "\n")
            #expect(lab.app.state.text == word)
        }
    }

    @Test func `the present state stands above the permissions`() throws {
        let lab = try Lab()
        _ = lab.ask("POST", "contacts=denied\n")
        #expect(
            lab.ask("GET").text
                == "active\ncalendar=granted\ncontacts=denied\nnotifications=granted\n")
        #expect(lab.app.phone.permissions[.contacts] == .denied)
    }

    @Test func `disconnect breaks the connection off, and the app comes back`() throws {
        let lab = try Lab()
        #expect(lab.app.isConnected)
        #expect(lab.ask("POST", "disconnect").text == "disconnect\n")
        #expect(!lab.app.isConnected)
        lab.run(5)
        #expect(lab.app.isConnected)
        #expect(lab.app.state == .active)
    }

    @Test func `an unknown word is refused with the list of those that are known`() throws {
        let lab = try Lab()
        let answer = lab.ask("POST", "asleep")
        #expect(answer.status == 400)
        for word in PhoneStateWord.all { #expect(answer.text.contains("\n\(word)\n")) }
        #expect(lab.app.state == .active)
    }

    @Test func `web pages, other paths and other methods are refused`() throws {
        let lab = try Lab()
        let page = [FieldLine("Origin", "http://example.com")]
        #expect(lab.ask("POST", "inactive", page).status == 403)
        #expect(lab.ask("POST", "inactive", target: "/simulate").status == 404)
        #expect(lab.ask("PUT", "inactive").status == 405)
        #expect(lab.ask("POST", String(repeating: "a", count: 2000)).status == 413)
        #expect(lab.app.state == .active)
    }

    @Test func `another machine is not heard`() throws {
        let lab = try Lab()
        let stranger = try #require(lab.world.addHost("192.168.42.9"))
        var isConnected = false
        stranger.connect(
            to: SocketAddress(lab.phone.ip, port: 8082), options: ConnectOptions()
        ) { result in
            if case .success = result { isConnected = true }
        }
        lab.run(5)
        #expect(!isConnected)
    }

    @Test(arguments: [
        ("active", "active", []), ("active", "inactive", [AppStep.foreground]),
        ("inactive", "active", [.inactive]), ("background pip", "active", [.background(.pip)]),
        ("background pip", "background pip", []),
        ("background suspended", "background pip", [.background(.suspended)]),
        ("background suspended", "background ble", []),
        ("background ble", "active", [.background(.ble), .bleWake]),
        ("background ble", "background suspended", [.bleWake]),
        ("background ble", "background ble", [.bleWake]),
        ("active", "background ble", [.foreground]),
        ("disconnect", "background pip", [.dropConnection]),
        ("calendar=pending", "active", [.decide(.calendar, .pending)]),
    ])
    func `the way into a state is no longer than it must be`(
        word: String, present: String, steps: [AppStep]
    ) throws {
        let state = try #require(PhoneStateWord(parsing: word))
        let from = try #require(PhoneStateWord(parsing: present))
        #expect(AppStep.steps(into: state, from: from) == steps)
    }
}

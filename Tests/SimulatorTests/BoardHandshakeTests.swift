import Simulator
import Testing
import Wire

@Suite struct BoardHandshakeTests {
    private func answer(
        _ method: String = "GET", replacing name: String = "", with value: String? = nil,
        adding lines: [FieldLine] = []
    ) -> BoardBench.Answer {
        var bench = BoardBench()
        var fields = BoardBench.upgradeLines.filter { $0.name != name }
        if let value { fields.append(FieldLine(name, value)) }
        return bench.request(method, "/api/phone-bridge?platform=ios", fieldLines: fields + lines)
    }

    @Test func `a good handshake is accepted with the RFC's own key`() {
        let answer = answer()
        #expect(answer.status == 101)
        #expect(
            answer.fieldLines.map(\.name) == [
                "Connection", "Upgrade", "Sec-Websocket-Accept", "Date",
            ])
        #expect(answer.fieldLines.first("Sec-WebSocket-Accept") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: [
        ("permessage-deflate", true), ("permessage-deflate; client_max_window_bits", true),
        ("x-webkit-frame; a=1, permessage-deflate", true), ("x-webkit-frame", false),
        ("permessage-deflate; unknown=1", false),
        ("permessage-deflate; server_max_window_bits=10, permessage-deflate", true),
    ])
    func `an offer of compression is met without context takeover, or declined`(
        offer: String, isMet: Bool
    ) {
        let answer = answer(adding: [FieldLine("Sec-WebSocket-Extensions", offer)])
        #expect(answer.status == 101)
        #expect(
            answer.fieldLines.first("Sec-WebSocket-Extensions")
                == (isMet
                    ? "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
                    : nil))
    }

    @Test func `what is no upgrade is told to upgrade`() {
        var bench = BoardBench()
        let plain = bench.get("/api/phone-bridge")
        #expect(plain.status == 426)
        #expect(plain.fieldLines.first("Connection") == "Upgrade")
        #expect(plain.fieldLines.first("Upgrade") == "websocket")
        #expect(
            plain.text
                == "WebSocket protocol violation: Connection header \"\" "
                + "does not contain Upgrade\n")
        #expect(answer(replacing: "Upgrade", with: "h2c").status == 426)
        #expect(answer(replacing: "Sec-WebSocket-Key").status == 400)
        #expect(answer(replacing: "Sec-WebSocket-Key", with: "short").status == 400)
        let version = answer(replacing: "Sec-WebSocket-Version", with: "8")
        #expect(version.status == 400)
        #expect(version.fieldLines.first("Sec-WebSocket-Version") == "13")
        #expect(answer("POST").status == 405)
    }

    @Test func `an origin must be the host`() {
        #expect(answer(adding: [FieldLine("Origin", "http://192.168.42.1:8080")]).status == 101)
        let refused = answer(adding: [FieldLine("Origin", "http://evil.example")])
        #expect(refused.status == 403)
        #expect(refused.text.contains("is not authorized for Host \"192.168.42.1:8080\""))
        #expect(answer(adding: [FieldLine("Origin", "null")]).status == 403)
    }

    @Test func `platform and phone_id come from the query, the latter trimmed`() {
        var bench = BoardBench()
        let link = bench.connect("?platform=iOS%20x&phone_id=%20p%201%09&phone_id=other")
        let status = bench.statusDocument
        #expect(status["connected"] == true)
        #expect(status["platform"] == "iOS x")
        #expect(status["phone_id"] == "p 1")
        bench.end(link)
        #expect(bench.statusDocument == json(#"{"connected":false,"platform":"iOS x"}"#))
    }
}

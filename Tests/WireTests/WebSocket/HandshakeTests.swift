import Testing

@testable import Wire

struct HandshakeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private func request(
        _ change: (inout HTTPHead) -> Void = { _ in }
    ) -> HTTPHead {
        var head = WebSocketHandshake.request(
            target: "/chat", host: "server.example.com", key: Self.key)
        change(&head)
        return head
    }

    private func replacing(_ name: String, _ value: String?) -> HTTPHead {
        request { head in
            head.fieldLines.removeAll { $0.name == name }
            if let value { head.fieldLines.append(FieldLine(name, value)) }
        }
    }

    // RFC 6455 §1.3 and §4.2.2.
    @Test func `the accept value of the RFC's example is right`() {
        #expect(WebSocketHandshake.accept(for: Self.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketHandshake.key(from: Bytes("the sample nonce".utf8)) == Self.key)
    }

    @Test func `a request and a response that were built are in order`() throws {
        let offer = DeflateParameters(hasClientMaxWindowBits: true)
        let request = WebSocketHandshake.request(
            target: "/", host: "h", key: Self.key, offers: [offer], subprotocols: ["a", "b"],
            more: [FieldLine("Origin", "http://h")])
        #expect(WebSocketHandshake.violations(ofRequest: request).isEmpty)
        #expect(HandshakeRefusal(of: request) == nil)
        let deflate = WebSocketHandshake.deflate(for: request, policy: .board)
        let response = try #require(
            WebSocketHandshake.response(key: Self.key, deflate: deflate))
        #expect(WebSocketHandshake.violations(ofResponse: response, to: request).isEmpty)
        #expect(
            response.fieldLines == [
                FieldLine("Connection", "Upgrade"), FieldLine("Upgrade", "websocket"),
                FieldLine("Sec-Websocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
                FieldLine(
                    "Sec-Websocket-Extensions",
                    "permessage-deflate; client_no_context_takeover; server_no_context_takeover"),
            ])
    }

    @Test func `each broken rule of a request is told`() {
        let rows: [(HTTPHead, HandshakeViolation)] = [
            (
                request { $0.startLine = .request(method: "POST", target: "/") },
                .method("POST")
            ),
            (request { $0.version = "1.0" }, .httpVersion("1.0")),
            (replacing("Host", nil), .host),
            (replacing("Upgrade", "h2c"), .upgradeMissing),
            (replacing("Connection", "keep-alive"), .connectionMissing),
            (replacing("Sec-WebSocket-Version", "8"), .version("8")),
            (replacing("Sec-WebSocket-Version", nil), .version("")),
            (replacing("Sec-WebSocket-Key", nil), .keyMissing),
            (replacing("Sec-WebSocket-Key", "c2hvcnQ="), .keyMalformed("c2hvcnQ=")),
            (
                request { $0.fieldLines.append(FieldLine("sec-websocket-key", Self.key)) },
                .keyRepeated
            ),
            (
                replacing("Sec-WebSocket-Extensions", "a b"), .extensions(.malformed("a b"))
            ),
        ]
        for (head, violation) in rows {
            #expect(WebSocketHandshake.violations(ofRequest: head) == [violation])
            #expect(!violation.text.isEmpty && violation.section.hasPrefix("RFC"))
        }
    }

    @Test func `each broken rule of a response is told`() throws {
        let request = request()
        let right = try #require(WebSocketHandshake.response(key: Self.key, deflate: nil))
        func changed(_ name: String, _ value: String?) -> HTTPHead {
            var head = right
            head.fieldLines.removeAll { $0.name == name }
            if let value { head.fieldLines.append(FieldLine(name, value)) }
            return head
        }
        var refused = right
        refused.startLine = .status(code: 200, reason: "OK")
        let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        let rows: [(HTTPHead, [HandshakeViolation])] = [
            (right, []),
            (refused, [.status(200)]),
            (changed("Upgrade", nil), [.upgradeMissing]),
            (changed("Connection", "close"), [.connectionMissing]),
            (changed("Sec-Websocket-Accept", nil), [.accept("", expected: accept)]),
            (changed("Sec-Websocket-Accept", "x"), [.accept("x", expected: accept)]),
            (
                changed("Sec-WebSocket-Extensions", "permessage-deflate"),
                [.extensions(.notOffered("permessage-deflate"))]
            ),
            (changed("Sec-WebSocket-Protocol", "chat"), [.subprotocol("chat")]),
        ]
        for (head, violations) in rows {
            #expect(WebSocketHandshake.violations(ofResponse: head, to: request) == violations)
        }
    }

    @Test func `refusals are the board's`() {
        let upgrade = [FieldLine("Connection", "Upgrade"), FieldLine("Upgrade", "websocket")]
        let rows: [(HTTPHead, Int?, [FieldLine])] = [
            (request(), nil, []),
            (request { $0.version = "1.0" }, 426, upgrade),
            (replacing("Connection", nil), 426, upgrade),
            (replacing("Upgrade", nil), 426, upgrade),
            (
                request { $0.startLine = .request(method: "PUT", target: "/") }, 405,
                [FieldLine("Allow", "GET")]
            ),
            (
                replacing("Sec-WebSocket-Version", "12"), 400,
                [FieldLine("Sec-Websocket-Version", "13")]
            ),
            (replacing("Sec-WebSocket-Key", ""), 400, []),
            (replacing("Origin", "http://SERVER.example.com"), nil, []),
            (replacing("Origin", "http://server.example.com:81"), 403, []),
            (replacing("Origin", "null"), 403, []),
            (replacing("Sec-WebSocket-Extensions", "a b"), nil, []),
        ]
        for (head, status, lines) in rows {
            let refusal = HandshakeRefusal(of: head)
            #expect(refusal?.status == status)
            #expect(refusal?.fieldLines ?? [] == lines)
            #expect(refusal?.text.hasSuffix("\n") ?? true)
        }
        #expect(
            HandshakeRefusal(of: replacing("Connection", nil))?.text
                == "WebSocket protocol violation: Connection header \"\" does not contain Upgrade\n"
        )
        #expect(
            HandshakeRefusal(of: replacing("Origin", "http://evil"))?.text
                == "request Origin \"http://evil\" is not authorized for Host "
                + "\"server.example.com\"\n")
    }
}

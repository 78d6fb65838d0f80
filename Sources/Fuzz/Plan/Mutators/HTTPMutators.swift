import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows H1 to H6, H10 and H12: requests that are not as they should be.
    static let httpMutators: [Mutator] = [
        Mutator(
            "H1", .likely, as: .app, summary: "another method, path or version",
            variants: oddRequests.count + oddHeads.count
        ) { editor, variant, choices in
            let place = editor.quietPlace(&choices)
            if variant < oddRequests.count {
                editor.insert([.request(oddRequests[variant])], at: place)
            } else {
                let text = oddHeads[variant - oddRequests.count]
                editor.insert([.raw([.bytes(Bytes(text.utf8))])], at: place)
            }
            return true
        },
        Mutator("H2", .sure, as: .app, summary: "lengths that contradict", variants: 8) {
            editor, variant, choices in
            let name = editor.name("k")
            let http = RawHTTP(editor.contract)
            let body = http.command(name)
            let lines: [String] =
                switch variant {
                case 0: ["Content-Length: \(body.count + 10)"]
                case 1: ["Content-Length: \(body.count - 10)"]
                case 2: ["Content-Length: \(body.count)", "Content-Length: \(body.count + 5)"]
                case 3: ["Content-Length: -\(body.count)"]
                case 4: ["Content-Length: \(body.count), \(body.count + 1)"]
                case 5: ["Content-Length: 0x\(String(body.count, radix: 16))"]
                case 6: ["Content-Length: 99999999999999999999"]
                default: ["Content-Length: \(body.count)x"]
                }
            editor.insert(
                [
                    .raw([
                        .bytes(http.head("POST", http.paths.commands, lines) + body),
                        .pause(200 * nanosecondsPerMillisecond), .fin,
                    ]), .milliseconds(300), .get("results/\(name)"),
                    .get(editor.phone.poll(limit: "50")),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("H2", .likely, as: .app, summary: "a length beside a coding", variants: 2) {
            editor, variant, choices in
            let name = editor.name("k")
            let http = RawHTTP(editor.contract)
            let body = http.command(name)
            let coding = variant == 0 ? "Transfer-Encoding: chunked" : "Transfer-Encoding: gzip"
            editor.insert(
                [
                    .raw([
                        .bytes(
                            http.head(
                                "POST", http.paths.commands,
                                ["Content-Length: \(body.count)", coding]) + chunked(body, [16])),
                        .fin,
                    ]), .get("results/\(name)"),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("H3", .sure, as: .app, summary: "chunks in order", variants: 4) {
            editor, variant, choices in
            let name = editor.name("k")
            let http = RawHTTP(editor.contract)
            let sizes = [[1], [7], [1000], [3, 1, 20, 2]][variant]
            editor.insert(
                [
                    .raw([
                        .bytes(
                            http.head("POST", http.paths.commands, ["Transfer-Encoding: chunked"])
                                + chunked(http.command(name), sizes))
                    ]), .get("results/\(name)"),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("H3", .sure, as: .app, summary: "chunks that are broken", variants: 5) {
            editor, variant, choices in
            let name = editor.name("k")
            let http = RawHTTP(editor.contract)
            let whole = chunked(http.command(name), [16])
            let body: Bytes =
                switch variant {
                case 0: Bytes(whole.dropLast(5))
                case 1: Bytes("g".utf8) + whole
                case 2: Bytes("-".utf8) + whole
                case 3: Bytes("ffffffffffffffff\r\n".utf8) + whole
                default: Bytes(whole.prefix(whole.count / 2))
                }
            editor.insert(
                [
                    .raw([
                        .bytes(
                            http.head("POST", http.paths.commands, ["Transfer-Encoding: chunked"])
                                + body), .pause(200 * nanosecondsPerMillisecond), .fin,
                    ]), .milliseconds(300), .get("results/\(name)"),
                    .get(editor.phone.poll(limit: "50")),
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("H4", .sure, as: .app, summary: "a good request behind a bad one", variants: 4) {
            editor, variant, choices in
            let http = RawHTTP(editor.contract)
            let bad: Bytes =
                switch variant {
                case 0: http.head("GET", "/nothing")
                case 1: http.post(http.paths.commands, Bytes("{".utf8))
                case 2: http.head("DELETE", http.paths.status)
                default: http.post(http.paths.results, Bytes(#"{"id":"nobody"}"#.utf8))
                }
            let good = http.head("GET", http.paths.status)
            editor.insert(
                [
                    .raw([
                        .bytes(bad), .pause(choices.oneIn(2) ? 300 * nanosecondsPerMillisecond : 1),
                        .bytes(good),
                    ])
                ], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "H5", .sure, as: .app, summary: "a handshake that lacks something",
            variants: oddHandshakes.count
        ) { editor, variant, choices in
            let http = RawHTTP(editor.contract)
            let (method, lines) = oddHandshakes[variant]
            editor.insert(
                [.raw([.bytes(http.head(method, http.paths.base + "?platform=ios", lines))])],
                at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "H6", .likely, as: .app, summary: "a platform of another kind", needs: [.queue],
            variants: platforms.count
        ) { editor, variant, choices in
            editor.insert(
                [.get("commands?" + platforms[variant] + "&app_state=active&limit=10")],
                at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "H10", .likely, as: .app, summary: "a body of another kind",
            variants: oddBodies.count * 2
        ) { editor, variant, choices in
            let odd = oddBodies[variant / 2]
            let isResult = variant % 2 == 1
            let name = editor.name("k")
            let http = RawHTTP(editor.contract)
            let good = isResult ? Bytes(#"{"id":"\#(name)","data":{}}"#.utf8) : http.command(name)
            var request = FuzzRequest("POST", isResult ? "results" : "commands", odd(good))
            if variant / 2 == oddBodies.count - 1 {
                request.fieldLines = [FieldLine("Content-Encoding", "gzip")]
            }
            editor.insert(
                [.request(request), .get("results/\(name)")], at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "H12", .likely, as: .app, summary: "a foreign origin, host or type", variants: 12
        ) { editor, variant, choices in
            let lines = [
                FieldLine("Origin", "http://evil.example"), FieldLine("Origin", "null"),
                FieldLine("Content-Type", "text/plain"),
            ]
            let name = editor.name("k")
            var request: FuzzRequest =
                switch variant / 3 {
                case 0: FuzzRequest("POST", "commands", RawHTTP(editor.contract).command(name))
                case 1: FuzzRequest("GET", editor.phone.poll())
                case 2: FuzzRequest("POST", "results", Bytes(#"{"id":"\#(name)"}"#.utf8))
                default: FuzzRequest("GET", "status")
                }
            request.fieldLines = [lines[variant % 3]]
            editor.insert([.request(request)], at: editor.quietPlace(&choices))
            return true
        },
        Mutator("H12", .likely, as: .app, summary: "a foreign origin at the handshake") {
            editor, _, choices in
            let http = RawHTTP(editor.contract)
            editor.insert(
                [.raw([.bytes(http.handshake(["Origin: http://evil.example"])), .fin])],
                at: editor.quietPlace(&choices))
            return true
        },
    ]

    /// A body in chunks of those sizes, in turn, with its end.
    static func chunked(_ body: Bytes, _ sizes: [Int]) -> Bytes {
        var result = Bytes()
        var start = 0
        var turn = 0
        while start < body.count, let size = sizes.isEmpty ? nil : sizes[turn % sizes.count] {
            let end = min(body.count, start + max(1, size))
            result += Bytes((String(end - start, radix: 16) + "\r\n").utf8)
            result += body[start..<end]
            result += Bytes("\r\n".utf8)
            start = end
            turn += 1
        }
        return result + Bytes("0\r\n\r\n".utf8)
    }

    private static let oddRequests: [FuzzRequest] = [
        FuzzRequest("PUT", "commands", Bytes("{}".utf8)), FuzzRequest("DELETE", "status"),
        FuzzRequest("POST", "status"), FuzzRequest("PATCH", "results", Bytes("{}".utf8)),
        FuzzRequest("HEAD", "status"), FuzzRequest("OPTIONS", "commands"),
        FuzzRequest("TRACE", "status"), FuzzRequest("GET", "results"),
        FuzzRequest("GET", "results/"), FuzzRequest("GET", "commands/x"),
        FuzzRequest("GET", "status/"), FuzzRequest("GET", "/api"), FuzzRequest("GET", "/"),
        FuzzRequest("GET", "/api//phone-bridge/status"),
        FuzzRequest("GET", "/api/phone-bridge/../status"), FuzzRequest("GET", "results/%00"),
        FuzzRequest("GET", "results/a%2Fb"), FuzzRequest("GET", "results/%zz"),
        FuzzRequest("POST", "/api/phone-bridge", Bytes("{}".utf8)), FuzzRequest("GET", "STATUS"),
    ]

    private static let oddHeads = [
        "GET /api/phone-bridge/nothing HTTP/1.0\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/2.0\r\nHost: x\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1x\r\nHost: x\r\n\r\n",
        "GET /api/phone-bridge/nothing\r\n\r\n",
        "GET  /api/phone-bridge/nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        "get /api/phone-bridge/nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\nHost: x\n\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\r\n Host: x\r\n\r\n",
        "GET /api/phone-bridge/nothing HTTP/1.1\r\nHost: x\r\nNo colon\r\n\r\n",
        "GET http://x/api/phone-bridge/nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    ]

    private static let oddHandshakes: [(String, [String])] = {
        let lines = RawHTTP.handshakeLines
        func without(_ index: Int, _ other: String? = nil) -> [String] {
            var changed = lines
            changed.remove(at: index)
            if let other { changed.append(other) }
            return changed
        }
        return [
            ("GET", without(0)), ("GET", without(0, "Connection: close")),
            ("GET", without(1)), ("GET", without(1, "Upgrade: h2c")),
            ("GET", without(2)), ("GET", without(2, "Sec-WebSocket-Version: 8")),
            ("GET", without(2, "Sec-WebSocket-Version: 14")),
            ("GET", without(2, "Sec-WebSocket-Version: x")), ("GET", without(3)),
            ("GET", without(3, "Sec-WebSocket-Key: ")),
            ("GET", without(3, "Sec-WebSocket-Key: dGhl")),
            ("GET", without(3, "Sec-WebSocket-Key: not base64 at all!!!")),
            ("GET", lines + ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]),
            ("POST", lines), ("PUT", lines),
        ]
    }()

    private static let platforms = [
        "phone_id=p1", "platform=", "platform=IOS&phone_id=p1", "platform=windows&phone_id=p1",
        "platform=ios&platform=android&phone_id=p1", "platform=%69%6f%73&phone_id=p1",
        "platform=ios%00&phone_id=p1", "platform=i%6Fs%20&phone_id=p1",
    ]

    private static let oddBodies: [@Sendable (Bytes) -> Bytes] = [
        { _ in [] }, { Bytes("[".utf8) + $0 + Bytes("]".utf8) }, { $0 + Bytes("x".utf8) },
        { $0 + $0 }, { [0xef, 0xbb, 0xbf] + $0 }, { $0.flatMap { [$0, 0] } },
        { [0xff, 0xfe] + $0.flatMap { [$0, 0] } }, { Bytes($0.dropLast()) },
        { _ in Bytes("null".utf8) }, { _ in Bytes("\"x\"".utf8) }, { _ in Bytes("{}".utf8) },
        { Bytes($0.map { $0 == UInt8(ascii: "\"") ? UInt8(ascii: "'") : $0 }) },
        { $0 },
    ]
}

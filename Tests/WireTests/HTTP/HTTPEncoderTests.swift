import Testing
import Wire

@Suite struct HTTPEncoderTests {
    @Test(
        arguments: [
            (0, true, "0\n"), (0, false, "\n0\n"), (5, true, "5\n"), (16, false, "\n10\n"),
            (0xabcdef, true, "abcdef\n"), (UInt64.max, false, "\nffffffffffffffff\n"),
        ] as [(UInt64, Bool, String)])
    func `chunk lines have small digits and no leading zeros`(
        _ size: UInt64, _ isFirst: Bool, _ expected: String
    ) {
        var bytes = Bytes()
        HTTPEncoder.encodeChunkLine(size: size, isFirst: isFirst, into: &bytes)
        #expect(bytes == wire(expected))
        #expect(HTTPEncoder.isCanonical(chunkLine: bytes, size: size, isFirst: isFirst))
        #expect(!HTTPEncoder.isCanonical(chunkLine: bytes, size: size, isFirst: !isFirst))
        #expect(!HTTPEncoder.isCanonical(chunkLine: [0x30] + bytes, size: size, isFirst: isFirst))
    }

    @Test func `a chunked body is read back`() {
        for body in ["", "x", String(repeating: "y", count: 300)] {
            var bytes = wire("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n")
            HTTPEncoder.encodeChunked(
                Bytes(body.utf8), trailers: [FieldLine("A", "b")], into: &bytes)
            let reading = HTTPReading(bytes, .requests)
            #expect(reading.isIdle)
            #expect(reading.steps.contains(.body(Bytes(body.utf8))) == !body.isEmpty)
            #expect(reading.steps.contains(.trailers([FieldLine("A", "b")], raw: nil)))
        }
    }

    /// Messages that mutations start from.
    private static let seeds: [Bytes] = [
        wire("GET /api/phone-bridge?platform=ios HTTP/1.1\nHost: a:8080\nUpgrade: websocket\n\n"),
        wire("POST /a HTTP/1.1\nHost: a\nContent-Length: 5\n\nhello"),
        wire("POST /b HTTP/1.1\nTransfer-Encoding: chunked\n\n3;a=b\nabc\n0\nX: y\n\n"),
        wire("\nHEAD / HTTP/1.0\u{b}A:b\n c\n\n"),
        wire("HTTP/1.1 100 Continue\n\n"),
        wire("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nA\n0123456789\n0\n\n"),
        wire("HTTP/1.1 200 OK\nContent-Length: 3\nA: \u{e4}\n\nabc"),
        wire("HTTP/1.0 404 Not Found\n\ngone"),
        [0x16, 0x03, 0x01], [0x81, 0x82, 1, 2, 3, 4, 5, 6],
    ]

    private static let pieces: [Bytes] = [
        wire("\n"), [0x0a], [0x0d], [0x00], [0xff], wire(" "), wire("\t"), wire(":"), wire(";"),
        wire("Content-Length: 3\n"), wire("Transfer-Encoding: chunked\n"), wire("0\n\n"),
        wire("HTTP/1.1"), wire("ffffffffffffffff\n"), wire("99999999999999999999"), wire(","),
    ]

    private static func input(_ random: inout HTTPTestRandom) -> Bytes {
        var bytes = Bytes()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            bytes += seeds.randomElement(using: &random) ?? []
        }
        for _ in 0..<Int.random(in: 0...5, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2:
                let end = min(bytes.count, place + Int.random(in: 1...9, using: &random))
                bytes.removeSubrange(place..<end)
            case 3:
                bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...30, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
        return bytes
    }

    @Test(arguments: [HTTPDecoder.Role.requests, .responses])
    func `any input comes back from its steps, however it is cut`(_ role: HTTPDecoder.Role) {
        var random = HTTPTestRandom(seed: 0x9112)
        let methods = ["GET", "HEAD", "CONNECT", "POST"]
        for round in 0..<3_000 {
            let bytes = Self.input(&random)
            let expecting = (0..<3).compactMap { _ in methods.randomElement(using: &random) }
            let limits =
                round % 3 == 0
                ? HTTPLimits(
                    maximumHeadSize: Int.random(in: 1...120, using: &random),
                    maximumChunkLine: Int.random(in: 1...10, using: &random),
                    maximumTrailers: Int.random(in: 1...12, using: &random),
                    maximumMethod: Int.random(in: 1...9, using: &random))
                : HTTPLimits()
            let whole = HTTPReading(bytes, role, expecting: expecting, limits: limits)
            let cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }
                .sorted()
            let parts = HTTPReading(bytes, role, cuts: cuts, expecting: expecting, limits: limits)
            let single = HTTPReading(
                bytes, role, cuts: Array(0...bytes.count), expecting: expecting, limits: limits)
            let shown = "round \(round): \(String(decoding: bytes, as: UTF8.self).debugDescription)"
            #expect(whole.encoded == bytes, Comment(rawValue: shown))
            #expect(parts == whole, Comment(rawValue: "\(shown) cut at \(cuts)"))
            #expect(single == whole, Comment(rawValue: shown))
            for case .head(let head, _) in whole.steps {
                guard let raw = head.raw else { continue }
                var canonical = Bytes()
                head.encodeCanonical(into: &canonical)
                #expect(canonical != raw, Comment(rawValue: shown))
            }
            for case .trailers(let lines, let raw?) in whole.steps {
                var canonical = Bytes()
                HTTPEncoder.encodeTrailers(lines, into: &canonical)
                #expect(canonical != raw, Comment(rawValue: shown))
            }
        }
    }

    @Test func `judging takes anything that was decoded`() {
        var random = HTTPTestRandom(seed: 0x9110)
        for _ in 0..<2_000 {
            let bytes = Self.input(&random)
            for step in HTTPReading(bytes, .requests).steps {
                switch step {
                case .head(let head, _):
                    _ = HTTPViolation.judge(head)
                    _ = RequestTarget(head.target ?? "").queryItems
                case .chunk(_, let line):
                    _ = HTTPViolation.judge(chunkLine: line, isFirst: false)
                case .trailers(let lines, let raw):
                    _ = HTTPViolation.judge(trailers: lines, raw: raw)
                case .body, .end, .undecodable: break
                }
            }
        }
    }
}

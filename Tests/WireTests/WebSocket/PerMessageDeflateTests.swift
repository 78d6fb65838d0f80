import Testing

@testable import Wire

struct ExtensionEntryTests {
    @Test(arguments: [
        ("", []),
        (" , ,", []),
        ("permessage-deflate", [ExtensionEntry("permessage-deflate")]),
        (
            "a;b ; c=1;d=\"e\\f\" ,g",
            [
                ExtensionEntry("a", [.init("b"), .init("c", "1"), .init("d", "ef")]),
                ExtensionEntry("g"),
            ]
        ),
        ("a\t;\tb\t=\tc", [ExtensionEntry("a", [.init("b", "c")])]),
    ])
    func `a value is parsed as RFC 6455 §9.1 has it`(value: String, entries: [ExtensionEntry]) {
        #expect(ExtensionEntry.parse(value) == entries)
    }

    @Test(arguments: [
        "a b", "a;", "a;=1", "a;b=", "a;b=\"", "a;b=\"\"", "a;b=\"c d\"", "a;b=\"c\"d", "=",
        "\"a\"",
        "a;b=\"\\", "ä",
    ])
    func `what breaks the grammar is told from an empty list`(value: String) {
        #expect(ExtensionEntry.parse(value) == nil)
    }

    @Test func `printing and parsing agree`() {
        let text = "x; a=1; b, permessage-deflate; client_max_window_bits"
        #expect(ExtensionEntry.parse(text).map(ExtensionEntry.print) == text)
    }
}

struct PerMessageDeflateTests {
    @Test(
        arguments: [
            // offer, full policy, board's policy
            (
                "permessage-deflate", "permessage-deflate",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            (
                "permessage-deflate; client_max_window_bits", "permessage-deflate",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            (
                "x-webkit-deflate-frame, Permessage-Deflate; client_max_window_bits=10",
                "permessage-deflate",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            (
                "permessage-deflate; server_max_window_bits=10",
                "permessage-deflate; server_max_window_bits=10", nil
            ),
            (
                "permessage-deflate; server_max_window_bits=\"10\"",
                "permessage-deflate; server_max_window_bits=10", nil
            ),
            (
                "permessage-deflate; server_max_window_bits=10, permessage-deflate",
                "permessage-deflate; server_max_window_bits=10",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            (
                "permessage-deflate; server_max_window_bits=8, permessage-deflate",
                "permessage-deflate",
                "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
            ),
            ("permessage-deflate; server_max_window_bits=8", nil, nil),
            ("permessage-deflate; server_max_window_bits", nil, nil),
            ("permessage-deflate; server_max_window_bits=16", nil, nil),
            ("permessage-deflate; server_max_window_bits=08", nil, nil),
            ("permessage-deflate; server_max_window_bits=+9", nil, nil),
            ("permessage-deflate; client_max_window_bits=7", nil, nil),
            ("permessage-deflate; server_no_context_takeover=1", nil, nil),
            ("permessage-deflate; unknown", nil, nil),
            ("permessage-deflate; client_max_window_bits; client_max_window_bits=9", nil, nil),
            ("permessage-bzip2", nil, nil),
            ("", nil, nil),
            ("permessage-deflate;", nil, nil),
        ] as [(String, String?, String?)])
    func `a server takes the first offer that it can keep`(
        offers: String, full: String?, board: String?
    ) {
        let entries = ExtensionEntry.parse(offers) ?? []
        #expect(DeflateServerPolicy.full.agree(to: entries)?.entry.text == full)
        #expect(DeflateServerPolicy.board.agree(to: entries)?.entry.text == board)
    }

    @Test func `a server may hold clients to a window where they offer it`() {
        let policy = DeflateServerPolicy(clientMaxWindowBits: 11)
        func agree(_ offer: String) -> Int? {
            policy.agree(to: ExtensionEntry.parse(offer) ?? [])?.clientMaxWindowBits
        }
        #expect(agree("permessage-deflate") == nil)
        #expect(agree("permessage-deflate; client_max_window_bits") == 11)
        #expect(agree("permessage-deflate; client_max_window_bits=9") == 9)
    }

    @Test(
        arguments: [
            // offer, answer, what is agreed or the error
            ("permessage-deflate", nil, nil, nil),
            ("permessage-deflate", "", nil, nil),
            ("permessage-deflate", "permessage-deflate", "permessage-deflate", nil),
            (
                "permessage-deflate",
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=9",
                "permessage-deflate; client_no_context_takeover; server_max_window_bits=9", nil
            ),
            (
                "permessage-deflate; client_max_window_bits",
                "permessage-deflate; client_max_window_bits=9",
                "permessage-deflate; client_max_window_bits=9", nil
            ),
            (
                "permessage-deflate; client_max_window_bits=10", "permessage-deflate",
                "permessage-deflate; client_max_window_bits=10", nil
            ),
            (
                "permessage-deflate; server_max_window_bits=9, permessage-deflate",
                "permessage-deflate", "permessage-deflate", nil
            ),
            (
                "permessage-deflate; server_max_window_bits=9", "permessage-deflate", nil,
                .serverWindow(offered: 9, answered: nil)
            ),
            (
                "permessage-deflate; server_max_window_bits=9",
                "permessage-deflate; server_max_window_bits=10", nil,
                .serverWindow(offered: 9, answered: 10)
            ),
            (
                "permessage-deflate; server_no_context_takeover", "permessage-deflate", nil,
                .serverContextTakeover
            ),
            (
                "permessage-deflate", "permessage-deflate; client_max_window_bits=10", nil,
                .clientWindow
            ),
            (
                "permessage-deflate; client_max_window_bits",
                "permessage-deflate; client_max_window_bits", nil,
                .parameter(.badValue("client_max_window_bits", nil))
            ),
            ("permessage-deflate", "permessage-deflate; x", nil, .parameter(.unknown("x"))),
            (
                "permessage-deflate",
                "permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil,
                .parameter(.repeated("server_no_context_takeover"))
            ),
            ("permessage-deflate", "permessage-deflate, permessage-deflate", nil, .repeated),
            ("permessage-deflate", "x", nil, .notOffered("x")),
            ("", "permessage-deflate", nil, .notOffered("permessage-deflate")),
            ("permessage-deflate", "a b", nil, .malformed("a b")),
        ] as [(String, String?, String?, ExtensionAnswerError?)])
    func `a client goes on only with an answer to its offers`(
        offers: String, answer: String?, agreed: String?, expected: ExtensionAnswerError?
    ) throws {
        let parameters = try (ExtensionEntry.parse(offers) ?? []).map {
            try DeflateParameters($0, in: .offer)
        }
        do throws(ExtensionAnswerError) {
            let found = try PerMessageDeflate.agreed(answer: answer, offers: parameters)
            #expect(found?.entry.text == agreed)
            #expect(expected == nil)
        } catch {
            #expect(error == expected)
            #expect(!error.text.isEmpty)
        }
    }

    @Test func `offers print as they parse`() throws {
        for text in [
            "permessage-deflate",
            "permessage-deflate; client_no_context_takeover; server_max_window_bits=12; "
                + "client_max_window_bits",
            "permessage-deflate; server_no_context_takeover; client_max_window_bits=8",
        ] {
            let entry = try #require(ExtensionEntry.parse(text)?.first)
            #expect(try DeflateParameters(entry, in: .offer).entry.text == text)
        }
    }

    @Test func `a reader takes the parameters from a response`() {
        let agreed = PerMessageDeflate(
            agreedIn: "foo, permessage-deflate; server_max_window_bits=10")
        #expect(agreed == PerMessageDeflate(serverMaxWindowBits: 10))
        #expect(agreed?.windowBits(of: .server) == 10)
        #expect(agreed?.windowBits(of: .client) == 15)
        #expect(agreed?.contextTakeover(of: .client) == true)
        #expect(PerMessageDeflate(agreedIn: "foo") == nil)
        #expect(PerMessageDeflate(agreedIn: "permessage-deflate; bar") == nil)
    }
}

struct DeflateTests {
    @Test func `what is deflated inflates to the same`() throws {
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let bits = Int.random(in: 9...15, using: &random)
            let takeover = Bool.random(using: &random)
            let deflater = try #require(
                Deflater(
                    windowBits: bits, contextTakeover: takeover,
                    level: Int.random(in: -1...9, using: &random)))
            let inflater = try #require(Inflater(windowBits: bits, contextTakeover: takeover))
            for _ in 0..<6 {
                let alphabet = UInt8.random(in: 0...255, using: &random)
                let count = Int.random(in: 0...3, using: &random)
                let message = (0..<count * 7000).map { _ in
                    UInt8.random(in: 0...alphabet, using: &random)
                }
                var payload = Bytes()
                let cut = Int.random(in: 0...message.count, using: &random)
                let span = message.span
                deflater.compress(span.extracting(0..<cut), isLast: false, into: &payload)
                deflater.compress(
                    span.extracting(cut..<message.count), isLast: true, into: &payload)
                var found = Bytes()
                var position = 0
                let limit = Int.random(in: 1...5000, using: &random)
                while true {
                    let before = found.count
                    let outcome = inflater.inflate(
                        payload.span, at: &position, into: &found, limit: limit)
                    #expect(found.count - before <= limit)
                    guard outcome == .outputFull else {
                        #expect(outcome == .inputUsed, "seed \(seed)")
                        break
                    }
                }
                while inflater.endMessage(into: &found, limit: limit) == .outputFull {}
                #expect(found == message, "seed \(seed)")
            }
        }
    }

    @Test func `empty messages are one byte, again and again`() throws {
        let deflater = try #require(Deflater())
        for text in ["", "", "x", "", ""] {
            let payload = deflater.compress(Bytes(text.utf8).span)
            #expect((payload == [0]) == text.isEmpty)
        }
    }

    @Test func `windows that zlib cannot do are refused`() {
        #expect(Deflater(windowBits: 8) == nil)
        #expect(Deflater(windowBits: 16) == nil)
        #expect(Inflater(windowBits: 8) != nil)
        #expect(Inflater(windowBits: 7) == nil)
        #expect(PerMessageDeflate(clientMaxWindowBits: 8).makeDeflater(for: .client) == nil)
    }

    @Test func `any bytes inflate to something, to an error, or to nothing`() throws {
        let inflater = try #require(Inflater())
        for seed in 0..<3000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let payload = random.bytes(Int.random(in: 0...60, using: &random))
            var output = Bytes()
            var position = 0
            var outcome = Inflater.Outcome.outputFull
            while outcome == .outputFull {
                outcome = inflater.inflate(payload.span, at: &position, into: &output, limit: 64)
            }
            if outcome == .inputUsed {
                outcome = .outputFull
                while outcome == .outputFull {
                    outcome = inflater.endMessage(into: &output, limit: 64)
                }
            }
            if case .corrupt = outcome { inflater.reset() }
        }
        var output = Bytes()
        var position = 0
        let hello = hex("f2 48 cd c9 c9 07 00")
        inflater.reset()
        #expect(
            inflater.inflate(hello.span, at: &position, into: &output, limit: 64) == .inputUsed)
        #expect(inflater.endMessage(into: &output, limit: 64) == .inputUsed)
        #expect(output == Bytes("Hello".utf8))
    }
}

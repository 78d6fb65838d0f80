import Testing
import Wire

@Suite struct JSONDocumentTests {
    @Test func `a document keeps every byte of its source`() throws {
        let text = " {\"a\" :\t[1.50, 1e400,\"\\u0041\\/\"] ,\"a\":-0}\n"
        let document = try JSONDocument(Bytes(text.utf8))
        #expect(document.source == Bytes(text.utf8))
        let members = document.root.members
        #expect(members.map(\.name.string) == ["a", "a"])
        #expect(members[0].value.elements.map(\.numberText) == ["1.50", "1e400", nil])
        #expect(members[0].value.elements[2].rawBytes == Bytes(#""\u0041\/""#.utf8))
        #expect(members[0].value.elements[2].string == "A/")
        #expect(members[1].value.numberText == "-0")
        #expect(members[1].value.integer == 0)
        #expect(document.root.rawBytes == Bytes(text.dropFirst().dropLast().utf8))
    }

    @Test func `of members with one name the last counts`() throws {
        let document = try JSONDocument(Bytes(#"{"id":"a","ID":"b","id":"c","Id":"d"}"#.utf8))
        #expect(document.root["id"]?.string == "c")
        #expect(document.root[folding: "id"]?.string == "d")
        #expect(document.root["iD"] == nil)
    }

    @Test(
        arguments: [
            #"{"id":"a","type":"b","timeout_ms":5}"#, #"{"type":"b","ID":"a","id":1,"Id":2}"#,
            #"{"\u0069d":1,"typ\u0065":2,"timeout_m\u017f":3,"timeout_mſ":4}"#,
            #"{"x":{"id":1},"id":[{"type":2}],"":0}"#, "{}", "[1]", "7",
        ])
    func `three members are found at once as each is by itself`(text: String) throws {
        let document = try JSONDocument(Bytes(text.utf8))
        let (tape, bytes) = (document.tape, document.source.span)
        let exact = tape.members("id", "type", "timeout_ms", of: 0, in: bytes)
        #expect(exact.0 == tape.member("id", of: 0, in: bytes))
        #expect(exact.1 == tape.member("type", of: 0, in: bytes))
        #expect(exact.2 == tape.member("timeout_ms", of: 0, in: bytes))
        let folded = tape.members("id", "type", "timeout_ms", of: 0, in: bytes, folding: true)
        #expect(folded.0 == tape.member(folding: "id", of: 0, in: bytes))
        #expect(folded.1 == tape.member(folding: "type", of: 0, in: bytes))
        #expect(folded.2 == tape.member(folding: "timeout_ms", of: 0, in: bytes))
    }

    @Test(
        arguments: [#""a""#, #""""#, #""ü\u0000""#, #""\"\\""#, #""\ud83d""#, "\"\u{7f}\""])
    func `a string is written again as its text is`(text: String) throws {
        let document = try JSONDocument(Bytes(text.utf8))
        let (tape, bytes) = (document.tape, document.source.span)
        var (copy, written) = (Bytes(), Bytes())
        tape.appendString(0, of: bytes, to: &copy)
        appendJSONString(tape.string(0, in: bytes), to: &written)
        #expect(copy == written)
        #expect(
            tape.withText(0, in: bytes) { Bytes(copying: $0) }
                == Bytes(
                    tape.string(0, in: bytes).utf8))
    }

    @Test func `texts are the same however they are escaped`() throws {
        let document = try JSONDocument(Bytes(#"["é","\u00e9","e\u0301","é","x"]"#.utf8))
        let (tape, bytes) = (document.tape, document.source.span)
        var others: [Int] = []
        for other in 1...5 where tape.isSameText(2, other, in: bytes) { others.append(other) }
        #expect(others == [1, 2, 4])
    }

    @Test func `names match as the board matches them`() throws {
        let rows: [(String, Bool)] = [
            (#"{"timeout_ms":1}"#, true),
            (#"{"TIMEOUT_MS":1}"#, true),
            (#"{"timeout_m\u0053":1}"#, true),
            // U+017F folds to s, U+212A to k.
            (#"{"timeout_mſ":1}"#, true),
            (#"{"timeout-ms":1}"#, false),
            (#"{"timeout_m":1}"#, false),
            (#"{"timeout_ms ":1}"#, false),
            (#"{"tımeout_ms":1}"#, false),
        ]
        for (text, matches) in rows {
            let document = try JSONDocument(Bytes(text.utf8))
            #expect((document.root[folding: "timeout_ms"] != nil) == matches, "\(text)")
        }
        let kelvin = try JSONDocument(Bytes("{\"\u{212a}\":1}".utf8))
        #expect(kelvin.root[folding: "k"] != nil)
        #expect(kelvin.root["k"] == nil)
    }

    @Test func `lone surrogates show a replacement character and are marked`() throws {
        let rows: [(String, String, Bool)] = [
            (#""\ud83d\ude00""#, "😀", true),
            (#""\ud83d""#, "\u{fffd}", false),
            (#""\ude00\ud83d""#, "\u{fffd}\u{fffd}", false),
            (#""\ud83dx""#, "\u{fffd}x", false),
            (#""\ud83d\n""#, "\u{fffd}\n", false),
            (#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", false),
            (#""\u00e9\u4f60\u0000""#, "é你\0", true),
            (#""plain""#, "plain", true),
        ]
        for (text, decoded, exact) in rows {
            let document = try JSONDocument(Bytes(text.utf8))
            #expect(document.root.string == decoded, "\(text)")
            #expect(document.root.isExact == exact, "\(text)")
            #expect(document.root.rawBytes == Bytes(text.utf8))
        }
    }

    @Test func `accessors of the wrong kind give nothing`() throws {
        let root = try JSONDocument(Bytes(#"[1,"x",true,null,{},[]]"#.utf8)).root
        #expect(root.elements.map(\.kind) == [.number, .string, .bool, .null, .object, .array])
        #expect(root.elements.map(\.bool) == [nil, nil, true, nil, nil, nil])
        #expect(root.elements.map(\.integer) == [1, nil, nil, nil, nil, nil])
        #expect(root.elements.map(\.string) == [nil, "x", nil, nil, nil, nil])
        #expect(root.elements.allSatisfy { $0.members.isEmpty && $0.elements.isEmpty })
        #expect(root.members.isEmpty)
        #expect(root["x"] == nil)
        #expect(root[folding: "x"] == nil)
    }

    @Test func `a string is found among known ones by its bytes`() throws {
        let document = try JSONDocument(Bytes(#"["ping","heartbeat","pin","p\u0069ng",5,""]"#.utf8))
        let known = ["heartbeat", "ping"]
        let positions = document.root.elements.map {
            document.tape.position(of: $0.index, among: known, in: document.source.span)
        }
        #expect(positions == [1, 0, nil, nil, nil, nil])
    }

    @Test func `a quote is found wherever it stands in a long text`() throws {
        for length in 0..<100 {
            let content =
                String(repeating: "é", count: length % 3) + String(repeating: "x", count: length)
            let document = try JSONDocument(Bytes("[\"\(content)\",1]".utf8))
            #expect(document.root.elements.first?.string == content)
            #expect(document.root.elements.count == 2)
        }
    }
}

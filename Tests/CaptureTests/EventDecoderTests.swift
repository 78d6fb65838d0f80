import Capture
import Testing
import Wire

@Suite struct EventDecoderTests {
    private func decode(_ text: String) throws(LineFault) -> EventDecoder.Line {
        try EventDecoder().decode(Bytes(text.utf8).span)
    }

    private func fault(_ text: String) -> LineFault? {
        do throws(LineFault) {
            _ = try decode(text)
            return nil
        } catch {
            return error
        }
    }

    private static let frame =
        #"{"event":"frame","seq":4,"t":5,"conn":1,"from":"app","fin":true,"rsv":0,"opcode":1,"#
        + #""length":2,"text":"hi"}"#

    private static let frameEvent = Event(
        seq: 4, time: 5, conn: 1, from: .app,
        kind: .frame(
            Event.FrameRecord(
                header: FrameHeader(opcode: .text, payloadLength: 2), content: .whole([0x68, 0x69])
            )))

    @Test(
        arguments: [
            ("as it is written", frame),
            (
                "in another order",
                #"{"text":"hi","length":2,"opcode":1,"rsv":0,"fin":true,"from":"app","conn":1,"t":5,"#
                    + #""seq":4,"event":"frame"}"#
            ),
            (
                "with white space",
                " { \"event\" : \"frame\" , \"seq\" : 4 , \"t\" : 5,\t\"conn\":1,\"from\":\"app\","
                    + "\"fin\": true,\"rsv\":0, \"opcode\":1,\"length\":2,\"text\":\"hi\" } \r"
            ),
            (
                "with fields of a later version",
                frame.dropLast()
                    + #","later":{"a":[1,{"b":null}],"c":"\""},"wholly_unknown_name":[]}"#
            ),
            (
                "with null for what is absent",
                frame.dropLast() + #","mask":null,"raw":null,"bridge":null,"t_first":null}"#
            ),
            (
                "with escapes in names and text",
                frame.replacing("\"opcode\"", with: #""\u006fpcode""#)
                    .replacing("\"hi\"", with: #""\u0068\u0069""#)
            ),
        ] as [(String, String)])
    func `a line is read`(_ row: (name: String, text: String)) throws {
        #expect(try decode(row.text) == .event(Self.frameEvent), "\(row.name)")
    }

    @Test func `escapes stand for their characters`() throws {
        let text = Self.frame.replacing(
            "\"hi\"", with: #""\"\\\/\b\f\n\r\t\u0000é\u00e9\ud83d\ude42""#)
        guard case .event(let event) = try decode(text), case .frame(let frame) = event.kind else {
            Issue.record("no frame")
            return
        }
        let expected = "\"\\/\u{8}\u{c}\n\r\t\u{0}éé🙂"
        #expect(frame.content == .whole(Bytes(expected.utf8)))
    }

    @Test func `an unknown kind is stepped over with its number`() throws {
        let line = try decode(#"{"event":"hologram","seq":9,"t":1,"depth":[1,[2,[3]]]}"#)
        #expect(line == .unknown(kind: "hologram", seq: 9))
    }

    @Test(
        arguments: [
            ("nothing", "", 0),
            ("no object", "[]", 0),
            ("two objects", frame + "{}", frame.utf8.count),
            ("no kind", #"{"seq":1}"#, 9),
            ("a kind that is no text", #"{"event":5}"#, 9),
            ("a string without end", #"{"event":"fra"#, 13),
            ("a colon missing", #"{"event" "frame"}"#, 9),
            ("a comma missing", #"{"event":"frame" "seq":1}"#, 17),
            ("a comma too many", #"{"event":"frame","seq":1,}"#, 25),
            ("a number with a fraction", #"{"event":"frame","seq":1.5}"#, 23),
            ("a number with a leading zero", #"{"event":"frame","seq":01}"#, 23),
            ("a number beyond 64 bits", #"{"event":"frame","seq":99999999999999999999}"#, 23),
            ("a negative number", #"{"event":"frame","seq":-1}"#, 23),
            ("a control character in text", "{\"event\":\"fra\u{1}me\"}", 13),
            ("half a surrogate pair", #"{"event":"frame","text":"\ud800"}"#, 26),
            ("a surrogate pair the wrong way", #"{"event":"frame","text":"\ude00\ud83d"}"#, 26),
            ("an escape that is none", #"{"event":"frame","text":"\x"}"#, 26),
            ("a side that is none", #"{"event":"frame","from":"phone"}"#, 31),
            ("an unknown field that is no JSON", #"{"event":"frame","later":[1,}"#, 28),
            ("an unknown literal", #"{"event":"frame","later":nul}"#, 28),
            ("base64 with a stranger in it", #"{"event":"frame","base64":"AA*A"}"#, 29),
            ("base64 without padding", #"{"event":"frame","base64":"AAA"}"#, 30),
            ("a mask of seven digits", #"{"event":"frame","mask":"1234567"}"#, 24),
            ("text and base64", #"{"event":"frame","text":"a","base64":"YQ=="}"#, 37),
            ("fin that is no flag", #"{"event":"frame","fin":1}"#, 23),
        ] as [(String, String, Int)])
    func `a malformed line is an error with its place`(
        _ row: (name: String, text: String, offset: Int)
    ) {
        #expect(fault(row.text)?.offset == row.offset, "\(row.name): \(row.text)")
    }

    @Test(arguments: [
        "seq", "t", "conn", "from", "fin", "rsv", "opcode", "length", "text",
    ])
    func `a field that a frame must have is missed`(_ field: String) throws {
        guard case .object(let members) = try JSON(parsing: Self.frame) else { return }
        let less = JSON.object(members.filter { $0.name != field })
        let fault = fault(String(decoding: less.encoded, as: UTF8.self))
        #expect(fault?.reason == .missingField(field))
    }

    @Test func `a raw header that is another frame's is an error`() {
        let text = String(Self.frame.dropLast()) + #","raw":"gQM="}"#
        #expect(
            fault(text)?.reason == .badValue(field: "raw", expected: "the header of this frame"))
    }

    @Test func `a newer version is named, whatever stands behind it`() {
        let text = #"{"event":"session","format":"bridgetap","version":2,"id":[],"#
        #expect(fault(text)?.reason == .newerVersion(2, supported: 1))
        let other = #"{"event":"session","format":"har","version":9}"#
        #expect(fault(other)?.reason == .otherFormat("har"))
    }

    @Test func `values within values end somewhere`() {
        for open in ["[", #"{"a":"#] {
            let deep = String(repeating: open, count: 100_000)
            #expect(
                fault(#"{"event":"frame","later":"# + deep)?.reason == .tooDeep(limit: 128))
            #expect(
                fault(#"{"event":"frame","bridge":["# + deep)?.reason == .tooDeep(limit: 128))
        }
    }

    @Test func `bridge is left out on demand`() throws {
        let text =
            String(Self.frame.dropLast()) + #","bridge":[{"kind":"heartbeat","id":"heartbeat"}]}"#
        let bytes = Bytes(text.utf8)
        guard case .event(let full) = try EventDecoder().decode(bytes.span),
            case .event(let fast) = try EventDecoder(readsBridge: false).decode(bytes.span)
        else { return }
        #expect(full.bridge.count == 1)
        #expect(fast == Self.frameEvent)
    }

    @Test func `no cut and no changed byte of any line does harm`() {
        var random = SeededRandom(3)
        for _ in 0..<150 {
            var line = Bytes()
            EventEncoder().encode(random.event(), into: &line)
            line.removeLast()
            for count in line.indices {
                let cut = Bytes(line[..<count])
                #expect(throws: LineFault.self) { try EventDecoder().decode(cut.span) }
            }
            for _ in 0..<30 {
                var changed = line
                let index = Int.random(in: line.indices, using: &random)
                changed[index] = UInt8.random(in: 0...255, using: &random)
                // Whatever it says now, it is read or refused.
                _ = try? EventDecoder().decode(changed.span)
            }
        }
    }
}

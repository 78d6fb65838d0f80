import Capture
import Foundation
import PhoneBridge
import Testing
import Wire

@Suite struct RedactorTests {
    private func redactor(_ key: UInt8 = 1) throws -> Redactor {
        Redactor(key: try RedactedWire.key(key))
    }

    /// Every text that a file has in it by any encoding.
    private func haystacks(_ file: Bytes) throws -> [String] {
        var texts = [String(decoding: file, as: UTF8.self)]
        for line in file.split(separator: 0x0a) {
            try strings(in: JSON(parsing: Bytes(line)), &texts)
        }
        var connections: [Int: [Side: Inflater]] = [:]
        for event in try RedactedWire.events(file) {
            guard case .frame(let frame) = event.kind, case .whole(let payload) = frame.content,
                let side = event.from
            else { continue }
            let inflater = connections[event.conn]?[side] ?? Inflater()
            guard let inflater else { continue }
            connections[event.conn, default: [:]][side] = inflater
            var position = 0
            var output: Bytes = []
            _ = inflater.inflate(payload.span, at: &position, into: &output, limit: 1 << 20)
            texts.append(String(decoding: output, as: UTF8.self))
            texts.append(String(decoding: payload, as: UTF8.self))
        }
        return texts + texts.map(percentDecoded)
    }

    private func strings(in value: JSON, _ texts: inout [String]) throws {
        switch value {
        case .string(let text):
            texts.append(text)
            var bytes: Bytes = []
            if (try? decodeBase64(Bytes(text.utf8).span, into: &bytes)) != nil {
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
            // JSON within a string: its escapes too.
            if text.utf8.first == UInt8(ascii: "{"), let inner = try? JSON(parsing: text) {
                try strings(in: inner, &texts)
            }
        case .array(let elements): for element in elements { try strings(in: element, &texts) }
        case .object(let members):
            for member in members {
                texts.append(member.name)
                try strings(in: member.value, &texts)
            }
        case .null, .bool, .number: break
        }
    }

    private func percentDecoded(_ text: String) -> String {
        RequestTarget.percentDecoded(text.utf8, plusIsSpace: true)
    }

    @Test func `nothing of twelve people is left in a file, by any encoding`() throws {
        let raw = try haystack(RedactedWire.people().file())
        let file = try RedactedWire.people().file(redactor())
        let redacted = try haystack(file)
        for person in InventedPerson.all {
            for trace in person.traces {
                #expect(raw.text.range(of: Data(trace.utf8)) != nil, "\(trace) was never there")
                for variant in [trace, trace.lowercased(), RedactedWire.percent(trace)] {
                    if let place = redacted.text.range(of: Data(variant.utf8)) {
                        let start = max(0, place.lowerBound - 200)
                        let end = min(redacted.text.count, place.upperBound + 100)
                        let text = String(decoding: redacted.text[start..<end], as: UTF8.self)
                        Issue.record("\(variant) is left in \(text)")
                    }
                }
                let encoded = RedactedWire.base64(trace).prefix { $0 != "=" }.dropLast(1)
                if encoded.utf8.count > 4 {
                    #expect(Data(file).range(of: Data(encoded.utf8)) == nil)
                }
            }
            #expect(raw.digits.range(of: Data(person.digits.utf8)) != nil)
            #expect(redacted.digits.range(of: Data(person.digits.utf8)) == nil)
        }
    }

    /// All texts of a file as one, and the digits of each short one.
    private func haystack(_ file: Bytes) throws -> (text: Data, digits: Data) {
        var text = Data()
        var digits = Data()
        for part in Set(try haystacks(file)) {
            let bytes = Bytes(part.utf8)
            text.append(contentsOf: bytes)
            text.append(0)
            guard bytes.count < 4000 else { continue }
            digits.append(contentsOf: bytes.filter { $0 &- 0x30 < 10 })
            digits.append(0)
        }
        return (text, digits)
    }

    private func expectEqual(_ before: [String], _ after: [String]) {
        guard before != after else { return }
        let missing = Set(before).subtracting(after).sorted().prefix(3).map { $0.prefix(300) }
        let new = Set(after).subtracting(before).sorted().prefix(3).map { $0.prefix(300) }
        Issue.record("\(before.count) and \(after.count): \(missing)\nis decoded as\n\(new)")
    }

    @Test func `a redacted file is whole, and its bytes decode to its events`() throws {
        let file = try RedactedWire.people(3).file(redactor())
        let verifier = try SessionVerifier.verify(MemorySource(file))
        #expect(verifier.findings == [], "\(verifier.findings)")
        let (before, after) = try RedactedWire.rebuilt(RedactedWire.events(file))
        expectEqual(before, after)
    }

    @Test func `a file that was redacted turn by turn is whole too, and says the same`() throws {
        let turns = try RedactedWire.people(3).file(redactor(), flushing: true)
        let verifier = try SessionVerifier.verify(MemorySource(turns))
        #expect(verifier.findings == [], "\(verifier.findings)")
        let (before, after) = try RedactedWire.rebuilt(RedactedWire.events(turns))
        expectEqual(before, after)
        func messages(_ file: Bytes) throws -> [String] {
            try RedactedWire.events(file).compactMap { event in
                guard case .message(let message) = event.kind else { return nil }
                return "\(message)"
            }
        }
        #expect(try messages(turns) == messages(RedactedWire.people(3).file(redactor())))
    }

    @Test func `the redacted session has the events of the raw one, and its links`() throws {
        let raw = try RedactedWire.events(RedactedWire.people(3).file())
        let redacted = try RedactedWire.events(RedactedWire.people(3).file(redactor()))
        #expect(raw.count == redacted.count)
        for (one, other) in zip(raw, redacted) {
            #expect(one.seq == other.seq && one.time == other.time && one.conn == other.conn)
            #expect(one.from == other.from)
            let links = { (event: Event) in
                event.bridge.map { meaning in
                    ["kind", "id", "type", "code", "route", "late"].map {
                        meaning[$0]?.description ?? ""
                    }
                }
            }
            // The ids of phones are their owners'.
            #expect(links(one) == links(other), "\(one.seq)")
        }
    }

    @Test func `a second pass under the same key changes nothing`() throws {
        let once = try RedactedWire.people(3).file(redactor())
        #expect(try RedactedWire.redacted(once, redactor()) == once)
        let again = try RedactedWire.redacted(once, redactor(2))
        #expect(again != once)
    }

    @Test func `two sessions under one key agree, under different keys they do not`() throws {
        var first = RedactedWire()
        var second = RedactedWire()
        let text = #"{"id":"a","type":"contacts_query","payload":{"query":"张三 Zhang"}}"#
        first.connection(RedactedWire.upgrade() + [RedactedWire.frames(.board, text)])
        second.connection([
            RedactedWire.request(
                "POST", "/api/phone-bridge/commands", #"{"command":\#(text)}"#)
        ])
        func query(_ wire: RedactedWire, _ key: UInt8) throws -> String? {
            for event in try RedactedWire.events(wire.file(redactor(key))) {
                var value: JSON?
                if case .frame(let frame) = event.kind, case .whole(let bytes) = frame.content {
                    value = try JSON(parsing: bytes)
                } else if case .request(let request) = event.kind,
                    case .whole(let bytes) = request.body.content, !bytes.isEmpty
                {
                    value = try JSON(parsing: bytes)["command"]
                }
                if let text = value?["payload"]?["query"]?.stringValue { return text }
            }
            return nil
        }
        let one = try #require(try query(first, 1))
        #expect(one != "张三 Zhang")
        #expect(try query(second, 1) == one)
        #expect(try query(first, 2) != one)
    }

    @Test func `white space, numbers, order and members that stand twice stay`() throws {
        var wire = RedactedWire()
        let text =
            #" { "id" : "a" ,"data":{"n":1.50e+3,"text":"abc","text":"def","u":[ 1,true , null ]} } "#
        wire.connection(RedactedWire.upgrade() + [RedactedWire.frames(.app, text)])
        let events = try RedactedWire.events(wire.file(redactor()))
        let other = events.compactMap { event -> String? in
            guard case .frame(let frame) = event.kind, case .whole(let bytes) = frame.content
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        let pattern = try Regex(
            #" \{ "id" : "a" ,"data":\{"n":1\.50e\+3,"text":"[a-z]{3}","text":"[a-z]{3}","u":\[ 1,true , null \]\} \} "#
        )
        #expect(other.count == 1)
        #expect(other.first?.wholeMatch(of: pattern) != nil, "\(other)")
    }

    @Test func `escapes stay as they were written`() throws {
        var wire = RedactedWire()
        let text = #"{"id":"a","data":{"text":"\u5f20 \/ \u003cb\u003e"}}"#
        wire.connection(RedactedWire.upgrade() + [RedactedWire.frames(.app, text)])
        let file = String(decoding: try wire.file(redactor()), as: UTF8.self)
        let pattern = try Regex(
            #"\\"text\\":\\"\\\\u[0-9a-f]{4} \\\\/ \\\\u003c[a-z]\\\\u003e\\""#)
        #expect(file.firstMatch(of: pattern) != nil, "\(file)")
    }

    @Test func `words of the protocol stay in errors, and what else they say goes`() throws {
        var wire = RedactedWire()
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(.board, #"{"id":"c7","type":"contacts_query"}"#),
                RedactedWire.frames(
                    .app,
                    #"{"id":"c7","error":{"category":"user_action_required","code":"permission_denied","message":"Contacts access not granted by Zhang for command c7"}}"#
                ),
            ])
        let file = String(decoding: try wire.file(redactor()), as: UTF8.self)
        #expect(file.contains("Contacts access not granted by "))
        #expect(file.contains(" for command c7"))
        #expect(file.contains("permission_denied"))
        #expect(!file.contains("Zhang"))
    }

    @Test(arguments: [
        ("Switching Protocols", true), ("OK", true), ("Payload Too Large", true),
        ("No phone of Marisol", false), ("", true),
    ])
    func `a registered reason stays, and what else a board says there goes`(
        reason: String, stays: Bool
    ) throws {
        for raw in [nil, Bytes("HTTP/1.1  200 \(reason)\r\n\r\n".utf8)] {
            let response = Event.Response(exchange: 1, status: 200, reason: reason, raw: raw)
            var output: [Event] = []
            let redactor = try redactor()
            redactor.receive(
                Event(time: 1, conn: 1, from: .board, kind: .response(response)), into: &output)
            guard case .response(let redacted)? = output.first?.kind else {
                Issue.record("no response")
                return
            }
            #expect((redacted.reason == reason) == stays, "\(redacted.reason)")
            #expect(!redacted.reason.contains("Marisol"))
        }
    }

    @Test(arguments: [
        ("ring", "the last 2.03 s, because of SIGUSR1; what is from before is what they rest on"),
        ("recording_gap", "12 events are left out"), ("peer_refused", "10.1.2.3 may not connect"),
        ("interface_gone", "the interface usb0 is gone"),
    ])
    func `what the recorder itself says stays`(code: String, text: String) throws {
        let redactor = try redactor()
        var output: [Event] = []
        redactor.receive(Event(time: 1, kind: .note(.init(code: code, text: text))), into: &output)
        #expect(output.first?.kind == .note(.init(code: code, text: text)))
    }

    @Test func `times move together: the beginning, headers, fields, and counts of seconds`() throws
    {
        var wire = RedactedWire()
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(
                    .app,
                    #"{"id":"phone_app_state","data":{"reported_at":"2026-06-10T03:20:05Z","saved_at":1781061605,"timestamp":1781061605123}}"#
                )
            ])
        let redactor = try redactor()
        let file = try wire.file(redactor)
        let events = try RedactedWire.events(file)
        guard case .session(let session)? = events.first?.kind else {
            Issue.record("no first line")
            return
        }
        let start = try #require(Timestamp(session.startedAt))
        let shift = try #require(Timestamp(RedactedWire.session.startedAt)).seconds - start.seconds
        #expect(shift > 0 && shift % (7 * 86_400) == 0)
        let text = String(decoding: file, as: UTF8.self)
        #expect(text.contains("\(1_781_061_605 - shift),"))
        #expect(text.contains("\(1_781_061_605_123 - shift * 1000)}"))
        let date = HTTPDate.format(secondsSince1970: 1_781_061_601 - shift)
        #expect(text.contains(date), "\(date)")
        #expect(text.contains("\(Timestamp(seconds: 1_781_061_605 - shift).wholeSecondsText)"))
    }

    @Test func `what is larger than a piece becomes filler of its length`() throws {
        var wire = RedactedWire()
        let long =
            #"{"id":"a","data":{"text":""# + String(repeating: "Zhang ", count: 190_000) + "\"}}"
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(.app, long),
                RedactedWire.frames(.board, long, framing: .fragments(of: 300_000)),
            ])
        wire.connection([RedactedWire.request("POST", "/upload", long)])
        wire.connection(
            RedactedWire.upgrade(deflate: "permessage-deflate") + [
                RedactedWire.frames(.app, long, deflate: "permessage-deflate"),
                RedactedWire.frames(.app, #"{"id":"ping"}"#, deflate: nil),
            ])
        for flushes in [false, true] {
            let file = try wire.file(redactor(), flushing: flushes)
            #expect(!String(decoding: file, as: UTF8.self).contains("Zhang"))
            let verifier = try SessionVerifier.verify(MemorySource(file))
            #expect(verifier.findings == [], "\(verifier.findings)")
            let (before, after) = try RedactedWire.rebuilt(RedactedWire.events(file))
            expectEqual(before, after)
        }
    }

    @Test func `a policy keeps a path, and replaces another one as what it says`() throws {
        let policy = try RedactionPolicy(
            parsing: Bytes(
                """
                {version: 1, rules: [
                    {path: "payload.title", as: "keep", why: "the test's own"},
                    {path: "**.flavour", as: "name"},
                ]}
                """.utf8))
        var wire = RedactedWire()
        wire.connection(
            RedactedWire.upgrade() + [
                RedactedWire.frames(
                    .board,
                    #"{"id":"a","type":"notification_send","payload":{"title":"Tea","body":"Tea","flavour":"true"}}"#
                )
            ])
        let redactor = Redactor(key: try RedactedWire.key(), policy: policy)
        let text = String(decoding: try wire.file(redactor), as: UTF8.self)
        #expect(text.contains(#"\"title\":\"Tea\""#))
        #expect(!text.contains(#"\"body\":\"Tea\""#))
        #expect(!text.contains(#"\"flavour\":\"true\""#))
        let digest = try #require(policy.digest)
        #expect(text.contains(#""policy":"\#(digest)""#))
    }

    @Test(arguments: [
        (#"{}"#, "version is missing"), (#"{version: 2}"#, "version takes 1"),
        (#"{version: 1, rulez: []}"#, "did you mean \"rules\"?"),
        (#"{version: 1, rules: [{path: "a..b", as: "keep"}]}"#, "is no path"),
        (#"{version: 1, rules: [{path: "a", as: "nam"}]}"#, "did you mean \"name\"?"),
        (#"{version: 1, addresses: 1}"#, "addresses takes true or false"),
    ])
    func `a policy that is wrong says where and what`(text: String, part: String) {
        do {
            _ = try RedactionPolicy(parsing: Bytes(text.utf8))
            Issue.record("taken")
        } catch {
            #expect("\(error)".contains(part), "\(error)")
            #expect("\(error)".hasPrefix("line 1"))
        }
    }

    @Test func `the manifest counts kinds and fields and holds no value`() throws {
        let redactor = try redactor()
        _ = try RedactedWire.people(3).file(redactor)
        let manifest: RedactionManifest = redactor.manifest
        for kind in ["name", "phone", "email", "place", "note", "clipboard", "url", "instant"] {
            #expect(manifest.kinds[kind, default: 0] > 0, "\(kind)")
        }
        #expect(manifest.fields["payload.name", default: 0] > 0)
        #expect(manifest.recompressed > 0 && manifest.rebuiltHeads > 0 && manifest.filler > 0)
        let text = manifest.json.description
        for trace in InventedPerson.all.flatMap(\.traces) { #expect(!text.contains(trace)) }
    }
}

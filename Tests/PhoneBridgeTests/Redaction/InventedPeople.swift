import Capture
import PhoneBridge
import Wire

/// Twelve people who do not exist, and a session that has them wherever the contract, and the
/// link, can carry what tells of them.
struct InventedPerson: Sendable {
    var name: String
    var phone: String
    var email: String
    var place: String
    var note: String

    static let all: [InventedPerson] = [
        .init(
            name: "Quentin Abernathy", phone: "+1 202 555 0147", email: "q.abernathy@example.com",
            place: "Wexford Terrace 19", note: "allergic to walnuts"),
        .init(
            name: "诸葛青岚", phone: "+86 138 0013 8471", email: "zhugeqinglan@example.cn",
            place: "成都锦里茶楼", note: "喜欢喝碧螺春"),
        .init(
            name: "Marisol Etxeberria", phone: "+34 612 345 987", email: "marisol@example.org",
            place: "Calle Zurbarán", note: "birthday surprise pending"),
        .init(
            name: "司马晓燕", phone: "13900139562", email: "sima.xy@example.net",
            place: "杭州龙井村", note: "膝盖手术复诊"),
        .init(
            name: "Thaddeus Okonkwo", phone: "(415) 555-0162", email: "thad_ok@example.com",
            place: "Okonkwo Bakery", note: "owes forty doubloons"),
        .init(
            name: "欧阳子墨", phone: "0571-87654329", email: "ouyang@corp.example.cn",
            place: "西湖断桥", note: "密码是蓝莓派"),
        .init(
            name: "Jörg Höllriegl", phone: "+43 660 1234571", email: "hoellriegl@example.at",
            place: "Spittelberggasse", note: "Schlüssel unter Blumentopf"),
        .init(
            name: "慕容雪", phone: "+86-135-8812-3476", email: "murongxue@example.cn",
            place: "哈尔滨中央大街", note: "对芒果过敏"),
        .init(
            name: "Persephone Achterberg", phone: "+31 20 794 0834",
            email: "persephone.a@example.nl", place: "Prinsengracht", note: "divorce paperwork"),
        .init(
            name: "端木云舟", phone: "+86 (137) 9955-4421", email: "duanmu88@example.cn",
            place: "苏州拙政园", note: "每周三练书法"),
        .init(
            name: "Bartholomew Quigg", phone: "+44 7700 900813", email: "barty@example.co.uk",
            place: "Quigg Lodge", note: "moonlighting as magician"),
        .init(
            name: "上官婉清", phone: "18600186739", email: "wanqing@example.cn",
            place: "西安回民街", note: "准备辞职创业"),
    ]

    /// What nobody may find of them: words of names, places and notes, numbers, addresses.
    var traces: [String] {
        var traces: [String] = [email.split(separator: "@")[0].description, phone]
        for text in [name, place, note] {
            for word in text.split(separator: " ") {
                let isHan = word.unicodeScalars.allSatisfy { $0.value > 0x2e80 }
                if isHan ? word.count >= 2 : word.count >= 5 { traces.append(String(word)) }
            }
        }
        return traces
    }

    /// The digits of the number that are the person's own.
    var digits: String { String(phone.filter(\.isNumber).suffix(7)) }
}

extension RedactedWire {
    private static func quoted(_ text: String) -> String { JSON.string(text).description }

    /// The person in every command and answer of the contract.
    private static func messages(_ number: Int, _ person: InventedPerson) -> [(Side, String)] {
        let name = quoted(person.name)
        let phone = quoted(person.phone)
        let email = quoted(person.email)
        let place = quoted(person.place)
        let note = quoted(person.note)
        let id = "c\(number)"
        return [
            (
                .board,
                #"{"id":"\#(id)-1","type":"contacts_create","payload":{"name":\#(name),"phone_numbers":[\#(phone)],"emails":[\#(email)],"organization":\#(place),"notes":\#(note)},"timeout_ms":8000}"#
            ),
            (.app, #"{"id":"\#(id)-1","data":{"contact_id":"contact_\#(number)"}}"#),
            (
                .board,
                #"{"id":"\#(id)-2","type":"contacts_query","payload":{"query":\#(name),"limit":20}}"#
            ),
            (
                .app,
                #"{"id":"\#(id)-2","data":{"contacts":[{"contact_id":"contact_\#(number)","name":\#(name),"phone_numbers":[\#(phone)],"emails":[\#(email)]}]}}"#
            ),
            (
                .board,
                #"{"id":"\#(id)-3","type":"calendar_create","payload":{"title":\#(name),"start_at":"2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00","location":\#(place),"notes":\#(note)}}"#
            ),
            (
                .app,
                #"{"id":"\#(id)-3","error":{"category":"internal","code":"native_module_failed","message":"could not invite \#(person.name) to \#(person.place)","details":{"native_code":"x_1","attendee":\#(email),"numbers":[\#(phone)],"\#(person.name)":true}}}"#
            ),
            (
                .board,
                #"{"id":"\#(id)-4","type":"open_app","url":"tel:\#(person.phone.filter { $0.isNumber || $0 == "+" })"}"#
            ),
            (
                .board,
                #"{"id":"\#(id)-5","type":"open_app","url":"mailto:\#(person.email.replacing("@", with: "%40"))?subject=\#(percent(person.name))&body=\#(percent(person.note))"}"#
            ),
            (
                .board,
                #"{"id":"\#(id)-6","type":"open_app","url":"https://example.com/\#(percent(person.place))?q=\#(percent(person.name))"}"#
            ),
            (
                .board,
                #"{"id":"\#(id)-7","type":"clipboard_write","payload":{"text":\#(quoted("\(person.name) <\(person.email)>\n\(person.phone)\n\(person.note)"))}}"#
            ),
            (.app, #"{"id":"\#(id)-7","method":"clipboard_write"}"#),
            (
                .board,
                #"{"id":"\#(id)-8","type":"notification_send","payload":{"title":\#(place),"body":\#(escaped(person.note + " " + person.name)),"schedule_at":"2026-06-04T18:00:00+08:00"}}"#
            ),
            (
                .app,
                #"{"id":"phone_environment","method":"phone_environment","data":{"platform":"ios","device_name":\#(name),"region":"CN","time_zone":"Asia/Shanghai","third_party_apps":[{"name":"WeChat","available":true,"note":\#(note)}],"nickname":\#(escaped(person.name)),"owner":{"mail":\#(email),"born":"1985-03-02"}}}"#
            ),
            (.app, #"{"id":"\#(id)-9","broken": \#(name), \#(note)"#),
            (.app, "\(person.name), \(person.phone)"),
        ]
    }

    static func percent(_ text: String) -> String {
        text.utf8.map { byte in
            byte < 0x80
                && (byte >= 0x30 && byte < 0x3a || byte | 0x20 >= 0x61 && byte | 0x20 < 0x7b)
                ? String(UnicodeScalar(byte))
                : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// A JSON string with everything escaped that can be.
    private static func escaped(_ text: String) -> String {
        "\""
            + text.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined() + "\""
    }

    static func base64(_ text: String) -> String {
        var output: Bytes = []
        appendBase64(Bytes(text.utf8).span, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// The first few people, or all of them, on all routes.
    static func people(_ count: Int = 12) -> RedactedWire {
        let people = InventedPerson.all.prefix(count)
        var wire = RedactedWire()
        let takeover = "permessage-deflate"
        let board = takeover + "; client_no_context_takeover; server_no_context_takeover"
        for (deflate, framing) in [
            (nil, MessageWriter.Framing.whole), (nil, .fragments(of: 40)), (board, .board),
            (takeover, .whole), (takeover, .fragments(of: 30)),
        ] {
            var parts = upgrade(query: "platform=ios&phone_id=abernathy-phone", deflate: deflate)
            var app = writer(.app, deflate: deflate, framing: framing)
            var other = writer(.board, deflate: deflate, framing: framing)
            for (number, person) in people.enumerated() {
                for (side, text) in messages(number, person) {
                    parts.append(
                        side == .app ? frames(side, text, &app) : frames(side, text, &other))
                }
                var control: Bytes = []
                app.writeControl(.ping, Bytes(person.name.utf8.prefix(120)), into: &control)
                parts.append((.app, control))
            }
            var close: Bytes = []
            other.writeControl(
                .close, [0x03, 0xe9] + Bytes("no room for Quentin Abernathy".utf8), into: &close)
            parts.append((.board, close))
            wire.connection(parts)
        }
        for (number, person) in people.enumerated() {
            wire.connection(http(number, person))
            wire.note("mark", "\(person.name) rang \(person.phone)")
            wire.note("log", "D/Contacts: loaded \(person.name) <\(person.email)>")
            wire.note("rule", "time-format: payload.title is \"\(person.name)\", not RFC 3339")
            wire.note(
                "outcome", #"{"id":"c\#(number)-2","data":{"text":"\#(person.note)"}}"#)
        }
        wire.connection([(.app, Bytes("\u{16}\u{3}\u{1} Quentin Abernathy 诸葛青岚".utf8))])
        return wire
    }

    private static func http(_ number: Int, _ person: InventedPerson) -> [(Side, Bytes)] {
        let name = quoted(person.name)
        let command =
            #"{"id":"q\#(number)","type":"contacts_create","phone_id":"abernathy-phone","payload":{"name":\#(name),"notes":\#(quoted(person.note)),"phone_numbers":[\#(quoted(person.phone))]}}"#
        let answer =
            #"{"id":"q\#(number)","error":{"category":"internal","code":"native_module_failed","message":\#(quoted("no " + person.name))}}"#
        let chunk = #"{"commands":[\#(command)],"server_time":"2026-06-10T03:20:05Z"}"#
        let text =
            "POST /api/phone-bridge/commands?owner=\(percent(person.name)) HTTP/1.1\nHost: h\nX-Owner:\(person.email)\nContent-Length: \(#"{"command":}"#.utf8.count + command.utf8.count)\n\n"
        var chunked = Bytes(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: owner=\(person.email)\r\n"
                .utf8)
        chunked += Bytes("Transfer-Encoding: chunked\r\n\r\n".utf8)
        let bytes = Bytes(chunk.utf8)
        let middle = bytes.count / 2
        for part in [bytes[..<middle], bytes[middle...]] {
            chunked += Bytes("\(String(part.count, radix: 16))\r\n".utf8)
            chunked += part
            chunked += Bytes("\r\n".utf8)
        }
        chunked += Bytes("0\r\nX-Note: \(person.email)\r\n\r\n".utf8)
        return [
            (.app, Bytes(text.utf8) + Bytes(#"{"command":\#(command)}"#.utf8)),
            response(
                202,
                #"{"command_id":"q\#(number)","status":"queued","queued_at":"2026-06-10T03:20:05Z"}"#
            ),
            request(
                "GET",
                "/api/phone-bridge/commands?platform=ios&phone_id=abernathy-phone&app_state=background&contact=\(percent(person.name))&limit=10",
                ""),
            (.board, chunked),
            request("POST", "/api/phone-bridge/results", answer),
            response(404, "command q\(number) not found for \(person.name)\n"),
            request("GET", "/api/phone-bridge/results/q\(number)", ""),
            response(
                200,
                #"{"command_id":"q\#(number)","status":"completed","result":\#(answer),"completed_at":"2026-06-10T03:20:05Z"}"#
            ),
            request("GET", "/api/phone-bridge/status", ""),
            response(
                200,
                #"{"connected":true,"platform":"ios","phone_id":"abernathy-phone","environment":{"device_name":\#(name),"battery":{"level":0.87}}}"#
            ),
            request("POST", "/upload/\(percent(person.place))", person.note),
            response(500, #"{"error":"\#(person.email) is unknown"}"#),
            (.app, Bytes("POST /x HTTP/1.1\r\nContent-Length: 999\r\n\r\n{\"a\":\(name)".utf8)),
        ]
    }
}

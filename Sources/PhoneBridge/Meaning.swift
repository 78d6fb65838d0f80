package import Wire

/// The objects of an event's `bridge` (capture format, "The protocol's own meaning").
///
/// `kind` stands first, the other fields in the order of the format's table; a field that does
/// not apply is left out.
package enum Meaning {
    /// Any other JSON.
    package static let unknown = JSON.object([.init("kind", .string("unknown"))])

    static func heartbeat(id: String) -> JSON {
        .object([.init("kind", .string("heartbeat")), .init("id", .string(id))])
    }

    static func appEvent(id: String) -> JSON {
        .object([.init("kind", .string("app_event")), .init("id", .string(id))])
    }

    static func command(
        _ command: SentCommand, on tape: JSONTape, in text: Span<UInt8>, route: Route
    ) -> JSON {
        var members: [JSON.Member] = []
        members.reserveCapacity(5)
        members.append(.init("kind", .string("command")))
        members.append(.init("id", .string(tape.string(command.id, in: text))))
        members.append(.init("type", .string(tape.string(command.type, in: text))))
        if let timeout = command.timeout {
            members.append(.init("timeout_ms", .number(tape.string(timeout, in: text))))
        }
        members.append(.init("route", .string(route.rawValue)))
        return .object(members)
    }

    static func result(
        _ answer: Answer, _ pairing: CommandTracker.Pairing?, on tape: JSONTape,
        in text: Span<UInt8>, route: Route
    ) -> JSON {
        var members: [JSON.Member] = []
        members.reserveCapacity(9)
        members.append(.init("kind", .string("result")))
        members.append(.init("id", .string(tape.string(answer.id, in: text))))
        if let type = pairing?.type { members.append(.init("type", .string(type))) }
        members.append(.init("ok", .bool(answer.isSuccess)))
        if let code = answer.code {
            members.append(.init("code", .string(tape.string(code, in: text))))
        }
        if let pairing {
            if let latency = pairing.latency {
                members.append(.init("latency_ms", .number(milliseconds(latency))))
            }
            members.append(.init("late", .bool(pairing.isLate)))
            members.append(.init("duplicate", .bool(pairing.isDuplicate)))
        }
        members.append(.init("route", .string(route.rawValue)))
        return .object(members)
    }

    /// Appends what `appEvent` gives, in an array, as it stands in a line.
    static func appendAppEvent(
        id: Int, on tape: JSONTape, in text: Span<UInt8>, to line: inout Bytes
    ) {
        line.append("[{\"kind\":\"app_event\",\"id\":")
        tape.appendString(id, of: text, to: &line)
        line.append("}]")
    }

    /// Appends what `command` gives for the WebSocket, in an array, as it stands in a line.
    static func append(
        _ command: SentCommand, on tape: JSONTape, in text: Span<UInt8>, to line: inout Bytes
    ) {
        line.append("[{\"kind\":\"command\",\"id\":")
        tape.appendString(command.id, of: text, to: &line)
        line.append(",\"type\":")
        tape.appendString(command.type, of: text, to: &line)
        if let timeout = command.timeout {
            line.append(",\"timeout_ms\":")
            line.append(copying: text.extracting(tape.range(timeout)))
        }
        line.append(",\"route\":\"websocket\"}]")
    }

    /// Appends what `result` gives for the WebSocket, in an array, as it stands in a line.
    static func append(
        _ answer: Answer, _ pairing: CommandTracker.Pairing?, on tape: JSONTape,
        in text: Span<UInt8>, to line: inout Bytes
    ) {
        line.append("[{\"kind\":\"result\",\"id\":")
        tape.appendString(answer.id, of: text, to: &line)
        if let type = pairing?.type {
            line.append(",\"type\":")
            appendJSONString(type, to: &line)
        }
        line.append(answer.isSuccess ? ",\"ok\":true" : ",\"ok\":false")
        if let code = answer.code {
            line.append(",\"code\":")
            tape.appendString(code, of: text, to: &line)
        }
        if let pairing {
            if let latency = pairing.latency {
                line.append(",\"latency_ms\":")
                line += milliseconds(latency).utf8
            }
            line.append(pairing.isLate ? ",\"late\":true" : ",\"late\":false")
            line.append(pairing.isDuplicate ? ",\"duplicate\":true" : ",\"duplicate\":false")
        }
        line.append(",\"route\":\"websocket\"}]")
    }

    static func exchange(
        _ kind: String, id: String? = nil, phoneID: String? = nil, platform: String? = nil,
        appState: String? = nil, commands: Int? = nil, isTool: Bool = false
    ) -> JSON {
        var members: [JSON.Member] = [.init("kind", .string(kind))]
        if let id { members.append(.init("id", .string(id))) }
        if let phoneID { members.append(.init("phone_id", .string(phoneID))) }
        if let platform { members.append(.init("platform", .string(platform))) }
        if let appState { members.append(.init("app_state", .string(appState))) }
        if let commands { members.append(.init("commands", .integer(commands))) }
        if isTool { members.append(.init("peer", .string("tool"))) }
        return .object(members)
    }

    /// Nanoseconds, not negative, as milliseconds with three decimals, rounded to nearest.
    package static func milliseconds(_ nanoseconds: Int64) -> String {
        let microseconds = nanoseconds / 1000 + (nanoseconds % 1000 >= 500 ? 1 : 0)
        // A million times per session at worst: digits are cheaper than joined strings.
        return unsafe String(unsafeUninitializedCapacity: 24) { buffer in
            var rest = max(0, microseconds)
            var position = 24
            var digits = 0
            while digits < 4 || rest > 0 {
                position -= 1
                unsafe buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                digits += 1
                if digits == 3 {
                    position -= 1
                    unsafe buffer[position] = UInt8(ascii: ".")
                }
            }
            let count = 24 - position
            for index in 0..<count { unsafe buffer[index] = buffer[position + index] }
            return count
        }
    }
}

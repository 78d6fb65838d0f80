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

    static func command(_ command: SentCommand, route: Route) -> JSON {
        var members: [JSON.Member] = []
        members.reserveCapacity(5)
        members.append(.init("kind", .string("command")))
        members.append(.init("id", .string(command.id)))
        members.append(.init("type", .string(command.type)))
        if let timeout = command.timeoutText {
            members.append(.init("timeout_ms", .number(timeout)))
        }
        members.append(.init("route", .string(route.rawValue)))
        return .object(members)
    }

    static func result(
        _ answer: Answer, _ pairing: CommandTracker.Pairing?, route: Route
    ) -> JSON {
        var members: [JSON.Member] = []
        members.reserveCapacity(9)
        members.append(.init("kind", .string("result")))
        members.append(.init("id", .string(answer.id)))
        if let type = pairing?.type { members.append(.init("type", .string(type))) }
        members.append(.init("ok", .bool(answer.isSuccess)))
        if let code = answer.code { members.append(.init("code", .string(code))) }
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
    static func appendAppEvent(id: String, to text: inout Bytes) {
        text.append("[{\"kind\":\"app_event\",\"id\":")
        appendJSONString(id, to: &text)
        text.append("}]")
    }

    /// Appends what `command` gives, in an array, as it stands in a line.
    static func append(_ command: SentCommand, route: Route, to text: inout Bytes) {
        text.append("[{\"kind\":\"command\",\"id\":")
        appendJSONString(command.id, to: &text)
        text.append(",\"type\":")
        appendJSONString(command.type, to: &text)
        if let timeout = command.timeoutText {
            text.append(",\"timeout_ms\":")
            text += timeout.utf8
        }
        appendEnd(route, to: &text)
    }

    /// Appends what `result` gives, in an array, as it stands in a line.
    static func append(
        _ answer: Answer, _ pairing: CommandTracker.Pairing?, route: Route, to text: inout Bytes
    ) {
        text.append("[{\"kind\":\"result\",\"id\":")
        appendJSONString(answer.id, to: &text)
        if let type = pairing?.type {
            text.append(",\"type\":")
            appendJSONString(type, to: &text)
        }
        text.append(answer.isSuccess ? ",\"ok\":true" : ",\"ok\":false")
        if let code = answer.code {
            text.append(",\"code\":")
            appendJSONString(code, to: &text)
        }
        if let pairing {
            if let latency = pairing.latency {
                text.append(",\"latency_ms\":")
                text += milliseconds(latency).utf8
            }
            text.append(pairing.isLate ? ",\"late\":true" : ",\"late\":false")
            text.append(pairing.isDuplicate ? ",\"duplicate\":true" : ",\"duplicate\":false")
        }
        appendEnd(route, to: &text)
    }

    private static func appendEnd(_ route: Route, to text: inout Bytes) {
        switch route {
        case .websocket: text.append(",\"route\":\"websocket\"}]")
        case .queue: text.append(",\"route\":\"queue\"}]")
        }
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

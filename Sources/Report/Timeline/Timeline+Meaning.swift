import Capture
import Wire

/// Commands and results, whichever route they took.
extension Timeline {
    /// What a command has to answer within when it does not say (contract, "BridgeCommand").
    private var defaultTimeout: Int64 { 5000 }

    mutating func command(
        _ meaning: JSON, _ event: Event, content: JSON?, suffix: [Styled] = [],
        isBroken: Bool = false
    ) {
        let id = meaning["id"]?.stringValue ?? ""
        let type = meaning["type"]?.stringValue ?? ""
        let isQueued = meaning["route"]?.stringValue == "queue"
        var allowance: Int64?
        if !isQueued {
            let milliseconds = meaning["timeout_ms"]?.integerValue ?? defaultTimeout
            let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
            // A time-out below zero means nothing that could be waited for.
            allowance = overflow || milliseconds < 0 ? nil : product
        }
        let (entry, isAgain) = ledger.add(
            id: id, type: type, conn: event.conn, time: event.time, allowance: allowance,
            isShown: wantsLines)
        var text = [
            Styled("#\(entry.number) ", .strong), Styled(word(type) + " ", .strong),
            Styled(visible(id), .dim),
        ]
        if isAgain { text.append(Styled(" again", .warning)) }
        if let allowance { text.append(Styled(" · \(timeSpan(allowance)) to answer", .dim)) }
        text += arguments(content)
        show(
            TimelineLine(
                isBroken: isBroken, time: event.time, conn: event.conn,
                direction: event.direction, label: "command", text: text + suffix, id: id,
                command: .init(
                    number: entry.number, type: entry.type,
                    step: .sent(deadline: entry.deadline, isAgain: isAgain))))
    }

    /// What a command asks for, without the fields that every command has.
    func arguments(_ command: JSON?) -> [Styled] {
        guard let members = command?.members else { return [] }
        let common = ["id", "type", "timeout_ms", "phone_id", "payload"]
        var rest = members.filter { !common.contains($0.name) }
        if let payload = command?["payload"] {
            if let inner = payload.members {
                rest += inner
            } else {
                rest.append(JSON.Member("payload", payload))
            }
        }
        let fields = fieldText(.object(rest))
        return fields.isEmpty ? [] : [Styled(" · " + fields, isValue: true)]
    }

    mutating func result(
        _ meaning: JSON, _ event: Event, content: JSON?, suffix: [Styled] = [],
        isBroken: Bool = false
    ) {
        let id = meaning["id"]?.stringValue ?? ""
        let isOK = meaning["ok"]?.boolValue ?? false
        let isLate = meaning["late"]?.boolValue ?? false
        let isDuplicate = meaning["duplicate"]?.boolValue ?? false
        let entry = ledger.settle(
            id: id, isOK: isOK, isLate: isLate, isDuplicate: isDuplicate)
        var text: [Styled] = []
        if let entry {
            text.append(Styled("#\(entry.number) ", .strong))
            text.append(Styled(word(entry.type) + " "))
        } else if let type = meaning["type"]?.stringValue {
            text.append(Styled(word(type) + " " + visible(id) + " "))
        } else {
            text.append(Styled(visible(id) + " "))
        }
        text.append(
            isOK
                ? Styled("ok", .good)
                : Styled(word(meaning["code"]?.stringValue ?? "error"), .bad))
        if isLate { text.append(Styled(" late", .bad)) }
        if isDuplicate { text.append(Styled(" duplicate", .bad)) }
        if entry == nil, meaning["type"] == nil {
            text.append(Styled(" to no known command", .bad))
        }
        if let latency = latencyText(meaning["latency_ms"]) {
            text.append(Styled(" · " + latency))
        }
        if let error = content?["error"], error != .null {
            let message = error["message"]?.stringValue.map { word($0) }
            text.append(Styled(" · " + (message ?? fieldText(error)), isValue: true))
        } else if let data = content?["data"], data != .null {
            let fields = fieldText(data)
            text.append(Styled(fields.isEmpty ? "" : " · " + fields, .dim, isValue: true))
        } else if let method = content?["method"]?.stringValue, method != entry?.type {
            text.append(Styled(" · method=" + word(method), .dim, isValue: true))
        }
        show(
            TimelineLine(
                isBroken: isBroken || isLate || isDuplicate
                    || (entry == nil && meaning["type"] == nil),
                time: event.time, conn: event.conn, direction: event.direction, label: "result",
                text: text + suffix, id: id,
                command: entry.map {
                    .init(
                        number: $0.number, type: $0.type,
                        step: .answered(
                            code: isOK ? nil : meaning["code"]?.stringValue ?? "error",
                            isLate: isLate, isDuplicate: isDuplicate))
                }))
    }

    private func latencyText(_ value: JSON?) -> String? {
        guard let text = value?.numberText, let milliseconds = Double(text) else { return nil }
        // Beyond 200 years nobody waits, and the nanoseconds would not fit.
        guard milliseconds.magnitude < 1e12 else { return visible(text) + " ms" }
        return timeSpan(Int64((milliseconds * 1e6).rounded()))
    }

    /// The id of a command in the queue.
    func idText(_ meaning: JSON) -> String { visible(meaning["id"]?.stringValue ?? "") }
}

/// Content as JSON, where it is that and short enough to be worth a line.
func shortJSON(_ bytes: Bytes) -> JSON? {
    // Twice the board's own limit on a message.
    let maximumSize = 64 * 1024
    guard bytes.count <= maximumSize else { return nil }
    return try? JSON(parsing: bytes)
}

/// The beginning of some content: its text, or hex where it is not UTF-8.
func contentPreview(_ bytes: Bytes) -> String {
    // Some more than is shown, so that a character cut in two is not taken for broken text.
    let start = bytes.prefix(1024)
    guard bytes.count > start.count || isUTF8(bytes) else { return hexPreview(bytes) }
    return cut(visible(String(decoding: start, as: UTF8.self)), toColumns: 160)
}

/// Whether the bytes are text.
func isUTF8(_ bytes: Bytes) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
}
